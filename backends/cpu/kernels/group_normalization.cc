// GroupNormalization and InstanceNormalization.
//
//   y[n, c, i] = (x[n, c, i] - mean) / sqrt(variance + epsilon) * scale + bias
//
// with the mean and variance of the group of neighbouring channels in one
// sample; InstanceNormalization's groups are single channels. x and y are
// contiguous [N, C, inner] and may be the same buffer; scale and bias are [C],
// or [groups] (scales_groups). Statistics accumulate in float64, and a value is
// normalised in it; scale and bias come in as float32 (float64 for float64),
// and the result is rounded once.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "backends/api/float16.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/efficiency.h"
#include "backends/cpu/kernels/row_sums.h"

namespace tensord {
namespace {

constexpr int64_t kGrainElements = 8 * 1024;

template <typename T>
absl::Status Normalize(const KernelCall& call, int64_t groups) {
  using Compute = ComputeType<T>;
  const auto& params = std::get<NormalizationParams>(call.params);
  const Shape& shape = call.input_layout(0).shape;
  if (shape.element_count() == 0) return absl::OkStatus();
  const int64_t group_channels = shape[1] / groups;
  const int64_t inner = shape.ElementCount(2, shape.rank());
  const T* x = call.input<T>(0);
  const T* scale = call.input<T>(1);
  const T* bias = call.input<T>(2);
  T* y = call.output<T>(0);
  call.context.workers->ParallelFor(
      shape[0] * groups, kGrainElements / (group_channels * inner) + 1,
      [&](int64_t begin, int64_t end) {
        for (int64_t task = begin; task < end; ++task) {
          const int64_t group = task % groups;
          const int64_t first = task * group_channels * inner;
          const Moments moments = MomentsOf(x + first, group_channels * inner);
          const double inverse =
              1 / std::sqrt(moments.variance + params.epsilon);
          for (int64_t c = 0; c < group_channels; ++c) {
            const int64_t own =
                params.scales_groups ? group : group * group_channels + c;
            const auto channel_scale = static_cast<Compute>(scale[own]);
            const auto channel_bias = static_cast<Compute>(bias[own]);
            const T* from = x + first + c * inner;
            T* to = y + first + c * inner;
            for (int64_t i = 0; i < inner; ++i) {
              const double centred =
                  static_cast<double>(from[i]) - moments.mean;
              to[i] = static_cast<T>(static_cast<Compute>(centred * inverse) *
                                         channel_scale +
                                     channel_bias);
            }
          }
        }
      });
  return absl::OkStatus();
}

}  // namespace

KernelCost GroupNormalizationCost(const NodeSite& site) {
  const double elements = site.input(0).shape.element_count();
  return {.flops = 8 * elements,
          .bytes = 2.0 * ByteSize(site.input_dtype(0), 1) * elements,
          .efficiency = kPortableEfficiency};
}

template <typename T>
absl::Status RunGroupNormalization(const KernelCall& call) {
  return Normalize<T>(call,
                      std::get<NormalizationParams>(call.params).group_count);
}

template <typename T>
absl::Status RunInstanceNormalization(const KernelCall& call) {
  return Normalize<T>(call, call.input_layout(0).shape[1]);
}

#define TENSORD_INSTANTIATE(T)                                       \
  template absl::Status RunGroupNormalization<T>(const KernelCall&); \
  template absl::Status RunInstanceNormalization<T>(const KernelCall&);

TENSORD_INSTANTIATE(float)
TENSORD_INSTANTIATE(double)
TENSORD_INSTANTIATE(Float16)
TENSORD_INSTANTIATE(BFloat16)

}  // namespace tensord
