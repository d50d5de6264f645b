// Conv with channels last, over one to three spatial dimensions, channels in
// groups.
//
//   y[n, o, m] = bias[m] + sum over t, c of
//                w[m, c, t] * x[n, o * stride - pad + t * dilation,
//                               g * C/G + c]
//
// with g the group of output channel m, and x outside its extents 0. x is
// contiguous [N, spatial..., C], w [M, C/G, kernel...], the optional bias [M],
// y [N, outputs..., M]; y is none of the inputs' buffers. Accumulates in
// ComputeType of the elements.
//
// The portable form of what faster siblings do. Weights are laid out anew, once
// per node where they are constant and else into the workspace: as [G, t, c,
// M/G] for sums over c that run along m, or, where each group has one channel
// and one row (depthwise), as [t, C] for sums that run along the channels.

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/api/conv_geometry.h"
#include "backends/api/float16.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/api/packed_weights.h"
#include "backends/cpu/kernels/is_stopped.h"
#include "backends/cpu/packed_store.h"

namespace tensord {
namespace {

using conv::Axis;
using conv::Geometry;

// Sums that are kept side by side.
constexpr int64_t kStrip = 64;

// A quarter of a blocked kernel's (efficiency.h).
constexpr double kEfficiency = 0.04;

Geometry GeometryOf(const NodeSite& site) {
  return conv::Resolve(std::get<ConvParams>(site.params), site.input(0).shape,
                       site.input(1).shape, site.output(0).shape);
}

bool IsDepthwise(const Geometry& geometry) {
  return geometry.channels == 1 && geometry.rows == 1;
}

// w [G * rows, channels, taps] with the rows last: [G, taps, channels, rows],
// or for depthwise [taps, G].
template <typename T>
void ArrangeWeights(const Geometry& geometry, const T* w, T* arranged) {
  const int64_t groups = IsDepthwise(geometry) ? 1 : geometry.groups;
  const int64_t rows = IsDepthwise(geometry) ? geometry.groups : geometry.rows;
  for (int64_t g = 0; g < groups; ++g) {
    for (int64_t t = 0; t < geometry.taps(); ++t) {
      for (int64_t c = 0; c < geometry.channels; ++c) {
        for (int64_t m = 0; m < rows; ++m) {
          *arranged++ =
              w[((g * rows + m) * geometry.channels + c) * geometry.taps() + t];
        }
      }
    }
  }
}

template <typename T>
class ArrangedWeights final : public KernelState, public UsesPackedWeights {
 public:
  explicit ArrangedWeights(std::shared_ptr<const Storage> storage)
      : storage_(std::move(storage)) {}
  const T* elements() const {
    return reinterpret_cast<const T*>(storage_->address());
  }
  void AppendPacked(Packed& to) const override { to.push_back(storage_); }

 private:
  const std::shared_ptr<const Storage> storage_;  // the device counts it
};

// The sums of one output position and one group, for rows [m0, m0 + count).
template <typename T>
class PositionSums {
 public:
  using C = ComputeType<T>;

  PositionSums(const Geometry& geometry, const T* weights)
      : geometry_(geometry),
        weights_(weights),
        is_depthwise_(IsDepthwise(geometry)),
        pixel_(geometry.groups * geometry.channels) {}

  // Adds to sums[0, count). `x` is the image, the group's first channel;
  // `group_weights` those of the group.
  void Add(const T* x, int64_t group, const std::array<int64_t, 3>& output,
           int64_t m0, int64_t count, C* sums) const {
    const auto& [axis_d, axis_h, axis_w] = geometry_.axes;
    const int64_t rows = is_depthwise_ ? geometry_.groups : geometry_.rows;
    const int64_t tap_elements = geometry_.channels * rows;
    const T* w = weights_ + group * geometry_.taps() * tap_elements + m0;
    for (int64_t d = 0; d < axis_d.window.kernel; ++d) {
      const int64_t at_d = axis_d.InputAt(output[0], d);
      if (at_d < 0 || at_d >= axis_d.input) {
        w += axis_h.window.kernel * axis_w.window.kernel * tap_elements;
        continue;
      }
      for (int64_t h = 0; h < axis_h.window.kernel; ++h) {
        const int64_t at_h = axis_h.InputAt(output[1], h);
        if (at_h < 0 || at_h >= axis_h.input) {
          w += axis_w.window.kernel * tap_elements;
          continue;
        }
        for (int64_t k = 0; k < axis_w.window.kernel; ++k, w += tap_elements) {
          const int64_t at_w = axis_w.InputAt(output[2], k);
          if (at_w < 0 || at_w >= axis_w.input) continue;
          const int64_t at = (at_d * axis_h.input + at_h) * axis_w.input + at_w;
          AddTap(x + at * pixel_, w, m0, count, rows, sums);
        }
      }
    }
  }

 private:
  void AddTap(const T* x, const T* w, int64_t m0, int64_t count, int64_t rows,
              C* sums) const {
    if (is_depthwise_) {
      for (int64_t m = 0; m < count; ++m) {
        sums[m] += static_cast<C>(x[m0 + m]) * static_cast<C>(w[m]);
      }
      return;
    }
    for (int64_t c = 0; c < geometry_.channels; ++c, w += rows) {
      const C element = static_cast<C>(x[c]);
      for (int64_t m = 0; m < count; ++m) {
        sums[m] += element * static_cast<C>(w[m]);
      }
    }
  }

  const Geometry& geometry_;
  const T* const weights_;
  const bool is_depthwise_;
  const int64_t pixel_;  // elements of an input position
};

}  // namespace

absl::Status AcceptsConvChannelsLast(const NodeSite& site) {
  if (!std::get<ConvParams>(site.params).channels_last) {
    return absl::FailedPreconditionError(
        "it takes images with their channels in the last dimension");
  }
  return site.layouts.empty() ? absl::OkStatus()
                              : conv::CheckSpatialRank(site.input(0).shape);
}

template <typename T>
uint64_t ConvChannelsLastWorkspaceBytes(const NodeSite& site) {
  if (site.host_constant(1) != nullptr) return 0;
  return site.input(1).shape.element_count() * sizeof(T);
}

template <typename T>
absl::StatusOr<std::unique_ptr<KernelState>> PrepareConvChannelsLast(
    const NodeSite& site, Device& device) {
  const auto* w = reinterpret_cast<const T*>(site.host_constant(1));
  if (w == nullptr) return nullptr;
  const Geometry geometry = GeometryOf(site);
  const absl::Span<const std::byte> bytes = HostBytes(site, 1);
  auto arranged = PackedStoreOf(device).Get(
      bytes,
      absl::StrCat("Conv, channels last ", sizeof(T), " ", geometry.groups, " ",
                   geometry.rows, " ", geometry.channels, " ", geometry.taps()),
      bytes.size(), [&](std::byte* to) {
        ArrangeWeights(geometry, w, reinterpret_cast<T*>(to));
        return absl::OkStatus();
      });
  if (!arranged.ok()) return arranged.status();
  return std::make_unique<ArrangedWeights<T>>(*std::move(arranged));
}

KernelCost ConvChannelsLastCost(const NodeSite& site) {
  const double outputs = site.output(0).shape.element_count();
  const double elements = outputs + site.input(0).shape.element_count() +
                          site.input(1).shape.element_count();
  return {.flops = 2 * outputs * GeometryOf(site).depth(),
          .bytes = elements * ByteSize(site.input_dtype(0), 1),
          .efficiency = kEfficiency};
}

template <typename T>
absl::Status RunConvChannelsLast(const KernelCall& call) {
  using C = ComputeType<T>;
  const Geometry geometry = conv::Resolve(
      std::get<ConvParams>(call.params), call.input_layout(0).shape,
      call.input_layout(1).shape, call.output_layout(0).shape);
  const T* weights = nullptr;
  if (call.state != nullptr) {
    weights = static_cast<const ArrangedWeights<T>*>(call.state)->elements();
  } else if (call.context.workspace.is_present()) {  // not without weights
    auto* scratch = reinterpret_cast<T*>(call.context.workspace.address());
    ArrangeWeights(geometry, call.input<T>(1), scratch);
    weights = scratch;
  }
  const PositionSums<T> position(geometry, weights);
  const bool is_depthwise = IsDepthwise(geometry);
  const int64_t groups = is_depthwise ? 1 : geometry.groups;
  const int64_t rows = is_depthwise ? geometry.groups : geometry.rows;
  const int64_t image = geometry.inputs() * geometry.groups * geometry.channels;
  const T* x = call.input<T>(0);
  const T* bias = call.has_input(2) ? call.input<T>(2) : nullptr;
  T* y = call.output<T>(0);
  const int64_t h_count = geometry.axes[1].output;
  const int64_t w_count = geometry.axes[2].output;
  call.context.workers->ParallelFor(
      geometry.images * geometry.axes[0].output * h_count, 1,
      [&](int64_t begin, int64_t end) {
        for (int64_t line = begin; line < end; ++line) {
          const int64_t d = line / h_count % geometry.axes[0].output;
          const T* x_image =
              x + line / (h_count * geometry.axes[0].output) * image;
          T* to = y + line * w_count * groups * rows;
          for (int64_t w = 0; w < w_count; ++w) {
            if (IsStopped(call.context)) return;
            for (int64_t g = 0; g < groups; ++g) {
              for (int64_t m0 = 0; m0 < rows; m0 += kStrip) {
                const int64_t count = std::min(kStrip, rows - m0);
                C sums[kStrip] = {};
                if (bias != nullptr) {
                  for (int64_t m = 0; m < count; ++m) {
                    sums[m] = static_cast<C>(bias[g * rows + m0 + m]);
                  }
                }
                position.Add(x_image + g * geometry.channels, g,
                             {d, line % h_count, w}, m0, count, sums);
                for (int64_t m = 0; m < count; ++m) {
                  *to++ = static_cast<T>(sums[m]);
                }
              }
            }
          }
        }
      });
  return absl::OkStatus();
}

#define TENSORD_INSTANTIATE(T)                                          \
  template uint64_t ConvChannelsLastWorkspaceBytes<T>(const NodeSite&); \
  template absl::StatusOr<std::unique_ptr<KernelState>>                 \
  PrepareConvChannelsLast<T>(const NodeSite& site, Device& device);     \
  template absl::Status RunConvChannelsLast<T>(const KernelCall& call);

TENSORD_INSTANTIATE(float)
TENSORD_INSTANTIATE(double)
TENSORD_INSTANTIATE(Float16)
TENSORD_INSTANTIATE(BFloat16)

}  // namespace tensord
