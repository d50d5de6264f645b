// GridSample and AffineGrid.
//
//   GridSample  y[n, c, o] = sum over k of weight[k] * x[n, c, element[k]]
//   AffineGrid  y[n, o, i] = sum over j of theta[n, i, j] * place[j] +
//                            theta[n, i, r]
//
// GridSample: the elements and weights follow from grid[n, o], which holds a
// coordinate for each spatial dimension of x, the innermost first: 1, 2 or 4
// elements along each (nearest, linear, cubic), multiplied out. x [N, C, D...],
// grid [N, O..., r] and y [N, C, O...] are contiguous, r is 1 to 4. Coordinates
// are in the grid's type, weights and sums in x's; 16-bit floats compute in
// float32. A coordinate far outside is brought near before it becomes an index,
// so that an infinity is one more place outside, and a NaN one before the first
// element. An image without elements is 0 everywhere.
//
// AffineGrid: for every element o of an image of r = 2 or 3 dimensions;
// place[j] is o's index in dimension r - 1 - j of `extent` elements, which lie
// evenly from -1 to 1: their middles with align_corners, else their outer
// edges. A single middle lies at -1. The size is y's, so input 1 is not read.
// Computes in double and rounds once.
//
// y is no input's buffer.

#include <math.h>

#include <algorithm>
#include <cstdint>

#include "backends/api/kernel.h"
#include "backends/cuda/kernels/element.h"
#include "backends/cuda/kernels/launch.h"
#include "backends/cuda/kernels/number.h"
#include "backends/cuda/kernels/row_macros.h"
#include "backends/cuda/kernels/rows.h"

namespace tensord::cuda {
namespace {

constexpr int kMaxSpatialRank = 4;
constexpr int kMaxTaps = 4;  // along one axis
// Channels that share what one thread has found out about a place.
constexpr int kChannels = 4;

// One spatial dimension of x.
struct Axis {
  int64_t extent = 1;
  int64_t stride = 0;  // in elements
  // What is outside of these is brought inside; they are half an element
  // beyond the first and last, or on them.
  double low;
  double high;
};

struct Sampling {
  int rank;
  Axis axes[kMaxSpatialRank];
  GridSampleMode mode;
  GridSamplePadding padding;
  bool aligns_corners;
  int64_t plane;  // elements of a channel of x
  int64_t channels;
  int64_t groups;  // of channels
  int64_t places;
  int64_t count;  // of threads' work
};

// Numbers of one of the dtypes that are computed in C.
template <typename C>
struct Coordinates {
  const void* values;
  DType dtype;

  __device__ C At(int64_t i) const {
    if constexpr (sizeof(C) == sizeof(float)) {
      if (dtype == DType::kFloat16) {
        return ToCompute(static_cast<const Half*>(values)[i]);
      }
      if (dtype == DType::kBFloat16) {
        return ToCompute(static_cast<const BHalf*>(values)[i]);
      }
    }
    return static_cast<const C*>(values)[i];
  }
};

// Mirrored at both borders until it is between them.
__device__ double Reflect(double x, const Axis& axis) {
  const double range = axis.high - axis.low;
  if (!(range > 0)) return axis.low;
  const double way = fmod(fabs(x - axis.low), 2 * range);
  return axis.low + (way <= range ? way : 2 * range - way);
}

// NaN becomes `low`.
__device__ double Limit(double x, double low, double high) {
  return x > low ? (x < high ? x : high) : low;
}

// A coordinate of the grid in elements of the dimension, as far outside as
// makes a difference.
template <typename C>
__device__ double Locate(const Sampling& sampling, const Axis& axis,
                         C coordinate) {
  const auto extent = static_cast<C>(axis.extent);
  C x = sampling.aligns_corners
            ? RoundedProduct((coordinate + 1) / 2, extent - 1)
            : (RoundedProduct(coordinate + 1, extent) - 1) / 2;
  // To even where it is halfway.
  if (sampling.mode == GridSampleMode::kNearest) x = nearbyint(x);
  if (x >= axis.low && x <= axis.high) return x;
  const auto last = static_cast<double>(axis.extent - 1);
  if (sampling.padding == GridSamplePadding::kBorder) return Limit(x, 0, last);
  if (sampling.padding == GridSamplePadding::kReflection) {
    // Rounded as if it had been there from the start.
    return Limit(static_cast<C>(Reflect(x, axis)), axis.low, axis.high);
  }
  // Three elements away, none is within reach.
  return Limit(x, -3, last + 3);
}

// The element that stands at `at`; -1 where that is zero.
__device__ int64_t ElementAt(GridSamplePadding padding, const Axis& axis,
                             int64_t at) {
  if (at >= 0 && at < axis.extent) return at;
  if (padding == GridSamplePadding::kZeros) return -1;
  if (padding == GridSamplePadding::kReflection) {
    at = static_cast<int64_t>(Reflect(static_cast<double>(at), axis));
  }
  return at < 0 ? 0 : at < axis.extent ? at : axis.extent - 1;
}

// Keys' kernel with a slope of -0.75 at a distance of 1.
__device__ double WeightAt(GridSampleMode mode, double distance) {
  if (mode == GridSampleMode::kNearest) return 1;
  const double x = fabs(distance);
  if (mode == GridSampleMode::kLinear) return 1 - x;
  constexpr double kSlope = -0.75;
  if (x <= 1) return ((kSlope + 2) * x - (kSlope + 3)) * x * x + 1;
  return ((kSlope * x - 5 * kSlope) * x + 8 * kSlope) * x - 4 * kSlope;
}

// The elements near a place along one axis.
template <typename Number>
struct Taps {
  int count = 1;
  int64_t offsets[kMaxTaps] = {};
  Number weights[kMaxTaps] = {1};
};
template <typename Number>
__device__ void FindTaps(const Sampling& sampling, const Axis& axis, double x,
                         Taps<Number>& taps) {
  const int reach = sampling.mode == GridSampleMode::kNearest  ? 1
                    : sampling.mode == GridSampleMode::kLinear ? 2
                                                               : kMaxTaps;
  const int64_t first =
      static_cast<int64_t>(floor(x)) - (reach == kMaxTaps ? 1 : 0);
  taps.count = 0;
  for (int k = 0; k < reach; ++k) {
    const int64_t element = ElementAt(sampling.padding, axis, first + k);
    if (element < 0) continue;
    taps.offsets[taps.count] = element * axis.stride;
    taps.weights[taps.count++] = static_cast<Number>(
        WeightAt(sampling.mode, static_cast<double>(first + k) - x));
  }
}

// One output: the sum over the taps of all axes.
template <typename Number, typename T>
__device__ Number SumOf(const Taps<Number> (&taps)[kMaxSpatialRank],
                        const T* x) {
  Number sum = 0;
  for (int i = 0; i < taps[0].count; ++i) {
    for (int j = 0; j < taps[1].count; ++j) {
      for (int k = 0; k < taps[2].count; ++k) {
        const Number outer =
            taps[2].weights[k] * taps[1].weights[j] * taps[0].weights[i];
        const T* row =
            x + taps[0].offsets[i] + taps[1].offsets[j] + taps[2].offsets[k];
        for (int l = 0; l < taps[3].count; ++l) {
          sum += taps[3].weights[l] * outer *
                 static_cast<Number>(ToCompute(row[taps[3].offsets[l]]));
        }
      }
    }
  }
  return sum;
}

template <typename T, typename C>
__global__ void Sample(Sampling sampling, const T* x, Coordinates<C> grid,
                       T* y) {
  using Number = Compute<T>;
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
       i < sampling.count; i += step) {
    const int64_t place = i % sampling.places;
    const int64_t group = i / sampling.places % sampling.groups;
    const int64_t n = i / sampling.places / sampling.groups;
    // Axes that x lacks come first, with the one tap that is there.
    Taps<Number> taps[kMaxSpatialRank];
    for (int d = 0; d < kMaxSpatialRank; ++d) {
      const int own = d - (kMaxSpatialRank - sampling.rank);
      if (own < 0) continue;
      const C coordinate =
          grid.At((n * sampling.places + place) * sampling.rank +
                  sampling.rank - 1 - own);
      const Axis& axis = sampling.axes[d];
      FindTaps(sampling, axis, Locate(sampling, axis, coordinate), taps[d]);
    }
    for (int64_t c = group * kChannels;
         c < sampling.channels && c < (group + 1) * kChannels; ++c) {
      const int64_t channel = n * sampling.channels + c;
      y[channel * sampling.places + place] =
          Convert<T>(SumOf<Number>(taps, x + channel * sampling.plane));
    }
  }
}

__device__ double PlaceOf(int64_t index, int64_t extent, bool aligns_corners) {
  const auto at = static_cast<double>(index);
  const auto length = static_cast<double>(extent);
  if (!aligns_corners) return (2 * at + 1) / length - 1;
  return extent == 1 ? -1 : 2 * at / (length - 1) - 1;
}

struct Image {
  int rank;
  int64_t extents[3];  // the innermost first
  int64_t places;
  bool aligns_corners;
};

template <typename T>
__global__ void Affine(Image image, const T* theta, T* y, int64_t count) {
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t at = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; at < count;
       at += step) {
    double place[3] = {};
    int64_t rest = at % image.places;
    for (int j = 0; j < image.rank; ++j) {
      place[j] = PlaceOf(rest % image.extents[j], image.extents[j],
                         image.aligns_corners);
      rest /= image.extents[j];
    }
    const T* row = theta + at / image.places * image.rank * (image.rank + 1);
    for (int i = 0; i < image.rank; ++i, row += image.rank + 1) {
      auto sum = static_cast<double>(ToCompute(row[image.rank]));
      for (int j = 0; j < image.rank; ++j) {
        sum += static_cast<double>(ToCompute(row[j])) * place[j];
      }
      y[at * image.rank + i] = Convert<T>(sum);
    }
  }
}

template <typename T>
__global__ void FillZeros(T* y, int64_t count) {
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += step) {
    y[i] = Convert<T>(0.0f);
  }
}

Sampling SamplingOf(const KernelCall& call) {
  const auto& params = std::get<GridSampleParams>(call.params);
  const Shape& x = call.input_layout(0).shape;
  const Shape& y = call.output_layout(0).shape;
  Sampling sampling = {};
  sampling.rank = x.rank() - 2;
  sampling.mode = params.mode;
  sampling.padding = params.padding;
  sampling.aligns_corners = params.aligns_corners;
  const double margin = params.aligns_corners ? 0 : 0.5;
  int64_t stride = 1;
  for (int d = sampling.rank - 1; d >= 0; --d) {
    const int64_t extent = x[d + 2];
    const auto last = static_cast<double>(extent - 1);
    sampling.axes[kMaxSpatialRank - sampling.rank + d] = {
        extent, stride, -margin, last + margin};
    stride *= extent;
  }
  sampling.plane = stride;
  sampling.channels = y[1];
  sampling.groups = (y[1] + kChannels - 1) / kChannels;
  sampling.places = y.ElementCount(2, y.rank());
  sampling.count = y[0] * sampling.groups * sampling.places;
  return sampling;
}

template <typename T, DType kGrid>
absl::Status RunGridSample(const KernelCall& call) {
  using C = std::conditional_t<kGrid == DType::kFloat64, double, float>;
  const Sampling sampling = SamplingOf(call);
  const int64_t count = call.output_layout(0).shape.element_count();
  if (count == 0) return absl::OkStatus();
  if (sampling.plane == 0) {
    return Launch(call.context, FillZeros<T>, ForElements(count),
                  call.output<T>(0), count);
  }
  const Coordinates<C> grid = {
      call.inputs[1].address() + ByteSize(kGrid, call.input_layout(1).offset),
      kGrid};
  return Launch(call.context, Sample<T, C>, ForElements(sampling.count, 128),
                sampling, call.input<T>(0), grid, call.output<T>(0));
}

absl::Status AcceptsGridSample(const NodeSite& site) {
  if (site.layouts.empty() ||
      site.input(0).shape.rank() - 2 <= kMaxSpatialRank) {
    return absl::OkStatus();
  }
  return absl::UnimplementedError("more than four spatial dimensions");
}

KernelCost GridSampleCost(const NodeSite& site) {
  const auto& params = std::get<GridSampleParams>(site.params);
  const Shape& y = site.output(0).shape;
  const double along = params.mode == GridSampleMode::kNearest  ? 1
                       : params.mode == GridSampleMode::kLinear ? 2
                                                                : kMaxTaps;
  const double taps = pow(along, y.rank() - 2);
  const auto outputs = static_cast<double>(y.element_count());
  const auto bytes = static_cast<double>(ByteSize(site.input_dtype(0), 1));
  return {
      .flops = 2 * taps * outputs,
      .bytes = (taps + 1) * outputs * bytes +
               static_cast<double>(ByteSize(
                   site.input_dtype(1), site.input(1).shape.element_count())),
      .efficiency = 0.1};
}

template <typename T>
absl::Status RunAffineGrid(const KernelCall& call) {
  const Shape& shape = call.output_layout(0).shape;
  Image image = {};
  image.rank = shape.rank() - 2;
  image.places = shape.ElementCount(1, image.rank + 1);
  image.aligns_corners = std::get<AffineGridParams>(call.params).align_corners;
  for (int j = 0; j < image.rank; ++j) {
    image.extents[j] = shape[image.rank - j];
  }
  const int64_t count = shape[0] * image.places;
  return Launch(call.context, Affine<T>, ForElements(count), image,
                call.input<T>(0), call.output<T>(0), count);
}

#define GRID_SAMPLE(T, dtype, suffix, grid, grid_suffix)                 \
  TENSORD_CUDA_ROW(GridSample, "grid_sample_" suffix "_" grid_suffix,    \
                   (Takes({DType::dtype, DType::grid}, {DType::dtype})), \
                   "grid_sample.cu", .accepts = &AcceptsGridSample,      \
                   .cost = &GridSampleCost,                              \
                   .run = &RunGridSample<T, DType::grid>)
#define AFFINE_GRID(T, dtype, suffix, ...)                                 \
  TENSORD_CUDA_ROW(AffineGrid, "affine_grid_" suffix,                      \
                   (Takes({DType::dtype, DType::kInt64}, {DType::dtype})), \
                   "grid_sample.cu", .run = &RunAffineGrid<T>)

constexpr KernelEntry kRows[] = {
    TENSORD_CUDA_FLOATS(GRID_SAMPLE, kFloat32, "f32"),
    TENSORD_CUDA_FLOATS(GRID_SAMPLE, kFloat64, "f64"),
    TENSORD_CUDA_FLOATS(GRID_SAMPLE, kFloat16, "f16"),
    TENSORD_CUDA_FLOATS(GRID_SAMPLE, kBFloat16, "bf16"),
    TENSORD_CUDA_FLOATS(AFFINE_GRID),
};

}  // namespace

absl::Span<const KernelEntry> GridSampleRows() { return kRows; }

}  // namespace tensord::cuda
