// LpNormalization and MeanVarianceNormalization.
//
//   LpNormalization            y = x / norm, 0 where the norm is 0
//   MeanVarianceNormalization  y = (x - mean) / (sqrt(variance) + 1e-9)
//
// The norm is the sum of |x| along the axis for p = 1, the square root of the
// sum of squares for p = 2; mean and variance are over the node's axes. x and y
// are contiguous and may be the same buffer. Computes in float64: neither
// operator is where a network spends its time.

#include <math.h>

#include <cstdint>

#include "backends/api/host_arguments.h"
#include "backends/cuda/kernels/normalization.h"
#include "backends/cuda/kernels/reduction.h"
#include "backends/cuda/kernels/row_sums.h"
#include "backends/cuda/kernels/visit_dtype.h"

namespace tensord::cuda {
namespace {

// `p` is the norm's, 0 for mean and variance.
template <typename T>
__global__ void LinesKernel(RowPlan plan, BroadcastWalk<1> kept,
                            BroadcastWalk<1> reduced, int p, const T* x, T* y) {
  const RowThread thread = ThisRowThread(plan);
  for (int64_t row = thread.first; row < plan.rows; row += thread.step) {
    const int64_t at = kept.LocateOne(0, row);
    const auto element_of = [&](int64_t c) {
      return static_cast<double>(ToCompute(x[at + reduced.LocateOne(0, c)]));
    };
    double mean = 0;
    double divisor = 0;
    if (p == 0) {
      const Moments<double> moments =
          MomentsOfRow<double>(plan, thread.index, element_of);
      mean = moments.mean;
      divisor = sqrt(moments.variance) + 1e-9;
    } else {
      double sum = 0;
      for (int64_t c = thread.index; c < plan.columns; c += plan.threads) {
        const double element = element_of(c);
        sum += p == 1 ? fabs(element) : element * element;
      }
      sum = SumRow(plan, sum);
      divisor = p == 1 ? sum : sqrt(sum);
    }
    for (int64_t c = thread.index; c < plan.columns; c += plan.threads) {
      const double centred = element_of(c) - mean;
      y[at + reduced.LocateOne(0, c)] =
          Convert<T>(divisor == 0 ? 0.0 : centred / divisor);
    }
  }
}

}  // namespace

absl::Status RunLineNormalization(const KernelCall& call, OpKind, DType dtype) {
  const Shape& shape = call.input_layout(0).shape;
  if (shape.element_count() == 0) return absl::OkStatus();
  DimensionMask is_reduced{};
  int p = 0;
  if (const auto* lp = std::get_if<LpNormalizationParams>(&call.params)) {
    is_reduced[Normalised(lp->axis, shape.rank())] = true;
    p = static_cast<int>(lp->p);
  } else {
    for (const int64_t axis : std::get<AxesParams>(call.params).axes) {
      if (axis < -shape.rank() || axis >= shape.rank()) {
        return absl::InvalidArgumentError(
            absl::StrCat("axis ", axis, " is outside [", -shape.rank(), ", ",
                         shape.rank(), ")"));
      }
      is_reduced[Normalised(axis, shape.rank())] = true;
    }
  }
  const ReductionPlan walks = PlanReduction(shape, is_reduced, 1);
  const RowPlan plan = PlanRows(walks.kept.count, walks.reduced.count);
  return VisitFloat(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return Launch(call.context, LinesKernel<T>, ForRows(plan), plan, walks.kept,
                  walks.reduced, p, call.input<T>(0), call.output<T>(0));
  });
}

}  // namespace tensord::cuda
