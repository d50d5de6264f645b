#ifndef TENSORD_BACKENDS_CUDA_KERNELS_CONV_SHAPE_H_
#define TENSORD_BACKENDS_CUDA_KERNELS_CONV_SHAPE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "backends/api/conv_geometry.h"
#include "backends/api/kernel.h"
#include "backends/cuda/kernels/divisor.h"

// A convolution's extents as device code takes them, of Conv, ConvTranspose and
// the convolutions of integers alike.
namespace tensord::cuda {

struct ConvAxis {
  int input, output;
  int kernel, stride, dilation, pad;
};

// A kernel's parameter: a plain value, made on the host. Spatial dimensions are
// always three, the missing ones in front. Strides are counted in elements.
struct ConvShape {
  int64_t images;
  int groups, channels, rows;  // channels and rows (of the output) of one group
  ConvAxis axes[conv::kMaxSpatialRank];
  int inputs, outputs, taps;
  int depth;  // terms of one output's sum

  // Output o gets the inputs that spread to it, rather than those that it sees.
  bool is_transposed;

  // x and y: of an image, a channel and a place (a spatial index).
  int64_t x_image, x_channel, x_place;
  int64_t y_image, y_channel, y_place;
  // w, whose taps are neighbours: of a group, a row and a channel.
  int64_t w_group, w_row, w_channel;

  Divisor<uint32_t> by_taps, by_channels;
  Divisor<uint32_t> by_outputs, by_kernel[2], by_output[2];  // height, width
};

// OK for extents that the device counts in 32 bits, which all but gigantic
// images are, and for up to three spatial dimensions; always without shapes.
// x and w are the numbers of the inputs.
absl::Status CheckConv(const NodeSite& site, int x, int w);

ConvShape ConvShapeOf(const conv::Geometry& geometry, bool is_channels_last,
                      bool is_transposed);

// Device code.

// Where along one axis output o finds the input of tap t; outside [0, input)
// where there is none.
__device__ inline int InputAt(const ConvAxis& axis, int o, int t,
                              bool is_transposed) {
  if (!is_transposed) return o * axis.stride + t * axis.dilation - axis.pad;
  const int scaled = o + axis.pad - t * axis.dilation;
  if (scaled < 0 || scaled % axis.stride != 0) return -1;
  return scaled / axis.stride;
}

// The spatial index of an output, or of a tap, as three.
struct Place {
  int at[3];
};
__device__ inline Place OutputPlace(const ConvShape& shape, uint32_t o) {
  Place place;
  const uint32_t rest = shape.by_output[1].Quotient(o);
  place.at[2] = static_cast<int>(o - rest * shape.by_output[1].value());
  const uint32_t first = shape.by_output[0].Quotient(rest);
  place.at[1] = static_cast<int>(rest - first * shape.by_output[0].value());
  place.at[0] = static_cast<int>(first);
  return place;
}
__device__ inline Place TapPlace(const ConvShape& shape, uint32_t tap) {
  Place place;
  const uint32_t rest = shape.by_kernel[1].Quotient(tap);
  place.at[2] = static_cast<int>(tap - rest * shape.by_kernel[1].value());
  const uint32_t first = shape.by_kernel[0].Quotient(rest);
  place.at[1] = static_cast<int>(rest - first * shape.by_kernel[0].value());
  place.at[0] = static_cast<int>(first);
  return place;
}

// The spatial index of the input that the output finds at the tap, or -1.
__device__ inline int64_t InputPlace(const ConvShape& shape,
                                     const Place& output, const Place& tap) {
  int64_t index = 0;
  for (int d = 0; d < 3; ++d) {
    const ConvAxis& axis = shape.axes[d];
    const int i = InputAt(axis, output.at[d], tap.at[d], shape.is_transposed);
    if (i < 0 || i >= axis.input) return -1;
    index = index * axis.input + i;
  }
  return index;
}

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_KERNELS_CONV_SHAPE_H_
