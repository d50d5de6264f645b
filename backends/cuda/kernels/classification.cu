// IsInf, IsNaN.
//
//   y[i] = whether x[i] is an infinity (of a sign that the parameters ask for),
//          or a NaN
//
// x is contiguous; y is bool, of the same shape, and another buffer. 8-bit
// floats are judged by their codes.

#include <cstdint>

#include "backends/cuda/kernels/elementwise.h"
#include "backends/cuda/kernels/map.h"
#include "backends/cuda/kernels/visit_dtype.h"

namespace tensord::cuda {
namespace {

// What counts as found, by its sign.
struct Sought {
  bool is_nan;
  bool negative_infinity;
  bool positive_infinity;
};

template <typename T>
__device__ bool Is(T x, Sought sought) {
  const auto number = ToCompute(x);
  if (sought.is_nan) return number != number;
  return (sought.positive_infinity && number == kInfinity) ||
         (sought.negative_infinity && number == -kInfinity);
}

constexpr int kMagnitudeBits = 0x7f;

// Only E5M2 has infinities, where IEEE 754 would have them.
__device__ bool IsCode(uint8_t code, DType dtype, Sought sought) {
  const int magnitude = code & kMagnitudeBits;
  if (!sought.is_nan) {
    return dtype == DType::kFloat8E5M2 && magnitude == 0x7c &&
           (code > kMagnitudeBits ? sought.negative_infinity
                                  : sought.positive_infinity);
  }
  if (dtype == DType::kFloat8E5M2) return magnitude > 0x7c;
  if (dtype == DType::kFloat8E4M3FN) return magnitude == 0x7f;
  return code == 0x80;  // the "uz" types have no -0, whose code it would be
}

template <typename T>
__global__ void ClassifyKernel(Sought sought, const T* x, uint8_t* y,
                               int64_t count, bool is_aligned) {
  constexpr int kWidth = kRunWidth<T>;
  MapRuns<kWidth>(x, y, count, is_aligned,
                  [&](const T(&from)[kWidth], uint8_t(&to)[kWidth]) {
                    for (int k = 0; k < kWidth; ++k) {
                      to[k] = Is(from[k], sought);
                    }
                  });
}

__global__ void ClassifyCodesKernel(Sought sought, DType dtype,
                                    const uint8_t* x, uint8_t* y, int64_t count,
                                    bool is_aligned) {
  constexpr int kWidth = kRunWidth<uint8_t>;
  MapRuns<kWidth>(x, y, count, is_aligned,
                  [&](const uint8_t(&from)[kWidth], uint8_t(&to)[kWidth]) {
                    for (int k = 0; k < kWidth; ++k) {
                      to[k] = IsCode(from[k], dtype, sought);
                    }
                  });
}

}  // namespace

absl::Status RunClassification(const KernelCall& call, OpKind op, DType dtype) {
  const int64_t count = call.output_layout(0).shape.element_count();
  Sought sought = {op == OpKind::kIsNaN, true, true};
  if (const auto* params = std::get_if<IsInfParams>(&call.params)) {
    sought.negative_infinity = params->detects_negative;
    sought.positive_infinity = params->detects_positive;
  }
  auto* y = call.output<uint8_t>(0);
  if (!IsFloatDType(dtype)) {
    constexpr int kWidth = kRunWidth<uint8_t>;
    const auto* x = call.input<uint8_t>(0);
    return Launch(call.context, ClassifyCodesKernel, ForRuns(count, kWidth),
                  sought, dtype, x, y, count,
                  IsAligned(x, kWidth) && IsAligned(y, kWidth));
  }
  return VisitFloat(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    constexpr int kWidth = kRunWidth<T>;
    const T* x = call.input<T>(0);
    return Launch(call.context, ClassifyKernel<T>, ForRuns(count, kWidth),
                  sought, x, y, count,
                  IsAligned(x, kWidth) && IsAligned(y, kWidth));
  });
}

}  // namespace tensord::cuda
