// Conv and ConvTranspose over one to three spatial dimensions, channels in
// groups.
//
//   Conv: y[n, m, o] = bias[m] + sum over c, t of
//         w[m, c, t] * x[n, g * C/G + c, o * stride - pad + t * dilation]
//   ConvTranspose: the same, with w[c, m, t] and the inputs i that spread to o:
//         i * stride + t * dilation - pad = o
//
// with g the group of output channel m, and x outside its extents 0. x is
// contiguous [N, C, spatial...], the optional bias [M], y [N, M, outputs...]; w
// [M, C/G, kernel...], of ConvTranspose [C, M/G, kernel...]. Where Conv's
// parameters say so x and y have their channels last. y is none of the inputs'
// buffers. Sums are float32, of float64 float64, and are rounded once, behind
// the epilogue.
//
// conv_*_tiles multiplies the weights by the matrix whose columns are the
// windows, which is never in memory: each block of threads gathers what its
// tile of y needs (product_tile.h). conv_*_direct is one thread an output: what
// is left where a group has few output channels.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/api/conv_geometry.h"
#include "backends/api/kernel.h"
#include "backends/cuda/kernels/apply_epilogue.h"
#include "backends/cuda/kernels/conv_shape.h"
#include "backends/cuda/kernels/epilogue.h"
#include "backends/cuda/kernels/launch.h"
#include "backends/cuda/kernels/number.h"
#include "backends/cuda/kernels/product_tile.h"
#include "backends/cuda/kernels/rows.h"

namespace tensord::cuda {
namespace {

// Below this many output channels a group most of a tile would be empty.
constexpr int64_t kMinTileRows = 8;

constexpr int64_t kMaxGridY = 65535;

template <typename T>
struct ConvOperands {
  const T* x;
  const T* w;
  const T* bias;  // null without one
  T* y;
};

// What of the result is stored from `at` on in y, for output channels `channel`
// to channel + kCount * channel_step.
template <typename T, int kCount>
__device__ inline void StoreSums(const ConvOperands<T>& operands,
                                 const DeviceEpilogue& epilogue, int64_t at,
                                 int channel, int channel_step,
                                 Compute<T> (&sums)[kCount]) {
  if (operands.bias != nullptr) {
#pragma unroll
    for (int j = 0; j < kCount; ++j) {
      sums[j] += ToCompute(operands.bias[channel + j * channel_step]);
    }
  }
  ApplyEpilogue<T>(epilogue, at, sums);
#pragma unroll
  for (int j = 0; j < kCount; ++j) operands.y[at + j] = Convert<T>(sums[j]);
}

// Rows are a group's output channels, columns the outputs of an image; depth
// counts channels, each with its taps.
template <typename T>
__global__ void ConvTiles(const ConvOperands<T> operands,
                          const __grid_constant__ ConvShape shape,
                          const __grid_constant__ DeviceEpilogue epilogue) {
  using C = Compute<T>;
  for (int64_t index = blockIdx.y; index < shape.images * shape.groups;
       index += gridDim.y) {
    const int64_t image = index / shape.groups;
    const int group = static_cast<int>(index % shape.groups);
    const T* x = operands.x + image * shape.x_image +
                 int64_t{group} * shape.channels * shape.x_channel;
    const T* w = operands.w + group * shape.w_group;
    const int first_channel = group * shape.rows;
    MultiplyTile<C>(
        blockIdx.x, shape.rows, shape.outputs, shape.depth,
        /*a_is_along_depth=*/true, /*b_is_along_depth=*/false,
        [&](int64_t row, int64_t t) {
          const auto channel = shape.by_taps.Quotient(static_cast<uint32_t>(t));
          const int64_t tap = t - int64_t{channel} * shape.taps;
          return ToCompute(
              w[row * shape.w_row + channel * shape.w_channel + tap]);
        },
        [&](int64_t t, int64_t o) {
          const auto channel = shape.by_taps.Quotient(static_cast<uint32_t>(t));
          const auto tap = static_cast<uint32_t>(t) - channel * shape.taps;
          const int64_t place =
              InputPlace(shape, OutputPlace(shape, static_cast<uint32_t>(o)),
                         TapPlace(shape, tap));
          return place < 0 ? C{0}
                           : ToCompute(x[channel * shape.x_channel + place]);
        },
        [&](int64_t row, int64_t o, auto& sums) {
          const int channel = first_channel + static_cast<int>(row);
          StoreSums(operands, epilogue,
                    image * shape.y_image + channel * shape.y_channel + o,
                    channel, 0, sums);
        });
  }
}

// Rows are the outputs of all images, columns a group's output channels; depth
// counts taps, each with its channels, which are neighbours in x.
template <typename T>
__global__ void ConvTilesChannelsLast(
    const ConvOperands<T> operands, const __grid_constant__ ConvShape shape,
    const __grid_constant__ DeviceEpilogue epilogue) {
  using C = Compute<T>;
  for (int group = static_cast<int>(blockIdx.y); group < shape.groups;
       group += static_cast<int>(gridDim.y)) {
    const T* x = operands.x + int64_t{group} * shape.channels;
    const T* w = operands.w + group * shape.w_group;
    const int first_channel = group * shape.rows;
    MultiplyTile<C>(
        blockIdx.x, shape.images * shape.outputs, shape.rows, shape.depth,
        /*a_is_along_depth=*/true, /*b_is_along_depth=*/true,
        [&](int64_t row, int64_t t) {
          const auto tap = shape.by_channels.Quotient(static_cast<uint32_t>(t));
          const int64_t channel = t - int64_t{tap} * shape.channels;
          const auto image =
              shape.by_outputs.Quotient(static_cast<uint32_t>(row));
          const auto o = static_cast<uint32_t>(row) - image * shape.outputs;
          const int64_t place =
              InputPlace(shape, OutputPlace(shape, o), TapPlace(shape, tap));
          return place < 0 ? C{0}
                           : ToCompute(x[image * shape.x_image +
                                         place * shape.x_place + channel]);
        },
        [&](int64_t t, int64_t column) {
          const auto tap = shape.by_channels.Quotient(static_cast<uint32_t>(t));
          const int64_t channel = t - int64_t{tap} * shape.channels;
          return ToCompute(
              w[column * shape.w_row + channel * shape.w_channel + tap]);
        },
        [&](int64_t row, int64_t column, auto& sums) {
          const int channel = first_channel + static_cast<int>(column);
          StoreSums(operands, epilogue, row * shape.y_place + channel, channel,
                    1, sums);
        });
  }
}

// One thread an element of y, in y's order.
template <typename T>
__global__ void ConvDirect(const ConvOperands<T> operands,
                           const __grid_constant__ ConvShape shape,
                           const __grid_constant__ DeviceEpilogue epilogue,
                           int64_t count) {
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  const int y_channels = shape.groups * shape.rows;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += step) {
    const int64_t image = i / shape.y_image;
    const int64_t rest = i % shape.y_image;
    const bool is_last = shape.y_channel == 1 && shape.y_place != 1;
    const auto channel =
        static_cast<int>(is_last ? rest % y_channels : rest / shape.outputs);
    const auto o = static_cast<uint32_t>(is_last ? rest / y_channels
                                                 : rest % shape.outputs);
    const int group = channel / shape.rows;
    const T* x = operands.x + image * shape.x_image +
                 int64_t{group} * shape.channels * shape.x_channel;
    const T* w = operands.w + group * shape.w_group +
                 (channel % shape.rows) * shape.w_row;
    const Place output = OutputPlace(shape, o);
    Compute<T> sums[1] = {};
    for (int tap = 0; tap < shape.taps; ++tap) {
      const int64_t place = InputPlace(
          shape, output, TapPlace(shape, static_cast<uint32_t>(tap)));
      if (place < 0) continue;
      const T* x_tap = x + place * shape.x_place;
      for (int c = 0; c < shape.channels; ++c) {
        sums[0] += ToCompute(x_tap[c * shape.x_channel]) *
                   ToCompute(w[c * shape.w_channel + tap]);
      }
    }
    StoreSums(operands, epilogue, i, channel, 0, sums);
  }
}

template <OpKind kOp>
conv::Geometry GeometryOf(const ConvParams& params, const Shape& x,
                          const Shape& w, const Shape& y) {
  if constexpr (kOp == OpKind::kConvTranspose) {
    return conv::ResolveTransposed(params, x, w, y);
  } else {
    return conv::Resolve(params, x, w, y);
  }
}

template <typename T>
ConvOperands<T> OperandsOf(const KernelCall& call) {
  return {call.input<T>(0), call.input<T>(1),
          call.has_input(2) ? call.input<T>(2) : nullptr, call.output<T>(0)};
}

template <OpKind kOp>
ConvShape ShapeOf(const KernelCall& call) {
  const auto& params = std::get<ConvParams>(call.params);
  return ConvShapeOf(
      GeometryOf<kOp>(params, call.input_layout(0).shape,
                      call.input_layout(1).shape, call.output_layout(0).shape),
      params.channels_last, kOp == OpKind::kConvTranspose);
}

template <typename T, OpKind kOp>
absl::Status RunTiles(const KernelCall& call) {
  const ConvShape shape = ShapeOf<kOp>(call);
  if (call.output_layout(0).shape.element_count() == 0) return absl::OkStatus();
  const bool is_channels_last = std::get<ConvParams>(call.params).channels_last;
  const int64_t tiles =
      is_channels_last
          ? ProductTile::Count(shape.images * shape.outputs, shape.rows)
          : ProductTile::Count(shape.rows, shape.outputs);
  const int64_t problems =
      is_channels_last ? shape.groups : shape.images * shape.groups;
  return Launch(call.context,
                is_channels_last ? &ConvTilesChannelsLast<T> : &ConvTiles<T>,
                {dim3(static_cast<unsigned>(tiles),
                      static_cast<unsigned>(std::min(problems, kMaxGridY))),
                 dim3(ProductTile::kThreads)},
                OperandsOf<T>(call), shape, EpilogueOf(call));
}

template <typename T, OpKind kOp>
absl::Status RunDirect(const KernelCall& call) {
  const int64_t count = call.output_layout(0).shape.element_count();
  if (count == 0) return absl::OkStatus();
  return Launch(call.context, &ConvDirect<T>, ForElements(count),
                OperandsOf<T>(call), ShapeOf<kOp>(call), EpilogueOf(call),
                count);
}

absl::Status AcceptsConv(const NodeSite& site) {
  if (absl::Status status = AcceptsEpilogue(site); !status.ok()) return status;
  return CheckConv(site, 0, 1);
}

template <OpKind kOp>
absl::Status AcceptsTiles(const NodeSite& site) {
  if (absl::Status status = AcceptsConv(site); !status.ok()) return status;
  if (site.layouts.empty()) return absl::OkStatus();
  const conv::Geometry geometry =
      GeometryOf<kOp>(std::get<ConvParams>(site.params), site.input(0).shape,
                      site.input(1).shape, site.output(0).shape);
  if (geometry.rows >= kMinTileRows) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      geometry.rows, " output channels a group are below ", kMinTileRows));
}

template <OpKind kOp>
KernelCost ConvCost(const NodeSite& site) {
  const conv::Geometry geometry =
      GeometryOf<kOp>(std::get<ConvParams>(site.params), site.input(0).shape,
                      site.input(1).shape, site.output(0).shape);
  const double outputs = site.output(0).shape.element_count();
  const double elements = outputs + site.input(0).shape.element_count() +
                          site.input(1).shape.element_count();
  return {.flops = 2 * outputs * geometry.depth() + EpilogueFlops(site),
          .bytes = elements * ByteSize(site.input_dtype(0), 1),
          .efficiency = 0.1};
}

template <typename T, OpKind kOp>
constexpr KernelEntry TilesRow(const char* name) {
  return {.op = kOp,
          .dtypes = All(kDTypeOf<T>),
          .name = name,
          .source = "backends/cuda/kernels/conv.cu",
          .accepts = &AcceptsTiles<kOp>,
          .prepare = &PrepareEpilogue,
          .cost = &ConvCost<kOp>,
          .run = &RunTiles<T, kOp>,
          .caps = {.takes_epilogue = true,
                   .takes_channels_last = kOp == OpKind::kConv}};
}

template <typename T, OpKind kOp>
constexpr KernelEntry DirectRow(const char* name) {
  return {.op = kOp,
          .dtypes = All(kDTypeOf<T>),
          .name = name,
          .source = "backends/cuda/kernels/conv.cu",
          .accepts = &AcceptsConv,
          .prepare = &PrepareEpilogue,
          .cost = &ConvCost<kOp>,
          .run = &RunDirect<T, kOp>,
          .caps = {.takes_epilogue = true,
                   .takes_channels_last = kOp == OpKind::kConv}};
}

constexpr OpKind kConv = OpKind::kConv;
constexpr OpKind kConvTranspose = OpKind::kConvTranspose;

constexpr KernelEntry kRows[] = {
    TilesRow<float, kConv>("conv_f32_tiles"),
    TilesRow<Half, kConv>("conv_f16_tiles"),
    TilesRow<BHalf, kConv>("conv_bf16_tiles"),
    DirectRow<float, kConv>("conv_f32_direct"),
    DirectRow<double, kConv>("conv_f64_direct"),
    DirectRow<Half, kConv>("conv_f16_direct"),
    DirectRow<BHalf, kConv>("conv_bf16_direct"),
    TilesRow<float, kConvTranspose>("conv_transpose_f32_tiles"),
    TilesRow<Half, kConvTranspose>("conv_transpose_f16_tiles"),
    TilesRow<BHalf, kConvTranspose>("conv_transpose_bf16_tiles"),
    DirectRow<float, kConvTranspose>("conv_transpose_f32_direct"),
    DirectRow<double, kConvTranspose>("conv_transpose_f64_direct"),
    DirectRow<Half, kConvTranspose>("conv_transpose_f16_direct"),
    DirectRow<BHalf, kConvTranspose>("conv_transpose_bf16_direct"),
};

}  // namespace

absl::Span<const KernelEntry> ConvRows() { return kRows; }

}  // namespace tensord::cuda
