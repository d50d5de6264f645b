// Equal, Greater, GreaterOrEqual, Less, LessOrEqual.
//
//   y[i] = a[i] op b[i], a and b broadcast to y's shape
//
// All are contiguous; y is bool and no input's buffer. A NaN equals nothing and
// is neither greater nor less than anything; -0 equals 0.

#include <cstdint>

#include "backends/cuda/kernels/elementwise.h"
#include "backends/cuda/kernels/map.h"
#include "backends/cuda/kernels/visit_dtype.h"

namespace tensord::cuda {
namespace {

#define TENSORD_COMPARE(op, value)                                  \
  case OpKind::k##op:                                               \
    for (int k = 0; k < kWidth; ++k) {                              \
      to[k] = static_cast<uint8_t>(ToCompute(from_a[k])             \
                                       value ToCompute(from_b[k])); \
    }                                                               \
    return;

template <int kWidth, typename T>
__device__ void CompareRun(OpKind op, const T (&from_a)[kWidth],
                           const T (&from_b)[kWidth], uint8_t (&to)[kWidth]) {
  switch (op) {
    TENSORD_COMPARE(Equal, ==)
    TENSORD_COMPARE(Greater, >)
    TENSORD_COMPARE(GreaterOrEqual, >=)
    TENSORD_COMPARE(Less, <)
    default:  // LessOrEqual
      for (int k = 0; k < kWidth; ++k) {
        to[k] = ToCompute(from_a[k]) <= ToCompute(from_b[k]);
      }
  }
}

#undef TENSORD_COMPARE

template <int kWidth, typename T>
__global__ void CompareKernel(MapPlan<2> plan, OpKind op, const T* a,
                              const T* b, uint8_t* y) {
  MapPairs<kWidth>(plan, a, b, y,
                   [&](const T(&from_a)[kWidth], const T(&from_b)[kWidth],
                       uint8_t(&to)[kWidth]) {
                     CompareRun<kWidth, T>(op, from_a, from_b, to);
                   });
}

}  // namespace

absl::Status RunComparison(const KernelCall& call, OpKind op, DType dtype) {
  const auto launch = [&](auto tag) {
    using T = typename decltype(tag)::type;
    constexpr int kWidth = kRunWidth<T>;
    const auto plan = PlanPairs<T, T, uint8_t>(call, kWidth);
    return Launch(
        call.context,
        plan.width == 1 ? CompareKernel<1, T> : CompareKernel<kWidth, T>,
        ForRuns(plan.walk.count, plan.width), plan, op, call.input<T>(0),
        call.input<T>(1), call.output<uint8_t>(0));
  };
  // Whether integers are equal follows from their bits.
  if (op == OpKind::kEqual && !IsFloatDType(dtype)) dtype = BitsOf(dtype);
  return IsFloatDType(dtype) ? VisitFloat(dtype, launch)
                             : VisitInteger(dtype, launch);
}

}  // namespace tensord::cuda
