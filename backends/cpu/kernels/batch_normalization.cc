// BatchNormalization at inference.
//
//   y[n, c, i] = x[n, c, i] * factor[c] + offset[c]
//   factor = scale / sqrt(variance + epsilon), offset = bias - mean * factor
//
// x and y are contiguous [N, C, inner] and may be the same buffer; the four
// statistics are [C], of any floating dtypes. Factors are made in double, once
// per node where the statistics are constants; elements are computed in float32
// (float64 for float64) and rounded once.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "backends/api/float16.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/efficiency.h"

namespace tensord {
namespace {

constexpr int64_t kGrainElements = 32 * 1024;

template <typename C>
struct Affine {
  C factor;
  C offset;
};

// Where one of the statistics is, and of which dtype.
struct Statistic {
  DType dtype;
  const std::byte* data = nullptr;

  double at(int64_t c) const {
    switch (dtype) {
      case DType::kFloat64:
        return reinterpret_cast<const double*>(data)[c];
      case DType::kFloat16:
        return reinterpret_cast<const Float16*>(data)[c];
      case DType::kBFloat16:
        return reinterpret_cast<const BFloat16*>(data)[c];
      default:
        return reinterpret_cast<const float*>(data)[c];
    }
  }
};

// Inputs 1 to 4: scale, bias, mean, variance.
using Statistics = std::array<Statistic, 4>;

template <typename C>
Affine<C> MakeAffine(const Statistics& statistics, int64_t c, float epsilon) {
  const auto& [scale, bias, mean, variance] = statistics;
  const double factor = scale.at(c) / std::sqrt(variance.at(c) + epsilon);
  return {static_cast<C>(factor),
          static_cast<C>(bias.at(c) - mean.at(c) * factor)};
}

template <typename C>
struct FoldedStatistics final : KernelState {
  std::array<DType, 4> dtypes;
  std::vector<Affine<C>> channels;  // empty where they are not known yet

  uint64_t footprint_bytes() const override {
    return channels.capacity() * sizeof(Affine<C>);
  }
};

}  // namespace

// Notes the dtypes of the statistics, and folds them where all are known.
template <typename T>
absl::StatusOr<std::unique_ptr<KernelState>> PrepareBatchNormalization(
    const NodeSite& site, Device&) {
  using C = ComputeType<T>;
  auto folded = std::make_unique<FoldedStatistics<C>>();
  Statistics statistics;
  bool are_known = true;
  for (int i = 0; i < 4; ++i) {
    folded->dtypes[i] = site.input_dtype(i + 1);
    statistics[i] = {folded->dtypes[i], site.host_constant(i + 1)};
    are_known = are_known && statistics[i].data != nullptr;
  }
  if (!are_known) return folded;
  const float epsilon = std::get<BatchNormalizationParams>(site.params).epsilon;
  folded->channels.resize(site.input(1).shape.element_count());
  for (size_t c = 0; c < folded->channels.size(); ++c) {
    folded->channels[c] =
        MakeAffine<C>(statistics, static_cast<int64_t>(c), epsilon);
  }
  return folded;
}

KernelCost BatchNormalizationCost(const NodeSite& site) {
  const double elements = site.input(0).shape.element_count();
  return {.flops = 2 * elements,
          .bytes = 2.0 * ByteSize(site.input_dtype(0), 1) * elements,
          .efficiency = kPortableEfficiency};
}

template <typename T>
absl::Status RunBatchNormalization(const KernelCall& call) {
  using C = ComputeType<T>;
  const Shape& shape = call.input_layout(0).shape;
  const int64_t channels = shape.rank() > 1 ? shape[1] : 1;
  const int64_t inner =
      shape.ElementCount(shape.rank() > 1 ? 2 : 1, shape.rank());
  const int64_t planes = shape.rank() > 1 ? shape[0] * channels : shape[0];
  const auto& folded = *static_cast<const FoldedStatistics<C>*>(call.state);
  Statistics statistics;
  for (int i = 0; i < 4; ++i) {
    const int64_t offset_bytes =
        call.input_layout(i + 1).offset *
        static_cast<int64_t>(ByteSize(folded.dtypes[i], 1));
    statistics[i] = {folded.dtypes[i], reinterpret_cast<const std::byte*>(
                                           call.inputs[i + 1].address()) +
                                           offset_bytes};
  }
  const T* x = call.input<T>(0);
  T* y = call.output<T>(0);
  const float epsilon = std::get<BatchNormalizationParams>(call.params).epsilon;

  call.context.workers->ParallelFor(
      planes, kGrainElements / std::max<int64_t>(inner, 1) + 1,
      [&](int64_t begin, int64_t end) {
        for (int64_t plane = begin; plane < end; ++plane) {
          const int64_t c = plane % channels;
          const Affine<C> affine = folded.channels.empty()
                                       ? MakeAffine<C>(statistics, c, epsilon)
                                       : folded.channels[c];
          const T* x_plane = x + plane * inner;
          T* y_plane = y + plane * inner;
          for (int64_t i = 0; i < inner; ++i) {
            y_plane[i] = static_cast<T>(
                static_cast<C>(x_plane[i]) * affine.factor + affine.offset);
          }
        }
      });
  return absl::OkStatus();
}

#define TENSORD_INSTANTIATE(T)                            \
  template absl::StatusOr<std::unique_ptr<KernelState>>   \
  PrepareBatchNormalization<T>(const NodeSite&, Device&); \
  template absl::Status RunBatchNormalization<T>(const KernelCall&);

TENSORD_INSTANTIATE(float)
TENSORD_INSTANTIATE(double)
TENSORD_INSTANTIATE(Float16)
TENSORD_INSTANTIATE(BFloat16)

}  // namespace tensord
