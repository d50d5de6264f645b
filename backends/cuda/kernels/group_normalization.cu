// GroupNormalization and InstanceNormalization.
//
//   y[n, c, i] = (x[n, c, i] - mean) / sqrt(variance + epsilon) * scale + bias
//
// with the mean and variance of the group of neighbouring channels in one
// sample; InstanceNormalization's groups are single channels. x and y are
// contiguous [N, C, inner] and may be the same buffer; scale and bias are [C],
// or [groups] (scales_groups). Statistics of 16-bit elements accumulate in
// float32, others in float64; the result is rounded once.

#include <math.h>

#include <cstdint>

#include "backends/cuda/kernels/normalization.h"
#include "backends/cuda/kernels/row_sums.h"
#include "backends/cuda/kernels/visit_dtype.h"

namespace tensord::cuda {
namespace {

struct Groups {
  int64_t count;     // of a sample
  int64_t channels;  // of a group
  int64_t inner;
  bool scales_groups;
};

template <typename T>
__global__ void GroupKernel(RowPlan plan, Groups groups, float epsilon,
                            const T* x, const T* scale, const T* bias, T* y) {
  using Sum = RowSum<T>;
  using C = Compute<T>;
  const RowThread thread = ThisRowThread(plan);
  for (int64_t row = thread.first; row < plan.rows; row += thread.step) {
    const T* from = x + row * plan.columns;
    T* to = y + row * plan.columns;
    const Moments<Sum> moments = MomentsOfRow<Sum>(
        plan, thread.index, [&](int64_t c) { return ToCompute(from[c]); });
    const Sum inverse = 1 / sqrt(moments.variance + epsilon);
    const int64_t group = row % groups.count;
    for (int64_t c = thread.index; c < plan.columns; c += plan.threads) {
      const int64_t own = groups.scales_groups
                              ? group
                              : group * groups.channels + c / groups.inner;
      const Sum centred = static_cast<Sum>(ToCompute(from[c])) - moments.mean;
      to[c] =
          Convert<T>(static_cast<C>(centred * inverse) * ToCompute(scale[own]) +
                     ToCompute(bias[own]));
    }
  }
}

}  // namespace

absl::Status RunGroupNormalization(const KernelCall& call, OpKind op,
                                   DType dtype) {
  const auto& params = std::get<NormalizationParams>(call.params);
  const Shape& shape = call.input_layout(0).shape;
  if (shape.element_count() == 0) return absl::OkStatus();
  Groups groups;
  groups.count =
      op == OpKind::kInstanceNormalization ? shape[1] : params.group_count;
  groups.channels = shape[1] / groups.count;
  groups.inner = shape.ElementCount(2, shape.rank());
  groups.scales_groups = params.scales_groups;
  const RowPlan plan =
      PlanRows(shape[0] * groups.count, groups.channels * groups.inner);
  return VisitFloat(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return Launch(call.context, GroupKernel<T>, ForRows(plan), plan, groups,
                  params.epsilon, call.input<T>(0), call.input<T>(1),
                  call.input<T>(2), call.output<T>(0));
  });
}

}  // namespace tensord::cuda
