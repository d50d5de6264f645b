// MaxPool without indices, AveragePool and LpPool over one to three spatial
// dimensions.
//
//   y[p, o] = the maximum, the mean or the p-norm of
//             x[p, o * stride - pad_begin + t * dilation]
//             over t in [0, kernel), in each spatial dimension
//
// x and y are contiguous [N, C, spatial...], different buffers; p counts the
// N * C planes. Padding is no candidate for the maximum (a window of padding
// alone gives the least value) and adds nothing to the norm. The mean divides
// by the elements inside the input, or with count_include_pad by those inside
// the padded input; a window without elements gives 0. Sums in the elements'
// own type, 16-bit ones in float32. NaNs are left out of the maximum.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "backends/api/float16.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/p_norm.h"
#include "backends/cpu/kernels/pool_windows.h"

namespace tensord {
namespace {

using pool::Axes;
using pool::Ranges;

// y = reduce(first element of x's plane, ranges, output index) for each output.
template <typename T, typename Reduce>
void Pool(const KernelCall& call, const Axes& axes, Reduce reduce) {
  const Shape& shape = call.output_layout(0).shape;
  const T* x = call.input<T>(0);
  T* y = call.output<T>(0);
  const int64_t inputs = pool::InputCount(axes);
  pool::ForOutputs(
      *call.context.workers, shape[0] * shape[1], axes,
      [&](int64_t plane, int64_t output, const Ranges& ranges,
          const std::array<int64_t, 3>& index) {
        y[output] = static_cast<T>(reduce(x + plane * inputs, ranges, index));
      });
}

Axes AxesOf(const KernelCall& call) {
  return pool::Resolve(std::get<PoolParams>(call.params),
                       call.input_layout(0).shape, call.output_layout(0).shape);
}

}  // namespace

absl::Status AcceptsPool(const NodeSite& site) {
  if (site.layouts.empty()) return absl::OkStatus();
  return pool::CheckSpatialRank(site.input(0).shape);
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
      .bytes = element_bytes * (outputs + site.input(0).shape.element_count()),
      .efficiency = 0.018};
}

template <typename T>
absl::Status RunMaxPool(const KernelCall& call) {
  using C = ComputeType<T>;
  const Axes axes = AxesOf(call);
  Pool<T>(
      call, axes,
      [&axes](const T* x, const Ranges& ranges, const std::array<int64_t, 3>&) {
        C maximum = pool::Least<C>();
        pool::ForWindow(axes, ranges, [&](int64_t offset) {
          maximum = std::max(maximum, static_cast<C>(x[offset]));
        });
        return maximum;
      });
  return absl::OkStatus();
}

template <typename T>
absl::Status RunAveragePool(const KernelCall& call) {
  using C = ComputeType<T>;
  const bool counts_padding =
      std::get<PoolParams>(call.params).count_include_pad;
  const Axes axes = AxesOf(call);
  Pool<T>(call, axes,
          [&axes, counts_padding](const T* x, const Ranges& ranges,
                                  const std::array<int64_t, 3>& output) {
            C sum = 0;
            pool::ForWindow(axes, ranges, [&](int64_t offset) {
              sum += static_cast<C>(x[offset]);
            });
            int64_t count = 1;
            for (int i = 0; i < 3; ++i) {
              count *= counts_padding ? axes[i].PaddedCount(output[i])
                                      : ranges[i].count;
            }
            return count == 0 ? C{0} : sum / static_cast<C>(count);
          });
  return absl::OkStatus();
}

template <typename T>
absl::Status RunLpPool(const KernelCall& call) {
  using C = ComputeType<T>;
  const int64_t p = std::get<PoolParams>(call.params).p;
  const Axes axes = AxesOf(call);
  Pool<T>(call, axes,
          [&axes, p](const T* x, const Ranges& ranges,
                     const std::array<int64_t, 3>&) {
            C sum = 0;
            pool::ForWindow(axes, ranges, [&](int64_t offset) {
              sum += PowerOf(std::abs(static_cast<C>(x[offset])), p);
            });
            return RootOf(sum, p);
          });
  return absl::OkStatus();
}

template absl::Status RunMaxPool<float>(const KernelCall&);
template absl::Status RunMaxPool<double>(const KernelCall&);
template absl::Status RunMaxPool<Float16>(const KernelCall&);
template absl::Status RunMaxPool<BFloat16>(const KernelCall&);
template absl::Status RunMaxPool<int8_t>(const KernelCall&);
template absl::Status RunMaxPool<uint8_t>(const KernelCall&);
template absl::Status RunAveragePool<float>(const KernelCall&);
template absl::Status RunAveragePool<double>(const KernelCall&);
template absl::Status RunAveragePool<Float16>(const KernelCall&);
template absl::Status RunAveragePool<BFloat16>(const KernelCall&);
template absl::Status RunLpPool<float>(const KernelCall&);
template absl::Status RunLpPool<double>(const KernelCall&);
template absl::Status RunLpPool<Float16>(const KernelCall&);
template absl::Status RunLpPool<BFloat16>(const KernelCall&);

}  // namespace tensord
