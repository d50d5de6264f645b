// Clip.
//
//   y[i] = min(max(x[i], low), high)
//
// x and y are contiguous, have the same shape, and may be the same buffer. The
// bounds have one element each: inputs 1 and 2 of x's dtype, or inputs 3 and 4
// of float32, which were attributes. An absent one does not bind. Where low is
// above high, high wins. A NaN stays a NaN. Compares in the elements' own type;
// 16-bit floats in float32.

#include <cstdint>

#include "backends/cuda/kernels/elementwise.h"
#include "backends/cuda/kernels/map.h"
#include "backends/cuda/kernels/visit_dtype.h"

namespace tensord::cuda {
namespace {

// A bound in device memory, of either dtype; both null: none.
template <typename T>
struct Bound {
  const T* own;
  const float* attribute;

  __device__ bool is_present() const {
    return own != nullptr || attribute != nullptr;
  }
  __device__ Compute<T> value() const {
    if (own != nullptr) return ToCompute(*own);
    return attribute == nullptr ? Compute<T>{}
                                : static_cast<Compute<T>>(*attribute);
  }
};

template <typename T>
__global__ void ClipKernel(Bound<T> low, Bound<T> high, const T* x, T* y,
                           int64_t count, bool is_aligned) {
  using C = Compute<T>;
  constexpr int kWidth = kRunWidth<T>;
  const bool has_low = low.is_present();
  const bool has_high = high.is_present();
  const C least = low.value();
  const C most = high.value();
  MapRuns<kWidth>(x, y, count, is_aligned,
                  [&](const T(&from)[kWidth], T(&to)[kWidth]) {
                    for (int k = 0; k < kWidth; ++k) {
                      C value = ToCompute(from[k]);
                      if (has_low && value < least) value = least;
                      if (has_high && most < value) value = most;
                      to[k] = Convert<T>(value);
                    }
                  });
}

template <typename T>
Bound<T> BoundOf(const KernelCall& call, int input) {
  return {call.has_input(input) ? call.input<T>(input) : nullptr,
          kIsFloat<T> && call.has_input(input + 2)
              ? call.input<float>(input + 2)
              : nullptr};
}

}  // namespace

absl::Status RunClip(const KernelCall& call, OpKind, DType dtype) {
  const int64_t count = call.output_layout(0).shape.element_count();
  const auto launch = [&](auto tag) {
    using T = typename decltype(tag)::type;
    constexpr int kWidth = kRunWidth<T>;
    const T* x = call.input<T>(0);
    T* y = call.output<T>(0);
    return Launch(call.context, ClipKernel<T>, ForRuns(count, kWidth),
                  BoundOf<T>(call, 1), BoundOf<T>(call, 2), x, y, count,
                  IsAligned(x, kWidth) && IsAligned(y, kWidth));
  };
  return IsFloatDType(dtype) ? VisitFloat(dtype, launch)
                             : VisitInteger(dtype, launch);
}

}  // namespace tensord::cuda
