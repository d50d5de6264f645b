#ifndef TENSORD_BACKENDS_API_CONV_GEOMETRY_H_
#define TENSORD_BACKENDS_API_CONV_GEOMETRY_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/api/op_params.h"
#include "backends/api/shape.h"
#include "backends/api/window.h"

// The extents of a convolution's operands, shared by Conv, ConvTranspose and
// the convolutions of integers.
//
// Every backend resolves its operands here; all of it is in this header, so
// that a kernel's revision covers it.
namespace tensord::conv {

inline constexpr int kMaxSpatialRank = 3;

// One spatial dimension of x, w and y.
struct Axis {
  WindowAxis window;
  int64_t input = 1;
  int64_t output = 1;

  // The input that output o sees with tap t; it may be outside [0, input).
  int64_t InputAt(int64_t o, int64_t t) const {
    return o * window.stride + t * window.dilation - window.pad_begin;
  }
  // The outputs of [0, output) whose tap t lies inside the input: from `first`
  // to below `second`.
  std::pair<int64_t, int64_t> OutputsInside(int64_t t) const {
    const int64_t shift = InputAt(0, t);
    const int64_t first =
        shift >= 0 ? 0 : (-shift + window.stride - 1) / window.stride;
    const int64_t room = input - shift;  // o * stride must stay below
    const int64_t end =
        room <= 0 ? 0 : (room + window.stride - 1) / window.stride;
    return {std::min(first, output), std::min(end, output)};
  }

  // Of a transposed convolution: the input that tap t brings to output o, or
  // -1.
  int64_t InputOf(int64_t o, int64_t t) const {
    const int64_t scaled = o + window.pad_begin - t * window.dilation;
    if (scaled < 0 || scaled % window.stride != 0) return -1;
    const int64_t i = scaled / window.stride;
    return i < input ? i : -1;
  }

  // Of a transposed convolution, where input i adds to output i * stride + t *
  // dilation - pad: the inputs of [begin, end) that tap t brings into [low,
  // high).
  std::pair<int64_t, int64_t> InputsInside(int64_t t, int64_t begin,
                                           int64_t end, int64_t low,
                                           int64_t high) const {
    const int64_t shift = t * window.dilation - window.pad_begin;
    const auto reaches = [&](int64_t output) {
      const int64_t distance = output - shift;
      return distance <= 0 ? 0 : (distance + window.stride - 1) / window.stride;
    };
    return {std::max(begin, reaches(low)), std::min(end, reaches(high))};
  }
};

// Spatial dimensions are always three, the missing ones in front.
struct Geometry {
  int64_t images;
  int64_t groups;
  int64_t channels;  // of the input, in one group
  int64_t rows;      // output channels in one group
  std::array<Axis, kMaxSpatialRank> axes;

  int64_t inputs() const {
    return axes[0].input * axes[1].input * axes[2].input;
  }
  int64_t outputs() const {
    return axes[0].output * axes[1].output * axes[2].output;
  }
  int64_t taps() const {
    return axes[0].window.kernel * axes[1].window.kernel *
           axes[2].window.kernel;
  }
  // Terms of one output's sum.
  int64_t depth() const { return channels * taps(); }
};

// Conv's: x [N, C, D...], w [M, C / group, K...], y [N, M, O...]; x and y with
// their second dimension last where the parameters say so.
inline Geometry Resolve(const ConvParams& params, const Shape& x,
                        const Shape& w, const Shape& y) {
  Geometry geometry{.images = x[0],
                    .groups = params.group,
                    .channels = w[1],
                    .rows = w[0] / params.group,
                    .axes = {}};
  const int spatial_rank = x.rank() - 2;
  const int first = params.channels_last ? 1 : 2;  // spatial dimension
  for (int i = 0; i < spatial_rank; ++i) {
    geometry.axes[kMaxSpatialRank - spatial_rank + i] = {
        ResolveWindowAxis(params, i, spatial_rank, w[2 + i], x[first + i]),
        x[first + i], y[first + i]};
  }
  return geometry;
}

// ConvTranspose's: w is [C, M / group, K...].
inline Geometry ResolveTransposed(const ConvParams& params, const Shape& x,
                                  const Shape& w, const Shape& y) {
  Geometry geometry{.images = x[0],
                    .groups = params.group,
                    .channels = w[0] / params.group,
                    .rows = w[1],
                    .axes = {}};
  const int spatial_rank = x.rank() - 2;
  for (int i = 0; i < spatial_rank; ++i) {
    geometry.axes[kMaxSpatialRank - spatial_rank + i] = {
        ResolveTransposedWindowAxis(params, i, spatial_rank, w[2 + i], x[2 + i])
            .window,
        x[2 + i], y[2 + i]};
  }
  return geometry;
}

inline absl::Status CheckSpatialRank(const Shape& x) {
  const int spatial_rank = x.rank() - 2;
  if (spatial_rank <= kMaxSpatialRank) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "spatial rank ", spatial_rank, " is above ", kMaxSpatialRank));
}

}  // namespace tensord::conv

#endif  // TENSORD_BACKENDS_API_CONV_GEOMETRY_H_
