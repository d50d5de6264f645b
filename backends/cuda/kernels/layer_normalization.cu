// LayerNormalization and RMSNormalization over the dimensions from the axis on.
//
//   LayerNormalization:  y = (x - mean) / sqrt(variance + epsilon) * scale + b
//   RMSNormalization:    y = x / sqrt(mean of x^2 + epsilon) * scale
//
// With has_skip, LayerNormalization's x is the sum of inputs 0 and 3, which
// have one shape; it is made in y, rounded to its dtype.
//
// x and y are contiguous, seen as [rows, columns], and may be the same buffer;
// scale and b have their dtype and broadcast to y, and b may be absent.
// LayerNormalization's further outputs are a row's mean and
// 1 / sqrt(variance + epsilon). Statistics of 16-bit elements accumulate in
// float32, others in float64; a value is normalised in the same, scale and b
// come in as float32 (float64 for float64), and the result is rounded once.

#include <math.h>

#include <cstdint>

#include "backends/api/host_arguments.h"
#include "backends/cuda/kernels/broadcast_walk.h"
#include "backends/cuda/kernels/normalization.h"
#include "backends/cuda/kernels/operand_address.h"
#include "backends/cuda/kernels/row_sums.h"
#include "backends/cuda/kernels/visit_dtype.h"

namespace tensord::cuda {
namespace {

// Where scale and b are: by the column alone in all usual shapes.
struct Scaling {
  bool is_by_column;
  int scale_step;  // 0 or 1 where is_by_column
  int bias_step;
  BroadcastWalk<2> walk;  // of every element else
};

// The optional outputs; null where absent.
struct Statistics {
  DType dtype;
  void* means;
  void* inverses;

  __device__ static void Store(DType dtype, void* to, int64_t row,
                               float value) {
    if (to == nullptr) return;
    if (dtype == DType::kBFloat16) {
      static_cast<BHalf*>(to)[row] = Convert<BHalf>(value);
    } else {
      static_cast<float*>(to)[row] = value;
    }
  }
};

template <typename T>
__global__ void NormalizeKernel(RowPlan plan, bool is_rms, float epsilon,
                                Scaling scaling, const T* x, const T* skip,
                                const T* scale, const T* bias, T* y,
                                Statistics statistics) {
  using Sum = RowSum<T>;
  using C = Compute<T>;
  const RowThread thread = ThisRowThread(plan);
  for (int64_t row = thread.first; row < plan.rows; row += thread.step) {
    const int64_t at = row * plan.columns;
    const T* from = x + at;
    if (skip != nullptr) {
      // Each thread reads again only what it wrote.
      for (int64_t c = thread.index; c < plan.columns; c += plan.threads) {
        y[at + c] = Convert<T>(ToCompute(from[c]) + ToCompute(skip[at + c]));
      }
      from = y + at;
    }
    Sum mean = 0;
    Sum power;  // what the deviation is the root of
    if (is_rms) {
      Sum squares = 0;
      for (int64_t c = thread.index; c < plan.columns; c += plan.threads) {
        const Sum element = ToCompute(from[c]);
        squares += element * element;
      }
      power = SumRow(plan, squares) / static_cast<Sum>(plan.columns);
    } else {
      const Moments<Sum> moments = MomentsOfRow<Sum>(
          plan, thread.index, [&](int64_t c) { return ToCompute(from[c]); });
      mean = moments.mean;
      power = moments.variance;
    }
    const Sum inverse = 1 / sqrt(power + epsilon);
    if (thread.index == 0) {
      Statistics::Store(statistics.dtype, statistics.means, row,
                        static_cast<float>(mean));
      Statistics::Store(statistics.dtype, statistics.inverses, row,
                        static_cast<float>(inverse));
    }
    if (y == nullptr) continue;
    for (int64_t c = thread.index; c < plan.columns; c += plan.threads) {
      int64_t offsets[2] = {c * scaling.scale_step, c * scaling.bias_step};
      if (!scaling.is_by_column) scaling.walk.Locate(at + c, offsets);
      const Sum centred = static_cast<Sum>(ToCompute(from[c])) - mean;
      C value =
          static_cast<C>(centred * inverse) * ToCompute(scale[offsets[0]]);
      if (bias != nullptr) value += ToCompute(bias[offsets[1]]);
      y[at + c] = Convert<T>(value);
    }
  }
}

Scaling ScalingOf(const KernelCall& call, bool has_bias, int64_t columns) {
  const Layout& x = call.input_layout(0);
  const Layout& scale = call.input_layout(1);
  const Layout& bias = has_bias ? call.input_layout(2) : scale;
  Scaling scaling = {};
  // A trailing part of x's shape that makes up a row, or one element.
  const auto is_row = [&](const Layout& layout) {
    return layout.shape.element_count() == columns &&
           layout.shape.element_count() ==
               x.shape.ElementCount(
                   std::max(0, x.shape.rank() - layout.shape.rank()),
                   x.shape.rank());
  };
  const auto is_one = [](const Layout& layout) {
    return layout.shape.element_count() == 1;
  };
  scaling.is_by_column =
      (is_row(scale) || is_one(scale)) && (is_row(bias) || is_one(bias));
  scaling.scale_step = is_one(scale) ? 0 : 1;
  scaling.bias_step = is_one(bias) ? 0 : 1;
  const Layout* const layouts[] = {&scale, &bias};
  scaling.walk = MakeBroadcastWalk<2>(layouts, x.shape);
  return scaling;
}

void* OptionalOutput(const KernelCall& call, size_t i, DType dtype) {
  if (i >= call.outputs.size() || !call.outputs[i].is_present()) return nullptr;
  return DestinationOf(call, static_cast<int>(i), BitWidth(dtype) / 8);
}

}  // namespace

absl::Status RunLayerNormalization(const KernelCall& call, OpKind op,
                                   DType dtype) {
  const auto& params = std::get<NormalizationParams>(call.params);
  const Shape& shape = call.input_layout(0).shape;
  const int axis = Normalised(params.axis, shape.rank());
  const RowPlan plan = PlanRows(shape.ElementCount(0, axis),
                                shape.ElementCount(axis, shape.rank()));
  const bool is_rms = op == OpKind::kRMSNormalization;
  const bool has_bias = !is_rms && call.has_input(2);
  const DType of_statistics = params.statistics_dtype;
  Statistics statistics = {of_statistics, nullptr, nullptr};
  if (!is_rms) {
    statistics.means = OptionalOutput(call, 1, of_statistics);
    statistics.inverses = OptionalOutput(call, 2, of_statistics);
  }
  return VisitFloat(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return Launch(
        call.context, NormalizeKernel<T>, ForRows(plan), plan, is_rms,
        params.epsilon, ScalingOf(call, has_bias, plan.columns),
        call.input<T>(0), params.has_skip ? call.input<T>(3) : nullptr,
        call.input<T>(1), has_bias ? call.input<T>(2) : nullptr,
        call.outputs[0].is_present() ? call.output<T>(0) : nullptr, statistics);
  });
}

}  // namespace tensord::cuda
