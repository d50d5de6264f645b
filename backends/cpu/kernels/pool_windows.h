#ifndef TENSORD_BACKENDS_CPU_KERNELS_POOL_WINDOWS_H_
#define TENSORD_BACKENDS_CPU_KERNELS_POOL_WINDOWS_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/api/host_services.h"
#include "backends/api/op_params.h"
#include "backends/api/shape.h"
#include "backends/api/window.h"

// The windows of pools over the planes of [N, C, spatial...], or of
// [N, spatial..., C] where PoolParams::channels_last.
//
// Everything is in this header, so that a kernel's revision covers it.
namespace tensord::pool {

inline constexpr int kMaxSpatialRank = 3;

// One spatial dimension of a plane.
struct Axis {
  WindowAxis window;
  int64_t input = 1;
  int64_t output = 1;

  // The inputs of output o that are inside [0, input): from `first` in steps of
  // the dilation, `count` of them.
  struct Range {
    int64_t first;
    int64_t count;
  };
  Range Inside(int64_t o) const { return Clip(o, 0, input); }
  // How many are inside the padded input.
  int64_t PaddedCount(int64_t o) const {
    return Clip(o, -window.pad_begin, input + window.pad_end).count;
  }

 private:
  Range Clip(int64_t o, int64_t low, int64_t high) const {
    const int64_t start = o * window.stride - window.pad_begin;
    const int64_t step = window.dilation;
    const int64_t skipped = start < low ? (low - start + step - 1) / step : 0;
    const int64_t reach = high > start ? (high - start + step - 1) / step : 0;
    const int64_t end = std::min(window.kernel, reach);
    return {start + skipped * step, std::max<int64_t>(end - skipped, 0)};
  }
};

// Always three, the missing ones in front with extent 1.
using Axes = std::array<Axis, kMaxSpatialRank>;
using Ranges = std::array<Axis::Range, kMaxSpatialRank>;

inline int64_t InputCount(const Axes& axes) {
  return axes[0].input * axes[1].input * axes[2].input;
}

inline Axes Resolve(const PoolParams& params, const Shape& x, const Shape& y) {
  const int spatial_rank = x.rank() - 2;
  const int first = params.channels_last ? 1 : 2;  // spatial dimension
  Axes axes;
  for (int i = 0; i < spatial_rank; ++i) {
    Axis& axis = axes[kMaxSpatialRank - spatial_rank + i];
    axis.input = x[first + i];
    axis.output = y[first + i];
    axis.window = ResolveWindowAxis(params, i, spatial_rank, axis.input);
  }
  return axes;
}

// Calls f(offset in x's plane) for the window of one output, rows innermost.
template <typename F>
void ForWindow(const Axes& axes, const Ranges& ranges, F f) {
  const auto& [d, h, w] = ranges;
  for (int64_t i = 0; i < d.count; ++i) {
    const int64_t at_d = d.first + i * axes[0].window.dilation;
    for (int64_t j = 0; j < h.count; ++j) {
      const int64_t at_h = h.first + j * axes[1].window.dilation;
      const int64_t row = (at_d * axes[1].input + at_h) * axes[2].input;
      for (int64_t k = 0; k < w.count; ++k) {
        f(row + w.first + k * axes[2].window.dilation);
      }
    }
  }
}

// Calls pool(image, position of y, ranges, output index) for each output
// position of each of `images` images, whose positions have `channels` elements
// each. Single positions are shared out, since a window may be of any size.
template <typename Pool>
void ForPositions(WorkerPool& workers, int64_t images, const Axes& axes,
                  int64_t channels, Pool pool) {
  constexpr double kGrainElements = 64 * 1024;  // that are reduced
  const int64_t height = axes[1].output;
  const int64_t width = axes[2].output;
  const int64_t rows = axes[0].output * height;
  // As a float: a window is of any extent, whatever is inside.
  double elements = static_cast<double>(std::max<int64_t>(channels, 1));
  for (const Axis& axis : axes) {
    elements *= static_cast<double>(
        std::max<int64_t>(std::min(axis.window.kernel, axis.input), 1));
  }
  workers.ParallelFor(
      images * rows * width,
      static_cast<int64_t>(kGrainElements / elements) + 1,
      [&](int64_t begin, int64_t end) {
        for (int64_t y = begin; y < end;) {
          const int64_t row = y / width;
          const int64_t row_end = std::min(end, (row + 1) * width);
          const int64_t d = row % rows / height;
          const int64_t h = row % height;
          const auto range_d = axes[0].Inside(d);
          const auto range_h = axes[1].Inside(h);
          for (; y < row_end; ++y) {
            const int64_t w = y - row * width;
            pool(row / rows, y, Ranges{range_d, range_h, axes[2].Inside(w)},
                 std::array<int64_t, 3>{d, h, w});
          }
        }
      });
}

// The same for [N, C, spatial...]: pool(plane, element of y, ranges, output
// index) for each output of each of `planes` planes.
template <typename Pool>
void ForOutputs(WorkerPool& workers, int64_t planes, const Axes& axes,
                Pool pool) {
  ForPositions(workers, planes, axes, /*channels=*/1, pool);
}

inline absl::Status CheckSpatialRank(const Shape& x) {
  const int spatial_rank = x.rank() - 2;
  if (spatial_rank <= kMaxSpatialRank) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "spatial rank ", spatial_rank, " is above ", kMaxSpatialRank));
}

// What no element is below.
template <typename T>
constexpr T Least() {
  if constexpr (std::numeric_limits<T>::has_infinity) {
    return -std::numeric_limits<T>::infinity();
  } else {
    return std::numeric_limits<T>::lowest();
  }
}

}  // namespace tensord::pool

#endif  // TENSORD_BACKENDS_CPU_KERNELS_POOL_WINDOWS_H_
