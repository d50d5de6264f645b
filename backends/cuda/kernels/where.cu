// Where.
//
//   y[i] = a[i] where condition[i], b[i] else
//
// The condition (bool, input 0), a and b (inputs 1 and 2) broadcast to y's
// shape. All are contiguous; y may be the buffer of an input of its own size.
// Elements are copied as bits, so there is one kernel for each element size.

#include <cstdint>

#include "backends/cuda/kernels/elementwise.h"
#include "backends/cuda/kernels/map.h"
#include "backends/cuda/kernels/visit_dtype.h"

namespace tensord::cuda {
namespace {

// A complex number of two doubles.
struct alignas(16) Wide {
  uint64_t parts[2];
};

template <int kWidth, typename T>
__global__ void WhereKernel(MapPlan<3> plan, const uint8_t* condition,
                            const T* a, const T* b, T* y) {
  const int64_t count = plan.walk.count;
  for (int64_t first = GridThread() * kWidth; first < count;
       first += GridThreads() * kWidth) {
    const int left =
        static_cast<int>(count - first < kWidth ? count - first : kWidth);
    int64_t offsets[3];
    plan.walk.Locate(first, offsets);
    uint8_t chosen[kWidth];
    T from_a[kWidth];
    T from_b[kWidth];
    T to[kWidth];
    LoadOperand<kWidth>(condition + offsets[0], left, plan.repeats[0], chosen);
    LoadOperand<kWidth>(a + offsets[1], left, plan.repeats[1], from_a);
    LoadOperand<kWidth>(b + offsets[2], left, plan.repeats[2], from_b);
    for (int k = 0; k < kWidth; ++k) {
      to[k] = chosen[k] != 0 ? from_a[k] : from_b[k];
    }
    StoreRun<kWidth>(to, left, left == kWidth, y + first);
  }
}

}  // namespace

absl::Status RunWhere(const KernelCall& call, OpKind, DType dtype) {
  const Layout* layouts[] = {&call.input_layout(0), &call.input_layout(1),
                             &call.input_layout(2)};
  const auto* condition = call.input<uint8_t>(0);
  const auto launch = [&](auto tag) {
    using T = typename decltype(tag)::type;
    constexpr int kWidth = kRunWidth<T>;
    const T* a = call.input<T>(1);
    const T* b = call.input<T>(2);
    T* y = call.output<T>(0);
    const bool aligned[] = {IsAligned(condition, kWidth), IsAligned(a, kWidth),
                            IsAligned(b, kWidth)};
    const auto plan = PlanMap<3>(layouts, call.output_layout(0).shape, kWidth,
                                 aligned, IsAligned(y, kWidth));
    return Launch(call.context,
                  plan.width == 1 ? WhereKernel<1, T> : WhereKernel<kWidth, T>,
                  ForRuns(plan.walk.count, plan.width), plan, condition, a, b,
                  y);
  };
  if (BitWidth(dtype) == 128) return launch(TypeTag<Wide>());
  return VisitUnsignedInteger(BitsOf(dtype), launch);
}

}  // namespace tensord::cuda
