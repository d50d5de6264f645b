// MaxPool without indices, AveragePool, and the global forms of both with
// channels last, over one to three spatial dimensions.
//
//   y[n, o, c] = the maximum or the mean of
//                x[n, o * stride - pad_begin + t * dilation, c]
//                over t in [0, kernel), in each spatial dimension
//
// x is contiguous [N, spatial..., C], y [N, outputs..., C], different buffers.
// Padding, NaNs and the mean's divisor are as in pool.cc, the global forms' as
// in global_pool.cc. Sums in ComputeType of the elements; those of a global
// mean in 8 rounds, so that they lose less.

#include <algorithm>
#include <array>
#include <cstdint>

#include "backends/api/float16.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/pool_windows.h"

namespace tensord {
namespace {

using pool::Axes;
using pool::Ranges;

// Channels that are reduced side by side.
constexpr int64_t kStrip = 64;

struct Maximum {
  template <typename C>
  static constexpr C kStart = pool::Least<C>();
  template <typename C>
  static C Join(C so_far, C element) {
    return std::max(so_far, element);
  }
};

struct Total {
  template <typename C>
  static constexpr C kStart = C{0};
  template <typename C>
  static C Join(C so_far, C element) {
    return so_far + element;
  }
};

// Reduces the window of one output, channels [c, c + count), into results.
template <typename Reduction, typename T>
void ReduceWindow(const Axes& axes, const Ranges& ranges, const T* x,
                  int64_t channels, int64_t count, ComputeType<T>* results) {
  using C = ComputeType<T>;
  std::fill_n(results, count, Reduction::template kStart<C>);
  pool::ForWindow(axes, ranges, [&](int64_t position) {
    const T* from = x + position * channels;
    for (int64_t c = 0; c < count; ++c) {
      results[c] = Reduction::Join(results[c], static_cast<C>(from[c]));
    }
  });
}

// y = finish(reduced window, ranges, output index) for each output and channel.
template <typename Reduction, typename T, typename Finish>
absl::Status Pool(const KernelCall& call, Finish finish) {
  using C = ComputeType<T>;
  const Shape& x_shape = call.input_layout(0).shape;
  const Axes axes = pool::Resolve(std::get<PoolParams>(call.params), x_shape,
                                  call.output_layout(0).shape);
  const int64_t channels = x_shape[x_shape.rank() - 1];
  const int64_t inputs = pool::InputCount(axes);
  const T* x = call.input<T>(0);
  T* y = call.output<T>(0);
  pool::ForPositions(
      *call.context.workers, x_shape[0], axes, channels,
      [&](int64_t image, int64_t position, const Ranges& ranges,
          const std::array<int64_t, 3>& index) {
        const T* from = x + image * inputs * channels;
        T* to = y + position * channels;
        for (int64_t c0 = 0; c0 < channels; c0 += kStrip) {
          const int64_t count = std::min(kStrip, channels - c0);
          C results[kStrip];
          ReduceWindow<Reduction, T>(axes, ranges, from + c0, channels, count,
                                     results);
          for (int64_t c = 0; c < count; ++c) {
            to[c0 + c] = static_cast<T>(finish(results[c], ranges, index));
          }
        }
      });
  return absl::OkStatus();
}

// Every position of each image, as one window.
template <typename Reduction, typename T>
absl::Status PoolWhole(const KernelCall& call) {
  using C = ComputeType<T>;
  const Shape& shape = call.input_layout(0).shape;
  const int64_t channels = shape[shape.rank() - 1];
  const int64_t positions = shape.ElementCount(1, shape.rank() - 1);
  const int64_t strips = (channels + kStrip - 1) / kStrip;
  const T* x = call.input<T>(0);
  T* y = call.output<T>(0);
  call.context.workers->ParallelFor(
      shape[0] * strips,
      8 * 1024 / std::max<int64_t>(positions * kStrip, 1) + 1,
      [&](int64_t begin, int64_t end) {
        for (int64_t strip = begin; strip < end; ++strip) {
          const int64_t image = strip / strips;
          const int64_t c0 = strip % strips * kStrip;
          const int64_t count = std::min(kStrip, channels - c0);
          const T* from = x + image * positions * channels + c0;
          C whole[kStrip];
          std::fill_n(whole, count, Reduction::template kStart<C>);
          for (int64_t p0 = 0; p0 < positions; p0 += positions / 8 + 1) {
            const int64_t p1 = std::min(positions, p0 + positions / 8 + 1);
            C part[kStrip];
            std::fill_n(part, count, Reduction::template kStart<C>);
            for (int64_t p = p0; p < p1; ++p) {
              for (int64_t c = 0; c < count; ++c) {
                part[c] = Reduction::Join(
                    part[c], static_cast<C>(from[p * channels + c]));
              }
            }
            for (int64_t c = 0; c < count; ++c) {
              whole[c] = Reduction::Join(whole[c], part[c]);
            }
          }
          constexpr bool is_mean = std::is_same_v<Reduction, Total>;
          const C divisor = is_mean ? static_cast<C>(positions) : C{1};
          for (int64_t c = 0; c < count; ++c) {
            y[image * channels + c0 + c] = static_cast<T>(whole[c] / divisor);
          }
        }
      });
  return absl::OkStatus();
}

}  // namespace

absl::Status AcceptsPoolChannelsLast(const NodeSite& site) {
  if (!std::get<PoolParams>(site.params).channels_last) {
    return absl::FailedPreconditionError(
        "it takes images with their channels in the last dimension");
  }
  return site.layouts.empty() ? absl::OkStatus()
                              : pool::CheckSpatialRank(site.input(0).shape);
}

template <typename T>
absl::Status RunMaxPoolChannelsLast(const KernelCall& call) {
  using C = ComputeType<T>;
  return Pool<Maximum, T>(
      call, [](C maximum, const Ranges&, const std::array<int64_t, 3>&) {
        return maximum;
      });
}

template <typename T>
absl::Status RunAveragePoolChannelsLast(const KernelCall& call) {
  using C = ComputeType<T>;
  const PoolParams& params = std::get<PoolParams>(call.params);
  const Axes axes = pool::Resolve(params, call.input_layout(0).shape,
                                  call.output_layout(0).shape);
  return Pool<Total, T>(call, [&](C sum, const Ranges& ranges,
                                  const std::array<int64_t, 3>& output) {
    int64_t count = 1;
    for (int i = 0; i < 3; ++i) {
      count *= params.count_include_pad ? axes[i].PaddedCount(output[i])
                                        : ranges[i].count;
    }
    return count == 0 ? C{0} : sum / static_cast<C>(count);
  });
}

template <typename T>
absl::Status RunGlobalMaxPoolChannelsLast(const KernelCall& call) {
  return PoolWhole<Maximum, T>(call);
}

template <typename T>
absl::Status RunGlobalAveragePoolChannelsLast(const KernelCall& call) {
  return PoolWhole<Total, T>(call);
}

#define TENSORD_INSTANTIATE(T)                                              \
  template absl::Status RunMaxPoolChannelsLast<T>(const KernelCall&);       \
  template absl::Status RunAveragePoolChannelsLast<T>(const KernelCall&);   \
  template absl::Status RunGlobalMaxPoolChannelsLast<T>(const KernelCall&); \
  template absl::Status RunGlobalAveragePoolChannelsLast<T>(const KernelCall&);

TENSORD_INSTANTIATE(float)
TENSORD_INSTANTIATE(double)
TENSORD_INSTANTIATE(Float16)
TENSORD_INSTANTIATE(BFloat16)
template absl::Status RunMaxPoolChannelsLast<int8_t>(const KernelCall&);
template absl::Status RunMaxPoolChannelsLast<uint8_t>(const KernelCall&);

}  // namespace tensord
