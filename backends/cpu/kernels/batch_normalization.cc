// BatchNormalization at inference.
//
//   y[n, c, i] = x[n, c, i] * factor[c] + offset[c]
//   factor = scale / sqrt(variance + epsilon), offset = bias - mean * factor
//
// x and y are contiguous [N, C, inner] and may be the same buffer; the four
// statistics are [C]. Factors are made in double, once per node where the
// statistics are constants; elements are computed in float32.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "backends/api/host_services.h"
#include "backends/api/kernel.h"

namespace tensord {
namespace {

constexpr int64_t kGrainElements = 32 * 1024;

struct Affine {
  float factor;
  float offset;
};

Affine MakeAffine(float scale, float bias, float mean, float variance,
                  float epsilon) {
  const double factor =
      scale / std::sqrt(static_cast<double>(variance) + epsilon);
  return {static_cast<float>(factor), static_cast<float>(bias - mean * factor)};
}

class FoldedStatistics final : public KernelState {
 public:
  explicit FoldedStatistics(std::vector<Affine> channels)
      : channels(std::move(channels)) {}
  const std::vector<Affine> channels;
};

}  // namespace

// Folds the statistics of all channels; no state when one is not known yet.
absl::StatusOr<std::unique_ptr<KernelState>> PrepareBatchNormalization(
    const NodeSite& site, Device&) {
  const float* statistics[4];
  for (int i = 0; i < 4; ++i) {
    statistics[i] = reinterpret_cast<const float*>(site.host_constant(i + 1));
    if (statistics[i] == nullptr) return nullptr;
  }
  const float epsilon = std::get<BatchNormalizationParams>(site.params).epsilon;
  std::vector<Affine> channels(site.input(1).shape.element_count());
  for (size_t c = 0; c < channels.size(); ++c) {
    channels[c] = MakeAffine(statistics[0][c], statistics[1][c],
                             statistics[2][c], statistics[3][c], epsilon);
  }
  return std::make_unique<FoldedStatistics>(std::move(channels));
}

KernelCost BatchNormalizationCost(const NodeSite& site) {
  const double elements = site.input(0).shape.element_count();
  return {.flops = 2 * elements, .bytes = 8 * elements};
}

absl::Status RunBatchNormalization(const KernelCall& call) {
  const Shape& shape = call.input_layout(0).shape;
  const int64_t channels = shape.rank() > 1 ? shape[1] : 1;
  const int64_t inner =
      shape.ElementCount(shape.rank() > 1 ? 2 : 1, shape.rank());
  const int64_t planes = shape.rank() > 1 ? shape[0] * channels : shape[0];
  const float* x = call.input<float>(0);
  const float* scale = call.input<float>(1);
  const float* bias = call.input<float>(2);
  const float* mean = call.input<float>(3);
  const float* variance = call.input<float>(4);
  float* y = call.output<float>(0);
  const float epsilon = std::get<BatchNormalizationParams>(call.params).epsilon;
  const auto* folded = static_cast<const FoldedStatistics*>(call.state);

  call.context.workers->ParallelFor(
      planes, kGrainElements / std::max<int64_t>(inner, 1) + 1,
      [=](int64_t begin, int64_t end) {
        for (int64_t plane = begin; plane < end; ++plane) {
          const int64_t c = plane % channels;
          const Affine affine = folded != nullptr
                                    ? folded->channels[c]
                                    : MakeAffine(scale[c], bias[c], mean[c],
                                                 variance[c], epsilon);
          const float* x_plane = x + plane * inner;
          float* y_plane = y + plane * inner;
          for (int64_t i = 0; i < inner; ++i) {
            y_plane[i] = x_plane[i] * affine.factor + affine.offset;
          }
        }
      });
  return absl::OkStatus();
}

}  // namespace tensord
