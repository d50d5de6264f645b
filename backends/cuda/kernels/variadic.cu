// Max, Mean, Min, Sum of up to kMaxVariadicInputs inputs.
//
//   y[i] = the greatest, mean, least or sum of x_0[i], x_1[i], ...
//
// All inputs broadcast to y's shape. All are contiguous; y may be the buffer of
// an input of its own size. Sums go from the first input to the last in the
// elements' own type, 16-bit floats in float32 with one rounding at the end.
// Max and Min are NaN where an input is.

#include <cstdint>

#include "backends/cuda/kernels/elementwise.h"
#include "backends/cuda/kernels/map.h"
#include "backends/cuda/kernels/visit_dtype.h"

namespace tensord::cuda {
namespace {

template <typename T>
struct Operands {
  int count;
  const T* x[kMaxVariadicInputs];
};

template <typename C>
__device__ C Combine(OpKind op, C a, C b) {
  switch (op) {
    case OpKind::kMax:
      return a > b || a != a ? a : b;
    case OpKind::kMin:
      return a < b || a != a ? a : b;
    default:
      return a + b;
  }
}

template <int kWidth, typename T>
__global__ void FoldKernel(MapPlan<kMaxVariadicInputs> plan, OpKind op,
                           Operands<T> operands, T* y) {
  using C = Compute<T>;
  const int64_t count = plan.walk.count;
  for (int64_t first = GridThread() * kWidth; first < count;
       first += GridThreads() * kWidth) {
    const int left =
        static_cast<int>(count - first < kWidth ? count - first : kWidth);
    C total[kWidth] = {};
    for (int i = 0; i < operands.count; ++i) {
      T from[kWidth];
      LoadOperand<kWidth>(operands.x[i] + plan.walk.LocateOne(i, first), left,
                          plan.repeats[i], from);
      for (int k = 0; k < kWidth; ++k) {
        const C x = ToCompute(from[k]);
        total[k] = i == 0 ? x : Combine(op, total[k], x);
      }
    }
    T to[kWidth];
    for (int k = 0; k < kWidth; ++k) {
      if (op == OpKind::kMean) total[k] /= static_cast<C>(operands.count);
      to[k] = Convert<T>(total[k]);
    }
    StoreRun<kWidth>(to, left, left == kWidth, y + first);
  }
}

}  // namespace

absl::Status RunVariadic(const KernelCall& call, OpKind op, DType dtype) {
  const auto launch = [&](auto tag) {
    using T = typename decltype(tag)::type;
    constexpr int kWidth = kRunWidth<T>;
    Operands<T> operands = {};
    const Layout* layouts[kMaxVariadicInputs];
    bool aligned[kMaxVariadicInputs];
    operands.count = static_cast<int>(call.inputs.size());
    for (int i = 0; i < operands.count; ++i) {
      operands.x[i] = call.input<T>(i);
      layouts[i] = &call.input_layout(i);
      aligned[i] = IsAligned(operands.x[i], kWidth);
    }
    T* y = call.output<T>(0);
    const auto plan = PlanMap<kMaxVariadicInputs>(
        absl::MakeSpan(layouts, operands.count), call.output_layout(0).shape,
        kWidth, absl::MakeSpan(aligned, operands.count), IsAligned(y, kWidth));
    return Launch(call.context,
                  plan.width == 1 ? FoldKernel<1, T> : FoldKernel<kWidth, T>,
                  ForRuns(plan.walk.count, plan.width), plan, op, operands, y);
  };
  return IsFloatDType(dtype) ? VisitFloat(dtype, launch)
                             : VisitInteger(dtype, launch);
}

}  // namespace tensord::cuda
