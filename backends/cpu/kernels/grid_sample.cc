// GridSample.
//
//   y[n, c, o] = sum over k of weight[k] * x[n, c, element[k]]
//
// where the elements and weights follow from grid[n, o], which holds a
// coordinate for each spatial dimension of x, the innermost first: 1, 2 or 4
// elements along each (nearest, linear, cubic), multiplied out. x [N, C, D...],
// grid [N, O..., r] and y [N, C, O...] are contiguous, r is 1 to 4, and y is
// another buffer. Coordinates are in the grid's type, weights and sums in x's;
// 16-bit floats compute in float32.
//
// A coordinate far outside is brought near before it becomes an index, so that
// an infinity is one more place outside, and a NaN one before the first
// element. An image without elements is 0 everywhere.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "backends/api/float16.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/efficiency.h"

namespace tensord {
namespace {

constexpr int64_t kGrainTaps = 16 * 1024;
constexpr int kMaxSpatialRank = 4;
constexpr int kMaxAxisTaps = 4;
constexpr int kMaxTaps = 256;  // kMaxAxisTaps to the kMaxSpatialRank

// One spatial dimension of x.
struct Axis {
  int64_t extent;
  int64_t stride;  // in elements
  // What is outside of these is brought inside; they are half an element
  // beyond the first and last, or on them.
  double low;
  double high;
};

struct Geometry {
  std::array<Axis, kMaxSpatialRank> axes;
  int rank;
  int64_t plane;  // elements of a channel

  Geometry(const Shape& x, bool aligns_corners) : rank(x.rank() - 2) {
    const double margin = aligns_corners ? 0 : 0.5;
    int64_t stride = 1;
    for (int d = rank - 1; d >= 0; --d) {
      const int64_t extent = x[d + 2];
      const auto last = static_cast<double>(extent - 1);
      axes[d] = {extent, stride, -margin, last + margin};
      stride *= extent;
    }
    plane = stride;
  }
};

int AxisTapCount(GridSampleMode mode) {
  switch (mode) {
    case GridSampleMode::kNearest:
      return 1;
    case GridSampleMode::kLinear:
      return 2;
    case GridSampleMode::kCubic:
      break;
  }
  return kMaxAxisTaps;
}

// Mirrored at both borders until it is between them.
double Reflect(double x, const Axis& axis) {
  const double range = axis.high - axis.low;
  if (!(range > 0)) return axis.low;
  const double way = std::fmod(std::abs(x - axis.low), 2 * range);
  return axis.low + (way <= range ? way : 2 * range - way);
}

// NaN becomes `low`.
double Limit(double x, double low, double high) {
  return x > low ? std::min(x, high) : low;
}

// A coordinate of the grid in elements of the dimension, as far outside as
// makes a difference. C is the type of the grid's arithmetic.
template <typename C>
double Locate(const GridSampleParams& params, const Axis& axis, C coordinate) {
  const auto extent = static_cast<C>(axis.extent);
  C x = params.aligns_corners ? (coordinate + 1) / 2 * (extent - 1)
                              : ((coordinate + 1) * extent - 1) / 2;
  // To even where it is halfway.
  if (params.mode == GridSampleMode::kNearest) x = std::nearbyint(x);
  if (x >= axis.low && x <= axis.high) return x;
  const auto last = static_cast<double>(axis.extent - 1);
  switch (params.padding) {
    case GridSamplePadding::kZeros:
      break;
    case GridSamplePadding::kBorder:
      return Limit(x, 0, last);
    case GridSamplePadding::kReflection:
      // Rounded as if it had been there from the start.
      return Limit(static_cast<C>(Reflect(x, axis)), axis.low, axis.high);
  }
  // Three elements away, none is within reach.
  return Limit(x, -3, last + 3);
}

// The element that stands at `at`; -1 where that is zero.
int64_t ElementAt(GridSamplePadding padding, const Axis& axis, int64_t at) {
  if (at >= 0 && at < axis.extent) return at;
  switch (padding) {
    case GridSamplePadding::kZeros:
      return -1;
    case GridSamplePadding::kBorder:
      break;
    case GridSamplePadding::kReflection:
      at = static_cast<int64_t>(Reflect(static_cast<double>(at), axis));
      break;
  }
  return std::clamp<int64_t>(at, 0, axis.extent - 1);
}

// Keys' kernel with a slope of -0.75 at a distance of 1.
double CubicWeight(double distance) {
  constexpr double kSlope = -0.75;
  const double x = std::abs(distance);
  if (x <= 1) return ((kSlope + 2) * x - (kSlope + 3)) * x * x + 1;
  return ((kSlope * x - 5 * kSlope) * x + 8 * kSlope) * x - 4 * kSlope;
}

double WeightAt(GridSampleMode mode, double distance) {
  switch (mode) {
    case GridSampleMode::kNearest:
      return 1;
    case GridSampleMode::kLinear:
      return 1 - std::abs(distance);
    case GridSampleMode::kCubic:
      break;
  }
  return CubicWeight(distance);
}

// What one output is made of, for every channel alike.
template <typename Weight>
struct Taps {
  int count;
  std::array<int64_t, kMaxTaps> offsets;
  std::array<Weight, kMaxTaps> weights;

  // Each tap so far, together with each element near `x` along the axis.
  void Multiply(const GridSampleParams& params, const Axis& axis, double x) {
    const int reach = AxisTapCount(params.mode);
    const double floor = std::floor(x);
    const int64_t first =
        static_cast<int64_t>(floor) - (reach == kMaxAxisTaps ? 1 : 0);
    std::array<int64_t, kMaxAxisTaps> elements;
    std::array<Weight, kMaxAxisTaps> factors;
    int near = 0;
    for (int k = 0; k < reach; ++k) {
      const int64_t element = ElementAt(params.padding, axis, first + k);
      if (element < 0) continue;
      elements[near] = element * axis.stride;
      factors[near++] = static_cast<Weight>(
          WeightAt(params.mode, static_cast<double>(first + k) - x));
    }
    // The last first, since the first is written over what all are made of.
    for (int k = near - 1; k >= 0; --k) {
      for (int i = 0; i < count; ++i) {
        offsets[k * count + i] = offsets[i] + elements[k];
        weights[k * count + i] = weights[i] * factors[k];
      }
    }
    count *= near;
  }
};

}  // namespace

KernelCost GridSampleCost(const NodeSite& site) {
  const auto& params = std::get<GridSampleParams>(site.params);
  const Shape& y = site.output(0).shape;
  const double taps = std::pow(AxisTapCount(params.mode), y.rank() - 2);
  const auto outputs = static_cast<double>(y.element_count());
  const auto bytes = static_cast<double>(ByteSize(site.input_dtype(0), 1));
  return {
      .flops = 2 * taps * outputs,
      .bytes = (taps + 1) * outputs * bytes +
               static_cast<double>(ByteSize(
                   site.input_dtype(1), site.input(1).shape.element_count())),
      .efficiency = kPortableEfficiency};
}

template <typename T, typename Grid>
absl::Status RunGridSample(const KernelCall& call) {
  using Number = ComputeType<T>;
  const auto& params = std::get<GridSampleParams>(call.params);
  const Geometry geometry(call.input_layout(0).shape, params.aligns_corners);
  const Shape& y_shape = call.output_layout(0).shape;
  const int64_t channels = y_shape[1];
  const int64_t places = y_shape.ElementCount(2, y_shape.rank());
  const T* x = call.input<T>(0);
  const Grid* grid = call.input<Grid>(1);
  T* y = call.output<T>(0);
  if (geometry.plane == 0) {
    std::fill_n(y, y_shape.element_count(), static_cast<T>(0.0f));
    return absl::OkStatus();
  }
  const int64_t cost = std::max<int64_t>(channels, 1) << (2 * geometry.rank);
  call.context.workers->ParallelFor(
      y_shape[0] * places, kGrainTaps / cost + 1,
      [&](int64_t begin, int64_t end) {
        Taps<Number> taps;
        for (int64_t at = begin; at < end; ++at) {
          taps.count = 1;
          taps.offsets[0] = 0;
          taps.weights[0] = 1;
          const Grid* coordinates = grid + at * geometry.rank;
          for (int d = geometry.rank - 1; d >= 0; --d) {
            const auto coordinate = static_cast<ComputeType<Grid>>(
                coordinates[geometry.rank - 1 - d]);
            const Axis& axis = geometry.axes[d];
            taps.Multiply(params, axis, Locate(params, axis, coordinate));
          }
          const int64_t first = at / places * channels;
          const T* plane = x + first * geometry.plane;
          T* out = y + first * places + at % places;
          for (int64_t c = 0; c < channels; ++c) {
            Number sum = 0;
            for (int k = 0; k < taps.count; ++k) {
              sum += taps.weights[k] * plane[taps.offsets[k]];
            }
            *out = static_cast<T>(sum);
            plane += geometry.plane;
            out += places;
          }
        }
      });
  return absl::OkStatus();
}

#define TENSORD_INSTANTIATE_GRID(T)                                   \
  template absl::Status RunGridSample<T, float>(const KernelCall&);   \
  template absl::Status RunGridSample<T, double>(const KernelCall&);  \
  template absl::Status RunGridSample<T, Float16>(const KernelCall&); \
  template absl::Status RunGridSample<T, BFloat16>(const KernelCall&)

TENSORD_INSTANTIATE_GRID(float);
TENSORD_INSTANTIATE_GRID(double);
TENSORD_INSTANTIATE_GRID(Float16);
TENSORD_INSTANTIATE_GRID(BFloat16);

}  // namespace tensord
