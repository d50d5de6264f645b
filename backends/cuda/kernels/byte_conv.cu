// ConvInteger and QLinearConv over one to three spatial dimensions, channels in
// groups.
//
//   sum[n, m, o] = sum over c, t of (w[m, c, t] - w_zero) *
//                  (x[n, g * C/G + c, o * stride - pad + t * dilation] -
//                  x_zero)
//   QLinearConv: y = saturate(round((bias[m] + sum) * (x_scale * w_scale /
//                y_scale)) + y_zero)
//
// with g the group of output channel m, and nothing where x is outside its
// extents. x is contiguous [N, C, spatial...], w [M, C/G, kernel...], y [N, M,
// outputs...]; x, w and y are int8 or uint8 each, y another buffer. w's zero
// point and scale are one element or [M], the others' one; ConvInteger's zero
// points may be absent, for 0; the optional bias is [M] of int32. Sums are
// int32 and wrap around; byte_operand.h says how they are rounded.
//
// Tiles and single outputs as in conv.cu.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "backends/api/conv_geometry.h"
#include "backends/api/kernel.h"
#include "backends/cuda/kernels/byte_operand.h"
#include "backends/cuda/kernels/conv_shape.h"
#include "backends/cuda/kernels/launch.h"
#include "backends/cuda/kernels/number.h"
#include "backends/cuda/kernels/product_tile.h"
#include "backends/cuda/kernels/rows.h"

namespace tensord::cuda {
namespace {

// Below this many output channels a group most of a tile would be empty.
constexpr int kMinTileRows = 8;

struct ByteConv {
  ConvShape shape;
  Bytes x, w;
  Bytes x_zero, w_zeros;
  Scales x_scale, w_scales;
  bool has_zero_a_channel, has_scale_a_channel;
  const int32_t* bias;  // null without one
  ByteResult result;

  __device__ int w_zero(int channel) const {
    return w_zeros.at(has_zero_a_channel ? channel : 0);
  }
  __device__ void Store(int64_t at, int channel, uint32_t sum) const {
    if (bias != nullptr) sum += static_cast<uint32_t>(bias[channel]);
    const bool has_scales = result.sums == nullptr;
    result.Store(
        at, sum, has_scales ? x_scale.at(0) : 0.0f,
        has_scales ? w_scales.at(has_scale_a_channel ? channel : 0) : 0.0f);
  }
};

// Rows are a group's output channels, columns the outputs of an image; depth
// counts channels, each with its taps.
__global__ void ConvolveByteTiles(const __grid_constant__ ByteConv p) {
  const ConvShape& shape = p.shape;
  const int x_zero = p.x_zero.at(0);
  for (int64_t index = blockIdx.y; index < shape.images * shape.groups;
       index += gridDim.y) {
    const int64_t image = index / shape.groups;
    const int group = static_cast<int>(index % shape.groups);
    const int64_t x_first = image * shape.x_image +
                            int64_t{group} * shape.channels * shape.x_channel;
    const int first_channel = group * shape.rows;
    MultiplyTile<uint32_t>(
        blockIdx.x, shape.rows, shape.outputs, shape.depth,
        /*a_is_along_depth=*/true, /*b_is_along_depth=*/false,
        [&](int64_t row, int64_t t) {
          const int zero = p.w_zero(first_channel + static_cast<int>(row));
          return static_cast<uint32_t>(
              p.w.at(group * shape.w_group + row * shape.w_row + t) - zero);
        },
        [&](int64_t t, int64_t o) -> uint32_t {
          const auto channel = shape.by_taps.Quotient(static_cast<uint32_t>(t));
          const auto tap = static_cast<uint32_t>(t) - channel * shape.taps;
          const int64_t place =
              InputPlace(shape, OutputPlace(shape, static_cast<uint32_t>(o)),
                         TapPlace(shape, tap));
          if (place < 0) return 0;
          return static_cast<uint32_t>(
              p.x.at(x_first + channel * shape.x_channel + place) - x_zero);
        },
        [&](int64_t row, int64_t o, auto& sums) {
          const int channel = first_channel + static_cast<int>(row);
          const int64_t at =
              image * shape.y_image + channel * shape.y_channel + o;
          constexpr int kCount = sizeof(sums) / sizeof(uint32_t);
#pragma unroll
          for (int j = 0; j < kCount; ++j) p.Store(at + j, channel, sums[j]);
        });
  }
}

// One thread an output.
__global__ void ConvolveBytes(const __grid_constant__ ByteConv p,
                              int64_t count) {
  const ConvShape& shape = p.shape;
  const int x_zero = p.x_zero.at(0);
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += step) {
    const int64_t image = i / shape.y_image;
    const auto channel = static_cast<int>(i % shape.y_image / shape.outputs);
    const int group = channel / shape.rows;
    const int64_t x_first = image * shape.x_image +
                            int64_t{group} * shape.channels * shape.x_channel;
    const int64_t w_first = channel * shape.w_row;
    const int w_zero = p.w_zero(channel);
    const Place output =
        OutputPlace(shape, static_cast<uint32_t>(i % shape.outputs));
    uint32_t sum = 0;
    for (int tap = 0; tap < shape.taps; ++tap) {
      const int64_t place = InputPlace(
          shape, output, TapPlace(shape, static_cast<uint32_t>(tap)));
      if (place < 0) continue;
      for (int c = 0; c < shape.channels; ++c) {
        sum += static_cast<uint32_t>(
            (p.x.at(x_first + c * shape.x_channel + place) - x_zero) *
            (p.w.at(w_first + c * shape.w_channel + tap) - w_zero));
      }
    }
    p.Store(i, channel, sum);
  }
}

absl::Status Run(const KernelCall& call, const ByteConv& conv) {
  constexpr int64_t kMaxGridY = 65535;
  const ConvShape& shape = conv.shape;
  const int64_t count = call.output_layout(0).shape.element_count();
  if (count == 0) return absl::OkStatus();
  if (shape.rows < kMinTileRows) {
    return Launch(call.context, &ConvolveBytes, ForElements(count), conv,
                  count);
  }
  const int64_t tiles = ProductTile::Count(shape.rows, shape.outputs);
  const int64_t problems = std::min(shape.images * shape.groups, kMaxGridY);
  return Launch(
      call.context, &ConvolveByteTiles,
      {dim3(static_cast<unsigned>(tiles), static_cast<unsigned>(problems)),
       dim3(ProductTile::kThreads)},
      conv);
}

ByteConv ConvOf(const KernelCall& call, int x, int w) {
  ByteConv result = {};
  result.shape = ConvShapeOf(
      conv::Resolve(std::get<ConvParams>(call.params),
                    call.input_layout(x).shape, call.input_layout(w).shape,
                    call.output_layout(0).shape),
      /*is_channels_last=*/false, /*is_transposed=*/false);
  return result;
}

template <typename X, typename W>
absl::Status RunConvInteger(const KernelCall& call) {
  ByteConv conv = ConvOf(call, 0, 1);
  conv.x = Bytes(call.input<X>(0));
  conv.w = Bytes(call.input<W>(1));
  if (call.has_input(2)) conv.x_zero = Bytes(call.input<X>(2));
  if (call.has_input(3)) {
    conv.w_zeros = Bytes(call.input<W>(3));
    conv.has_zero_a_channel = call.input_layout(3).shape.element_count() != 1;
  }
  conv.result.sums = call.output<int32_t>(0);
  return Run(call, conv);
}

enum Input { kX, kXScale, kXZero, kW, kWScale, kWZero, kYScale, kYZero, kBias };

template <typename X, typename W, typename Y>
absl::Status RunQLinearConv(const KernelCall& call) {
  const auto is_many = [&](int i) {
    return call.input_layout(i).shape.element_count() != 1;
  };
  ByteConv conv = ConvOf(call, kX, kW);
  conv.x = Bytes(call.input<X>(kX));
  conv.w = Bytes(call.input<W>(kW));
  conv.x_zero = Bytes(call.input<X>(kXZero));
  conv.w_zeros = Bytes(call.input<W>(kWZero));
  conv.x_scale = Scales(call.input<float>(kXScale));
  conv.w_scales = Scales(call.input<float>(kWScale));
  conv.has_zero_a_channel = is_many(kWZero);
  conv.has_scale_a_channel = is_many(kWScale);
  if (call.has_input(kBias)) conv.bias = call.input<int32_t>(kBias);
  conv.result.y = reinterpret_cast<uint8_t*>(call.output<Y>(0));
  conv.result.y_zero = Bytes(call.input<Y>(kYZero));
  conv.result.y_scale = Scales(call.input<float>(kYScale));
  return Run(call, conv);
}

template <int kXInput, int kWInput>
absl::Status AcceptsByteConv(const NodeSite& site) {
  return CheckConv(site, kXInput, kWInput);
}

template <int kXInput, int kWInput>
KernelCost ByteConvCost(const NodeSite& site) {
  const Shape& x = site.input(kXInput).shape;
  const Shape& w = site.input(kWInput).shape;
  const conv::Geometry geometry = conv::Resolve(
      std::get<ConvParams>(site.params), x, w, site.output(0).shape);
  const double outputs = site.output(0).shape.element_count();
  return {.flops = 2 * outputs * geometry.depth(),
          .bytes = outputs * ByteSize(site.output_dtype(0), 1) +
                   x.element_count() + w.element_count(),
          .efficiency = 0.1};
}

template <typename X, typename W>
constexpr KernelEntry IntegerRow(const char* name) {
  constexpr DType kTx = kDTypeOf<X>;
  constexpr DType kTw = kDTypeOf<W>;
  return {.op = OpKind::kConvInteger,
          .dtypes = Takes({kTx, kTw, kTx, kTw}, {DType::kInt32}),
          .name = name,
          .source = "backends/cuda/kernels/byte_conv.cu",
          .accepts = &AcceptsByteConv<0, 1>,
          .cost = &ByteConvCost<0, 1>,
          .run = &RunConvInteger<X, W>};
}

// The last dtype stands for y_zero_point's and the bias's.
template <typename X, typename W, typename Y>
constexpr KernelEntry LinearRow(const char* name) {
  constexpr DType kTx = kDTypeOf<X>;
  constexpr DType kTw = kDTypeOf<W>;
  constexpr DType kFloat = DType::kFloat32;
  return {.op = OpKind::kQLinearConv,
          .dtypes = Takes(
              {kTx, kFloat, kTx, kTw, kFloat, kTw, kFloat, DType::kUndefined},
              {kDTypeOf<Y>}),
          .name = name,
          .source = "backends/cuda/kernels/byte_conv.cu",
          .accepts = &AcceptsByteConv<kX, kW>,
          .cost = &ByteConvCost<kX, kW>,
          .run = &RunQLinearConv<X, W, Y>};
}

#define TENSORD_BYTE_ROWS(X, x, W, w)                               \
  IntegerRow<X, W>("conv_integer_" x "_" w "_tiles"),               \
      LinearRow<X, W, int8_t>("qlinear_conv_" x "_" w "_i8_tiles"), \
      LinearRow<X, W, uint8_t>("qlinear_conv_" x "_" w "_u8_tiles")

constexpr KernelEntry kRows[] = {
    TENSORD_BYTE_ROWS(int8_t, "i8", int8_t, "i8"),
    TENSORD_BYTE_ROWS(int8_t, "i8", uint8_t, "u8"),
    TENSORD_BYTE_ROWS(uint8_t, "u8", int8_t, "i8"),
    TENSORD_BYTE_ROWS(uint8_t, "u8", uint8_t, "u8"),
};

}  // namespace

absl::Span<const KernelEntry> ByteConvRows() { return kRows; }

}  // namespace tensord::cuda
