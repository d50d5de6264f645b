// BatchNormalization at inference.
//
//   y[n, c, i] = x[n, c, i] * factor[c] + offset[c]
//   factor = scale / sqrt(variance + epsilon), offset = bias - mean * factor
//
// x and y are contiguous [N, C, inner] and may be the same buffer; the four
// statistics are [C], of any floating dtypes. Factors are made in float64 by a
// launch of their own, into the workspace; elements are computed in float32
// (float64 for float64) and rounded once.

#include <math.h>

#include <cstdint>
#include <memory>

#include "backends/api/host_arguments.h"
#include "backends/cuda/kernels/map.h"
#include "backends/cuda/kernels/normalization.h"
#include "backends/cuda/kernels/operand_address.h"
#include "backends/cuda/kernels/visit_dtype.h"

namespace tensord::cuda {
namespace {

template <typename C>
struct Affine {
  C factor;
  C offset;
};

// Where one of the statistics is, and of which dtype.
struct Statistic {
  DType dtype;
  const void* data;

  __device__ double at(int64_t c) const {
    switch (dtype) {
      case DType::kFloat64:
        return static_cast<const double*>(data)[c];
      case DType::kFloat16:
        return ToCompute(static_cast<const Half*>(data)[c]);
      case DType::kBFloat16:
        return ToCompute(static_cast<const BHalf*>(data)[c]);
      default:
        return static_cast<const float*>(data)[c];
    }
  }
};

// Inputs 1 to 4.
struct Statistics {
  Statistic scale, bias, mean, variance;
};

template <typename C>
__global__ void AffineKernel(Statistics of, float epsilon, int64_t channels,
                             Affine<C>* affine) {
  for (int64_t c = GridThread(); c < channels; c += GridThreads()) {
    const double factor = of.scale.at(c) / sqrt(of.variance.at(c) + epsilon);
    affine[c] = {static_cast<C>(factor),
                 static_cast<C>(of.bias.at(c) - of.mean.at(c) * factor)};
  }
}

template <typename T>
__global__ void ApplyKernel(int64_t count, int64_t channels, int64_t inner,
                            const Affine<Compute<T>>* affine, const T* x,
                            T* y) {
  for (int64_t i = GridThread(); i < count; i += GridThreads()) {
    const Affine<Compute<T>> own = affine[i / inner % channels];
    y[i] = Convert<T>(ToCompute(x[i]) * own.factor + own.offset);
  }
}

// KernelCall does not say which dtypes the statistics have.
struct StatisticDTypes final : KernelState {
  DType dtypes[4];
};

}  // namespace

uint64_t BatchNormalizationWorkspaceBytes(const NodeSite& site) {
  return static_cast<uint64_t>(site.input(1).shape.element_count()) *
         sizeof(Affine<double>);
}

absl::StatusOr<std::unique_ptr<KernelState>> PrepareBatchNormalization(
    const NodeSite& site, Device&) {
  auto state = std::make_unique<StatisticDTypes>();
  for (int i = 0; i < 4; ++i) state->dtypes[i] = site.input_dtype(i + 1);
  return state;
}

absl::Status RunBatchNormalization(const KernelCall& call, OpKind,
                                   DType dtype) {
  const Shape& shape = call.input_layout(0).shape;
  const int64_t channels = shape.rank() > 1 ? shape[1] : 1;
  const int64_t inner =
      shape.ElementCount(shape.rank() > 1 ? 2 : 1, shape.rank());
  const auto& dtypes = static_cast<const StatisticDTypes&>(*call.state).dtypes;
  const auto statistic = [&](int i) -> Statistic {
    return {dtypes[i - 1], SourceOf(call, i, BitWidth(dtypes[i - 1]) / 8)};
  };
  const Statistics statistics = {statistic(1), statistic(2), statistic(3),
                                 statistic(4)};
  const float epsilon = std::get<BatchNormalizationParams>(call.params).epsilon;
  const int64_t count = shape.element_count();
  return VisitFloat(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = Compute<T>;
    auto* affine =
        reinterpret_cast<Affine<C>*>(call.context.workspace.address());
    absl::Status status =
        Launch(call.context, AffineKernel<C>, ForElements(channels, 64),
               statistics, epsilon, channels, affine);
    if (!status.ok()) return status;
    return Launch(call.context, ApplyKernel<T>, ForElements(count), count,
                  channels, inner, static_cast<const Affine<C>*>(affine),
                  call.input<T>(0), call.output<T>(0));
  });
}

}  // namespace tensord::cuda
