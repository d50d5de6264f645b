// RoiAlign.
//
//   y[r, c, p, q] = mean over the samples of bin (p, q) of region r
//
// A region is rois[r] = (x1, y1, x2, y2) times the scale, less half an element
// where the parameters say so, in image batch_indices[r] of x [N, C, H, W]. It
// is cut into output_height by output_width bins, and each of them sampled at
// the middles of sampling_ratio (0: as many as the bin is long, rounded up)
// equal parts of either side, bilinearly. Samples more than an element outside
// of the image are 0; others outside have the value of its border.
//
// With takes_max y is the largest sum's largest term, corner times weight,
// instead of the largest sample: that is what the standard's cases and its
// other implementations have.
//
// All operands are contiguous, and y is another buffer. Places are computed in
// double, sums in x's type, float32 for 16-bit floats. A batch index outside
// of x is kInvalidArgument.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "absl/strings/str_cat.h"
#include "backends/api/float16.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/is_stopped.h"

namespace tensord {
namespace {

constexpr int64_t kGrainOutputs = 1024;
// Beyond it a double does not tell one sample from the next.
constexpr double kMostSamples = 0x1p53;

// Samples along one side of a bin: sample i of `count`, which is whole but may
// be past any integer, is at start + (i + 0.5) * length / count.
struct Side {
  double start;
  double length;
  double count = 0;
  int64_t extent;  // of the image
  // [first, last): all samples within an element of the image, and few others.
  int64_t first = 0;
  int64_t last = 0;

  Side(double start, double length, int64_t sampling_ratio, int64_t extent)
      : start(start), length(length), extent(extent) {
    if (!std::isfinite(start) || !std::isfinite(length)) return;
    if (sampling_ratio > 0) {
      count = static_cast<double>(sampling_ratio);
      last = sampling_ratio;
    } else if (length > 0) {
      count = std::ceil(length);
      // At least 1/2, so that no more samples are inside than 2 an element.
      const double step = length / count;
      const double before = (-1 - start) / step - 1.5;
      const double after = (static_cast<double>(extent) - start) / step + 1.5;
      const double most = std::min(count, kMostSamples);
      first = static_cast<int64_t>(std::clamp(before, 0.0, most));
      last = static_cast<int64_t>(std::clamp(after, 0.0, most));
    }
  }
};

// The two elements on either side of a sample, and the second one's weight.
struct Sample {
  int64_t low;
  int64_t high;
  double weight;
};

// False where the sample is outside.
bool SampleOf(const Side& side, int64_t i, Sample& sample) {
  const double at =
      side.start + (static_cast<double>(i) + 0.5) * side.length / side.count;
  if (!(at >= -1 && at <= static_cast<double>(side.extent))) return false;
  const double inside =
      std::clamp(at, 0.0, static_cast<double>(side.extent - 1));
  sample.low = static_cast<int64_t>(inside);
  sample.high = std::min(sample.low + 1, side.extent - 1);
  sample.weight = inside - static_cast<double>(sample.low);
  return true;
}

// One output, of one channel's plane of x; anything once the run is stopped,
// since a region may have millions of samples.
template <typename T>
ComputeType<T> Pool(const LaunchContext& context, const T* plane,
                    const Side& rows, const Side& columns, bool takes_max) {
  using Number = ComputeType<T>;
  Number sum = 0;
  Number most = -std::numeric_limits<Number>::infinity();
  int64_t inside = 0;
  Sample row, column;
  for (int64_t i = rows.first; i < rows.last && !IsStopped(context); ++i) {
    if (!SampleOf(rows, i, row)) continue;
    const T* low = plane + row.low * columns.extent;
    const T* high = plane + row.high * columns.extent;
    const auto down = static_cast<Number>(row.weight);
    for (int64_t j = columns.first; j < columns.last; ++j) {
      if ((j & 0xffff) == 0 && IsStopped(context)) break;
      if (!SampleOf(columns, j, column)) continue;
      ++inside;
      const auto right = static_cast<Number>(column.weight);
      const Number a = (1 - down) * (1 - right) * low[column.low];
      const Number b = (1 - down) * right * low[column.high];
      const Number c = down * (1 - right) * high[column.low];
      const Number d = down * right * high[column.high];
      sum += a + b + c + d;
      most = std::max({most, a, b, c, d});
    }
  }
  const double samples = rows.count * columns.count;
  if (!takes_max) return sum / static_cast<Number>(std::max(samples, 1.0));
  // Those outside count as 0.
  return static_cast<double>(inside) < samples || inside == 0
             ? std::max(most, Number{0})
             : most;
}

struct Region {
  double top, left, bin_height, bin_width;

  template <typename T>
  Region(const T* roi, const RoiAlignParams& params) {
    const double shift = params.is_half_pixel ? 0.5 : 0;
    const auto place = [&](int i) {
      return static_cast<double>(roi[i]) * params.spatial_scale - shift;
    };
    left = place(0);
    top = place(1);
    double width = place(2) - left;
    double height = place(3) - top;
    if (!params.is_half_pixel) {
      width = std::max(width, 1.0);
      height = std::max(height, 1.0);
    }
    bin_width = width / static_cast<double>(params.output_width);
    bin_height = height / static_cast<double>(params.output_height);
  }
};

absl::Status CheckBatches(const int64_t* batches, int64_t count,
                          int64_t limit) {
  for (int64_t i = 0; i < count; ++i) {
    if (batches[i] < 0 || batches[i] >= limit) {
      return absl::InvalidArgumentError(
          absl::StrCat("batch index ", batches[i], " at ", i,
                       " is outside [0, ", limit, ")"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

template <typename T>
absl::Status RunRoiAlign(const KernelCall& call) {
  const auto& params = std::get<RoiAlignParams>(call.params);
  const Shape& x_shape = call.input_layout(0).shape;
  const Shape& y_shape = call.output_layout(0).shape;
  const int64_t channels = x_shape[1];
  const int64_t height = x_shape[2];
  const int64_t width = x_shape[3];
  const T* x = call.input<T>(0);
  const T* rois = call.input<T>(1);
  const int64_t* batches = call.input<int64_t>(2);
  T* y = call.output<T>(0);
  if (absl::Status status = CheckBatches(batches, y_shape[0], x_shape[0]);
      !status.ok()) {
    return status;
  }
  if (y_shape.element_count() == 0) return absl::OkStatus();
  if (height * width == 0) {
    std::fill_n(y, y_shape.element_count(), static_cast<T>(0.0f));
    return absl::OkStatus();
  }
  const int64_t bins = y_shape.ElementCount(2, 4);
  call.context.workers->ParallelFor(
      y_shape.element_count(), kGrainOutputs, [&](int64_t begin, int64_t end) {
        for (int64_t at = begin; at < end; ++at) {
          const int64_t r = at / bins / channels;
          const int64_t c = at / bins % channels;
          const auto p = static_cast<double>(at % bins / params.output_width);
          const auto q = static_cast<double>(at % params.output_width);
          const Region region(rois + r * 4, params);
          const Side rows(region.top + p * region.bin_height, region.bin_height,
                          params.sampling_ratio, height);
          const Side columns(region.left + q * region.bin_width,
                             region.bin_width, params.sampling_ratio, width);
          const T* plane = x + (batches[r] * channels + c) * height * width;
          y[at] = static_cast<T>(
              Pool(call.context, plane, rows, columns, params.takes_max));
        }
      });
  return absl::OkStatus();
}

template absl::Status RunRoiAlign<float>(const KernelCall&);
template absl::Status RunRoiAlign<double>(const KernelCall&);
template absl::Status RunRoiAlign<Float16>(const KernelCall&);
template absl::Status RunRoiAlign<BFloat16>(const KernelCall&);

}  // namespace tensord
