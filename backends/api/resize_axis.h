#ifndef TENSORD_BACKENDS_API_RESIZE_AXIS_H_
#define TENSORD_BACKENDS_API_RESIZE_AXIS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "backends/api/op_params.h"

// One resized dimension: which inputs each output is made of, and how much of
// each. Made once, ahead of the runs.
namespace tensord {

// The dimension's numbers, in the input's and the output's pixels.
struct ResizeAxisSpec {
  int64_t in;
  int64_t out;
  double scale;
  double region_begin = 0;  // of tf_crop_and_resize, in [0, 1] of the input
  double region_end = 1;
};

// Where the input is sampled for output pixel `at`; pixel centres are whole
// numbers.
inline double SampleAt(const ResizeParams& params, const ResizeAxisSpec& axis,
                       int64_t at) {
  // What the scale says, which need not be whole.
  const double out = axis.scale * static_cast<double>(axis.in);
  const double last = static_cast<double>(axis.in - 1);
  const double x = static_cast<double>(at);
  switch (params.coordinates) {
    case ResizeCoordinates::kHalfPixel:
      return (x + 0.5) / axis.scale - 0.5;
    case ResizeCoordinates::kHalfPixelSymmetric: {
      const double centre = static_cast<double>(axis.in) / 2;
      const double shift = centre * (1 - static_cast<double>(axis.out) / out);
      return shift + (x + 0.5) / axis.scale - 0.5;
    }
    case ResizeCoordinates::kPytorchHalfPixel:
      return axis.out > 1 ? (x + 0.5) / axis.scale - 0.5 : 0;
    case ResizeCoordinates::kAlignCorners:
      return axis.out > 1 ? x * last / (out - 1) : 0;
    case ResizeCoordinates::kAsymmetric:
      return x / axis.scale;
    case ResizeCoordinates::kTfHalfPixelForNn:
      return (x + 0.5) / axis.scale;
    case ResizeCoordinates::kTfCropAndResize: {
      const double region = axis.region_end - axis.region_begin;
      if (axis.out <= 1) {
        return (axis.region_begin + axis.region_end) / 2 * last;
      }
      return axis.region_begin * last +
             x * region * last / static_cast<double>(axis.out - 1);
    }
  }
  return 0;
}

inline double RoundSample(ResizeRounding rounding, double scale,
                          double sample) {
  // As float32, in which a quotient that should be whole is.
  const float x = static_cast<float>(sample);
  switch (rounding) {
    case ResizeRounding::kRoundPreferFloor:
      return std::ceil(x - 0.5f);
    case ResizeRounding::kRoundPreferCeil:
      return std::floor(x + 0.5f);
    case ResizeRounding::kFloor:
      return std::floor(x);
    case ResizeRounding::kCeil:
      return std::ceil(x);
    case ResizeRounding::kUnsaid:
      return scale < 1 ? std::ceil(x) : std::floor(x);
  }
  return x;
}

inline double LinearWeight(double distance) {
  return std::max(0.0, 1 - std::abs(distance));
}

// Keys' kernel; `a` is its slope at a distance of 1.
inline double CubicWeight(double distance, double a) {
  const double x = std::abs(distance);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

// For each output: `taps` inputs and their weights, which sum up to 1.
struct ResizeAxis {
  int64_t in = 0;
  int64_t out = 0;
  int64_t taps = 1;
  std::vector<int64_t> indices;  // [out, taps]; may be empty for an identity
  std::vector<float> weights;    // [out, taps]; empty for nearest
  // By output: it is outside the region, and takes the extrapolation value.
  // Empty when none is.
  std::vector<bool> is_outside;

  // Every output is the input of its own index.
  bool is_identity = false;

  // Of a dimension with one tap: which input an output is.
  int64_t IndexOf(int64_t at) const { return is_identity ? at : indices[at]; }

  ResizeAxis() = default;
  static ResizeAxis Identity(int64_t extent) {
    ResizeAxis axis;
    axis.in = axis.out = extent;
    axis.is_identity = true;
    return axis;
  }
  ResizeAxis(const ResizeParams& params, const ResizeAxisSpec& axis)
      : in(axis.in), out(axis.out) {
    is_identity = in == out;
    if (in == 0) return;  // then there is no output either
    // Shrinking with antialias widens the window so that every input counts.
    const double shrink = params.antialias ? std::min(axis.scale, 1.0) : 1.0;
    const bool is_nearest = params.mode == ResizeMode::kNearest;
    const double radius =
        (params.mode == ResizeMode::kCubic ? 2.0 : 1.0) / shrink;
    // Wider than the input there is nothing new but its edges.
    const double reach =
        std::min(std::ceil(radius), static_cast<double>(2 * in + 2));
    taps = is_nearest ? 1 : 2 * static_cast<int64_t>(reach);
    for (int64_t at = 0; at < out; ++at) {
      const double sample = SampleAt(params, axis, at);
      NoteOutside(params, at, sample);
      if (is_nearest) {
        AddIndex(RoundSample(params.rounding, axis.scale, sample));
      } else {
        AddWindow(params, sample, shrink);
      }
      const int64_t* row = &indices[at * taps];
      const int64_t own = std::min(at, in - 1);
      for (int64_t k = 0; k < taps; ++k) {
        const float weight = is_nearest ? 1 : weights[at * taps + k];
        if (weight != 0 && row[k] != own) is_identity = false;
      }
    }
    if (!is_outside.empty()) is_identity = false;
  }

 private:
  void NoteOutside(const ResizeParams& params, int64_t at, double sample) {
    if (params.coordinates != ResizeCoordinates::kTfCropAndResize) return;
    // Not "below or above", so that a NaN is outside.
    if (sample >= 0 && sample <= static_cast<double>(in - 1)) return;
    is_outside.resize(out, false);
    is_outside[at] = true;
  }

  void AddIndex(double index) {
    // A NaN, which an absurd scale may give, counts as the first.
    const double last = static_cast<double>(in - 1);
    indices.push_back(index > 0 ? static_cast<int64_t>(std::min(index, last))
                                : 0);
  }

  void AddWindow(const ResizeParams& params, double sample, double shrink) {
    // Past its edges the input goes on with its last element, so no sample
    // farther out differs from this one.
    const double margin = static_cast<double>(taps);
    sample = std::clamp(std::isnan(sample) ? 0.0 : sample, -margin,
                        static_cast<double>(in) + margin);
    const double first = std::floor(sample) - static_cast<double>(taps / 2 - 1);
    double sum = 0;
    std::vector<double> row(taps);
    for (int64_t k = 0; k < taps; ++k) {
      const double index = first + static_cast<double>(k);
      const double distance = (index - sample) * shrink;
      row[k] = params.mode == ResizeMode::kCubic
                   ? CubicWeight(distance, params.cubic_coefficient)
                   : LinearWeight(distance);
      const bool is_inside = index >= 0 && index < static_cast<double>(in);
      if (params.exclude_outside && !is_inside) row[k] = 0;
      sum += row[k];
      AddIndex(index);
    }
    // Nothing is left of a window that is outside as a whole.
    if (sum == 0) row[taps / 2 - 1] = sum = 1;
    for (double weight : row) {
      weights.push_back(static_cast<float>(weight / sum));
    }
  }
};

}  // namespace tensord

#endif  // TENSORD_BACKENDS_API_RESIZE_AXIS_H_
