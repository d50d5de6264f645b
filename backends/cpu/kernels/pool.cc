// MaxPool, AveragePool, GlobalMaxPool and GlobalAveragePool over one to three
// spatial dimensions.
//
//   y[p, o] = max or mean of x[p, o * stride - pad_begin + t * dilation]
//             over t in [0, kernel), in each spatial dimension
//
// x and y are contiguous [N, C, spatial...], different buffers; p counts the
// N * C planes. Padding is no candidate for the maximum (a window of padding
// alone gives the least value). The mean divides by the elements inside the
// input, or with count_include_pad by those inside the padded input, and sums
// in the elements' own type; a window without elements gives 0. The maximum of
// a window with a NaN is a NaN or not, by the order of its elements.

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "absl/strings/str_cat.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/api/window.h"

namespace tensord {
namespace {

constexpr int kMaxSpatialRank = 3;
constexpr int64_t kGrainElements = 8 * 1024;

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

Axes Resolve(const PoolParams& params, const Shape& x, const Shape& y) {
  const int spatial_rank = x.rank() - 2;
  Axes axes;
  for (int i = 0; i < spatial_rank; ++i) {
    Axis& axis = axes[kMaxSpatialRank - spatial_rank + i];
    axis.input = x[2 + i];
    axis.output = y[2 + i];
    axis.window = ResolveWindowAxis(params, i, spatial_rank, axis.input);
  }
  return axes;
}

// Folds f over the window of one output, rows innermost.
template <typename T, typename Fold>
void ForWindow(const T* x, const Axes& axes,
               const std::array<Axis::Range, 3>& ranges, Fold f) {
  const auto& [d, h, w] = ranges;
  for (int64_t i = 0; i < d.count; ++i) {
    const int64_t at_d = d.first + i * axes[0].window.dilation;
    for (int64_t j = 0; j < h.count; ++j) {
      const int64_t at_h = h.first + j * axes[1].window.dilation;
      const T* row = x + (at_d * axes[1].input + at_h) * axes[2].input;
      for (int64_t k = 0; k < w.count; ++k) {
        f(row[w.first + k * axes[2].window.dilation]);
      }
    }
  }
}

// Calls pool(x plane, ranges, output index) for each output of each plane.
template <typename T, typename Pool>
absl::Status ForOutputs(const KernelCall& call, const Axes& axes, Pool pool) {
  const Shape& shape = call.output_layout(0).shape;
  const T* x = call.input<T>(0);
  T* y = call.output<T>(0);
  const int64_t inputs = axes[0].input * axes[1].input * axes[2].input;
  const int64_t outputs = axes[0].output * axes[1].output * axes[2].output;
  call.context.workers->ParallelFor(
      shape[0] * shape[1], kGrainElements / std::max<int64_t>(outputs, 1) + 1,
      [&](int64_t begin, int64_t end) {
        for (int64_t plane = begin; plane < end; ++plane) {
          const T* x_plane = x + plane * inputs;
          T* y_next = y + plane * outputs;
          for (int64_t d = 0; d < axes[0].output; ++d) {
            const auto range_d = axes[0].Inside(d);
            for (int64_t h = 0; h < axes[1].output; ++h) {
              const auto range_h = axes[1].Inside(h);
              for (int64_t w = 0; w < axes[2].output; ++w) {
                *y_next++ = pool(x_plane, {range_d, range_h, axes[2].Inside(w)},
                                 std::array<int64_t, 3>{d, h, w});
              }
            }
          }
        }
      });
  return absl::OkStatus();
}

template <typename T>
constexpr T Least() {
  if constexpr (std::numeric_limits<T>::has_infinity) {
    return -std::numeric_limits<T>::infinity();
  } else {
    return std::numeric_limits<T>::lowest();
  }
}

template <typename T, typename Reduce>
absl::Status ReducePlanes(const KernelCall& call, Reduce reduce) {
  const Shape& shape = call.input_layout(0).shape;
  const int64_t inner = shape.ElementCount(2, shape.rank());
  const T* x = call.input<T>(0);
  T* y = call.output<T>(0);
  call.context.workers->ParallelFor(
      shape[0] * shape[1], kGrainElements / std::max<int64_t>(inner, 1) + 1,
      [=](int64_t begin, int64_t end) {
        for (int64_t plane = begin; plane < end; ++plane) {
          y[plane] = reduce(x + plane * inner, inner);
        }
      });
  return absl::OkStatus();
}

// Eight sums side by side: one chain of additions would run at the latency of
// an addition, and lose more bits.
template <typename T>
T Sum(const T* x, int64_t count) {
  T sums[8] = {};
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    for (int lane = 0; lane < 8; ++lane) sums[lane] += x[i + lane];
  }
  for (; i < count; ++i) sums[0] += x[i];
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) +
         ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

}  // namespace

absl::Status AcceptsPool(const NodeSite& site) {
  if (site.layouts.empty()) return absl::OkStatus();
  const int spatial_rank = site.input(0).shape.rank() - 2;
  if (spatial_rank <= kMaxSpatialRank) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "spatial rank ", spatial_rank, " is above ", kMaxSpatialRank));
}

KernelCost PoolCost(const NodeSite& site) {
  double window = 1;
  for (int64_t extent : std::get<PoolParams>(site.params).kernel_shape) {
    window *= extent;
  }
  const double outputs = site.output(0).shape.element_count();
  const double element_bytes = ByteSize(site.input_dtype(0), 1);
  return {
      .flops = window * outputs,
      .bytes = element_bytes * (outputs + site.input(0).shape.element_count())};
}

template <typename T>
absl::Status RunMaxPool(const KernelCall& call) {
  const Axes axes =
      Resolve(std::get<PoolParams>(call.params), call.input_layout(0).shape,
              call.output_layout(0).shape);
  return ForOutputs<T>(
      call, axes,
      [&axes](const T* x, const std::array<Axis::Range, 3>& ranges,
              const std::array<int64_t, 3>&) {
        T maximum = Least<T>();
        ForWindow(x, axes, ranges,
                  [&](T element) { maximum = std::max(maximum, element); });
        return maximum;
      });
}

template <typename T>
absl::Status RunAveragePool(const KernelCall& call) {
  const PoolParams& params = std::get<PoolParams>(call.params);
  const Axes axes =
      Resolve(params, call.input_layout(0).shape, call.output_layout(0).shape);
  return ForOutputs<T>(
      call, axes,
      [&axes, &params](const T* x, const std::array<Axis::Range, 3>& ranges,
                       const std::array<int64_t, 3>& output) {
        T sum = 0;
        ForWindow(x, axes, ranges, [&](T element) { sum += element; });
        int64_t count = 1;
        for (int i = 0; i < 3; ++i) {
          count *= params.count_include_pad ? axes[i].PaddedCount(output[i])
                                            : ranges[i].count;
        }
        return count == 0 ? T{0} : sum / static_cast<T>(count);
      });
}

template <typename T>
absl::Status RunGlobalMaxPool(const KernelCall& call) {
  return ReducePlanes<T>(call, [](const T* x, int64_t count) {
    return *std::max_element(x, x + count);
  });
}

template <typename T>
absl::Status RunGlobalAveragePool(const KernelCall& call) {
  return ReducePlanes<T>(call, [](const T* x, int64_t count) {
    return Sum(x, count) / static_cast<T>(count);
  });
}

template absl::Status RunMaxPool<float>(const KernelCall&);
template absl::Status RunMaxPool<double>(const KernelCall&);
template absl::Status RunMaxPool<int8_t>(const KernelCall&);
template absl::Status RunMaxPool<uint8_t>(const KernelCall&);
template absl::Status RunAveragePool<float>(const KernelCall&);
template absl::Status RunAveragePool<double>(const KernelCall&);
template absl::Status RunGlobalMaxPool<float>(const KernelCall&);
template absl::Status RunGlobalMaxPool<double>(const KernelCall&);
template absl::Status RunGlobalAveragePool<float>(const KernelCall&);
template absl::Status RunGlobalAveragePool<double>(const KernelCall&);

}  // namespace tensord
