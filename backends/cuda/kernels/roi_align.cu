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
// double, sums in x's type, float32 for 16-bit floats. A region in an image
// that is not there gives zeros.

#include <math.h>

#include <algorithm>
#include <cstdint>

#include "backends/api/kernel.h"
#include "backends/cuda/kernels/launch.h"
#include "backends/cuda/kernels/number.h"
#include "backends/cuda/kernels/row_macros.h"
#include "backends/cuda/kernels/rows.h"

namespace tensord::cuda {
namespace {

// Beyond it a double does not tell one sample from the next.
constexpr double kMostSamples = 9007199254740992.0;

__device__ double Held(double x, double low, double high) {
  return x < low ? low : high < x ? high : x;
}

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

  __device__ Side(double start, double length, int64_t sampling_ratio,
                  int64_t extent)
      : start(start), length(length), extent(extent) {
    if (!(fabs(start) < kInfinity) || !(fabs(length) < kInfinity)) return;
    if (sampling_ratio > 0) {
      count = static_cast<double>(sampling_ratio);
      last = sampling_ratio;
    } else if (length > 0) {
      count = ceil(length);
      // At least 1/2, so that no more samples are inside than 2 an element.
      const double step = length / count;
      const double before = (-1 - start) / step - 1.5;
      const double after = (static_cast<double>(extent) - start) / step + 1.5;
      const double most = count < kMostSamples ? count : kMostSamples;
      first = static_cast<int64_t>(Held(before, 0.0, most));
      last = static_cast<int64_t>(Held(after, 0.0, most));
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
__device__ bool FindSample(const Side& side, int64_t i, Sample& sample) {
  const double at =
      side.start +
      RoundedProduct(static_cast<double>(i) + 0.5, side.length) / side.count;
  if (!(at >= -1 && at <= static_cast<double>(side.extent))) return false;
  const double inside = Held(at, 0.0, static_cast<double>(side.extent - 1));
  sample.low = static_cast<int64_t>(inside);
  sample.high = sample.low + 1 < side.extent ? sample.low + 1 : side.extent - 1;
  sample.weight = inside - static_cast<double>(sample.low);
  return true;
}

// One output, of one channel's plane of x.
template <typename Number, typename T>
__device__ Number Pool(const T* plane, const Side& rows, const Side& columns,
                       bool takes_max) {
  Number sum = 0;
  Number most = -static_cast<Number>(kInfinity);
  int64_t inside = 0;
  Sample row, column;
  for (int64_t i = rows.first; i < rows.last; ++i) {
    if (!FindSample(rows, i, row)) continue;
    const T* low = plane + row.low * columns.extent;
    const T* high = plane + row.high * columns.extent;
    const auto down = static_cast<Number>(row.weight);
    for (int64_t j = columns.first; j < columns.last; ++j) {
      if (!FindSample(columns, j, column)) continue;
      ++inside;
      const auto right = static_cast<Number>(column.weight);
      const Number terms[] = {
          (1 - down) * (1 - right) * ToCompute(low[column.low]),
          (1 - down) * right * ToCompute(low[column.high]),
          down * (1 - right) * ToCompute(high[column.low]),
          down * right * ToCompute(high[column.high])};
      sum += terms[0] + terms[1] + terms[2] + terms[3];
      for (Number term : terms) most = term > most ? term : most;
    }
  }
  const double samples = rows.count * columns.count;
  if (!takes_max) {
    return sum / static_cast<Number>(samples > 1.0 ? samples : 1.0);
  }
  // Those outside count as 0.
  const bool has_zero = static_cast<double>(inside) < samples || inside == 0;
  return has_zero && most < 0 ? Number{0} : most;
}

// RoiAlignParams, and the shapes.
struct Regions {
  int64_t images, channels, height, width;
  int64_t bins_down, bins_across;
  int64_t sampling_ratio;
  double scale;
  double shift;
  bool is_half_pixel;
  bool takes_max;
  int64_t count;  // of outputs
};

template <typename T>
__global__ void Align(Regions regions, const T* x, const T* rois,
                      const int64_t* batches, T* y) {
  using Number = Compute<T>;
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t at = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
       at < regions.count; at += step) {
    const int64_t q = at % regions.bins_across;
    const int64_t p = at / regions.bins_across % regions.bins_down;
    const int64_t plane = at / regions.bins_across / regions.bins_down;
    const int64_t c = plane % regions.channels;
    const int64_t r = plane / regions.channels;
    const int64_t batch = batches[r];
    if (batch < 0 || batch >= regions.images ||
        regions.height * regions.width == 0) {
      y[at] = Convert<T>(0.0f);
      continue;
    }
    double corners[4];  // left, top, right, bottom
    for (int i = 0; i < 4; ++i) {
      corners[i] =
          RoundedProduct(static_cast<double>(ToCompute(rois[r * 4 + i])),
                         regions.scale) -
          regions.shift;
    }
    double width = corners[2] - corners[0];
    double height = corners[3] - corners[1];
    if (!regions.is_half_pixel) {
      width = width < 1.0 ? 1.0 : width;
      height = height < 1.0 ? 1.0 : height;
    }
    const double bin_width = width / static_cast<double>(regions.bins_across);
    const double bin_height = height / static_cast<double>(regions.bins_down);
    const Side rows(
        corners[1] + RoundedProduct(static_cast<double>(p), bin_height),
        bin_height, regions.sampling_ratio, regions.height);
    const Side columns(
        corners[0] + RoundedProduct(static_cast<double>(q), bin_width),
        bin_width, regions.sampling_ratio, regions.width);
    y[at] = Convert<T>(Pool<Number>(
        x + (batch * regions.channels + c) * regions.height * regions.width,
        rows, columns, regions.takes_max));
  }
}

template <typename T>
absl::Status RunRoiAlign(const KernelCall& call) {
  const auto& params = std::get<RoiAlignParams>(call.params);
  const Shape& x = call.input_layout(0).shape;
  const Shape& y = call.output_layout(0).shape;
  const Regions regions = {.images = x[0],
                           .channels = x[1],
                           .height = x[2],
                           .width = x[3],
                           .bins_down = params.output_height,
                           .bins_across = params.output_width,
                           .sampling_ratio = params.sampling_ratio,
                           .scale = params.spatial_scale,
                           .shift = params.is_half_pixel ? 0.5 : 0,
                           .is_half_pixel = params.is_half_pixel,
                           .takes_max = params.takes_max,
                           .count = y.element_count()};
  return Launch(call.context, Align<T>, ForElements(regions.count, 128),
                regions, call.input<T>(0), call.input<T>(1),
                call.input<int64_t>(2), call.output<T>(0));
}

KernelCost RoiAlignCost(const NodeSite& site) {
  constexpr double kFlops = 200;  // of a few samples
  const auto outputs =
      static_cast<double>(site.output(0).shape.element_count());
  return {.flops = kFlops * outputs,
          .bytes = 8 * outputs *
                   static_cast<double>(ByteSize(site.input_dtype(0), 1)),
          .efficiency = 0.1};
}

#define ROI_ALIGN(T, dtype, suffix, ...)                                    \
  TENSORD_CUDA_ROW(                                                         \
      RoiAlign, "roi_align_" suffix,                                        \
      (Takes({DType::dtype, DType::dtype, DType::kInt64}, {DType::dtype})), \
      "roi_align.cu", .cost = &RoiAlignCost, .run = &RunRoiAlign<T>)

constexpr KernelEntry kRows[] = {TENSORD_CUDA_FLOATS(ROI_ALIGN)};

}  // namespace

absl::Span<const KernelEntry> RoiAlignRows() { return kRows; }

}  // namespace tensord::cuda
