#include "backends/cuda/kernels/conv_shape.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace tensord::cuda {
namespace {

constexpr int64_t kMaxExtent = int64_t{1} << 30;

conv::Geometry GeometryOf(const NodeSite& site, int x, int w) {
  const auto& params = std::get<ConvParams>(site.params);
  const auto resolve = site.op == OpKind::kConvTranspose
                           ? &conv::ResolveTransposed
                           : &conv::Resolve;
  return resolve(params, site.input(x).shape, site.input(w).shape,
                 site.output(0).shape);
}

// The largest number that the axis' arithmetic comes by.
int64_t LargestOf(const conv::Axis& axis) {
  const WindowAxis& window = axis.window;
  return std::max({axis.input, axis.output * window.stride, window.span(),
                   axis.output + std::abs(window.pad_begin) + window.span(),
                   axis.output * window.stride + std::abs(window.pad_begin) +
                       window.span()});
}

}  // namespace

absl::Status CheckConv(const NodeSite& site, int x, int w) {
  if (site.layouts.empty()) return absl::OkStatus();
  absl::Status status = conv::CheckSpatialRank(site.input(x).shape);
  if (!status.ok()) return status;
  const conv::Geometry geometry = GeometryOf(site, x, w);
  int64_t largest =
      std::max({geometry.inputs(), geometry.outputs(), geometry.depth(),
                geometry.rows, geometry.images * geometry.outputs()});
  for (const conv::Axis& axis : geometry.axes) {
    largest = std::max(largest, LargestOf(axis));
  }
  if (largest <= kMaxExtent) return absl::OkStatus();
  return absl::UnimplementedError(
      absl::StrCat("it counts places up to ", largest, ", above ", kMaxExtent));
}

ConvShape ConvShapeOf(const conv::Geometry& geometry, bool is_channels_last,
                      bool is_transposed) {
  ConvShape shape = {};
  shape.images = geometry.images;
  shape.groups = static_cast<int>(geometry.groups);
  shape.channels = static_cast<int>(geometry.channels);
  shape.rows = static_cast<int>(geometry.rows);
  for (int d = 0; d < conv::kMaxSpatialRank; ++d) {
    const conv::Axis& axis = geometry.axes[d];
    shape.axes[d] = {static_cast<int>(axis.input),
                     static_cast<int>(axis.output),
                     static_cast<int>(axis.window.kernel),
                     static_cast<int>(axis.window.stride),
                     static_cast<int>(axis.window.dilation),
                     static_cast<int>(axis.window.pad_begin)};
  }
  shape.inputs = static_cast<int>(geometry.inputs());
  shape.outputs = static_cast<int>(geometry.outputs());
  shape.taps = static_cast<int>(geometry.taps());
  shape.depth = static_cast<int>(geometry.depth());
  shape.is_transposed = is_transposed;

  const int64_t x_channels = geometry.groups * geometry.channels;
  const int64_t y_channels = geometry.groups * geometry.rows;
  shape.x_image = x_channels * geometry.inputs();
  shape.x_channel = is_channels_last ? 1 : geometry.inputs();
  shape.x_place = is_channels_last ? x_channels : 1;
  shape.y_image = y_channels * geometry.outputs();
  shape.y_channel = is_channels_last ? 1 : geometry.outputs();
  shape.y_place = is_channels_last ? y_channels : 1;
  shape.w_group = geometry.rows * geometry.depth();
  shape.w_row = is_transposed ? geometry.taps() : geometry.depth();
  shape.w_channel =
      is_transposed ? geometry.rows * geometry.taps() : geometry.taps();

  // Nothing divides by an extent of 0: there is no element then.
  const auto divisor = [](int64_t extent) {
    return Divisor<uint32_t>(std::max<int64_t>(extent, 1));
  };
  shape.by_taps = divisor(geometry.taps());
  shape.by_channels = divisor(geometry.channels);
  shape.by_outputs = divisor(geometry.outputs());
  for (int d = 0; d < 2; ++d) {
    shape.by_kernel[d] = divisor(geometry.axes[d + 1].window.kernel);
    shape.by_output[d] = divisor(geometry.axes[d + 1].output);
  }
  return shape;
}

}  // namespace tensord::cuda
