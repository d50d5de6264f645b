// MatMul, Gemm and Conv of 16-bit floats by constant weights, on tensor cores:
//
//   MatMul, Gemm: y[r, c] = alpha * sum over t of a[r, t] * b[t, c] + beta *
//                 addend[r, c]
//   Conv: y[n, o, m] = bias[m] + sum over c, t of
//         w[m, c, t] * x[n, o * stride - pad + t * dilation, c]
//
// a is [rows, K], its dimensions before the last taken as one, b [K, N], or
// Gemm's [N, K]; x and y have their channels last, along one or two dimensions,
// all in one group. All are contiguous; y is none of the inputs' buffers. Sums
// are float32 and rounded once, behind the epilogue.
//
// For tiles of y that are too few for a library's kernels to fill the device:
// what a net has at a batch of 1. The warps of a block share a tile and take
// turns along K; where K is short, some take another tile. A warp reads both
// factors from global memory as its lanes take them, 16 bytes each: the weights
// are packed ahead for that, and of the rows each lane has 8 neighbours. So
// there is no barrier but that before the warps' sums are added up. As in
// few_rows.cu, the first weights are asked for before the kernel ahead is done.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/api/backend.h"
#include "backends/api/conv_geometry.h"
#include "backends/api/kernel.h"
#include "backends/api/packed_weights.h"
#include "backends/cuda/kernels/apply_epilogue.h"
#include "backends/cuda/kernels/conv_shape.h"
#include "backends/cuda/kernels/early_launch.h"
#include "backends/cuda/kernels/epilogue.h"
#include "backends/cuda/kernels/launch.h"
#include "backends/cuda/kernels/mma.h"
#include "backends/cuda/kernels/number.h"
#include "backends/cuda/kernels/pack.h"
#include "backends/cuda/kernels/rows.h"
#include "backends/cuda/shared_weights.h"

namespace tensord::cuda {
namespace {

constexpr int kWarps = 8;
constexpr int kThreads = 32 * kWarps;
constexpr int kDepth = 32;   // of K, of a step: two products of tensor cores
constexpr int kColumns = 8;  // of a product

// What a lane has of [8 columns, 32 of K]: column lane / 4 at K = 8 * (lane %
// 4) and the 7 behind.
constexpr int64_t kTileHalves = 32 * 8;

struct TensorShape {
  int rows, n;
  int channels;       // K of one tap; all of it for a matrix
  int channel_steps;  // of kDepth
  int steps;
  int warps_along_depth;
  float alpha, beta;
  int64_t addend_row, addend_column;  // strides; 0 where it broadcasts
  // Conv alone: rows are outputs of images.
  ConvAxis height, width;
  int64_t x_image;
  Divisor<uint32_t> by_channel_steps, by_kernel, by_width, by_height;
};

// The rows of a lane, lane / 4 + 8 * i for i below kCount, and where they begin
// in the input.
template <typename T, int kCount, bool kIsMatrix>
struct LaneRows {
  const T* first[kCount];  // of a matrix the row, else the image; null past all
  int h[kCount], w[kCount];  // of the window's first tap

  __device__ LaneRows(const T* x, const TensorShape& shape, int first_row) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const int row =
          first_row + static_cast<int>(threadIdx.x) % 32 / 4 + 8 * i;
      first[i] = nullptr;
      if (row >= shape.rows) continue;
      if constexpr (kIsMatrix) {
        first[i] = x + int64_t{row} * shape.channels;
      } else {
        const uint32_t line =
            shape.by_width.Quotient(static_cast<uint32_t>(row));
        const uint32_t image = shape.by_height.Quotient(line);
        first[i] = x + image * shape.x_image;
        h[i] = static_cast<int>(line - image * shape.by_height.value()) *
                   shape.height.stride -
               shape.height.pad;
        w[i] = (row - static_cast<int>(line * shape.by_width.value())) *
                   shape.width.stride -
               shape.width.pad;
      }
    }
  }

  // 8 neighbours of each at a step, zeros outside.
  __device__ void Load(const TensorShape& shape, int step,
                       uint4 (&values)[kCount]) const {
    const auto tap = static_cast<int>(
        kIsMatrix
            ? 0
            : shape.by_channel_steps.Quotient(static_cast<uint32_t>(step)));
    const int channel = (step - tap * shape.channel_steps) * kDepth +
                        static_cast<int>(threadIdx.x) % 4 * 8;
    int tap_h = 0;
    int tap_w = 0;
    if constexpr (!kIsMatrix) {
      const auto line = static_cast<int>(
          shape.by_kernel.Quotient(static_cast<uint32_t>(tap)));
      tap_h = line * shape.height.dilation;
      tap_w = (tap - line * shape.width.kernel) * shape.width.dilation;
    }
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      values[i] = uint4{0, 0, 0, 0};
      if (first[i] == nullptr || channel >= shape.channels) continue;
      const T* source = first[i] + channel;
      if constexpr (!kIsMatrix) {
        const int row = h[i] + tap_h;
        const int column = w[i] + tap_w;
        if (row < 0 || row >= shape.height.input || column < 0 ||
            column >= shape.width.input) {
          continue;
        }
        source += (int64_t{row} * shape.width.input + column) * shape.channels;
      }
      values[i] = *reinterpret_cast<const uint4*>(source);
    }
  }
};

// A tile has 16 * kRowTiles rows and 8 * kColumnTiles columns.
template <typename T, int kRowTiles, int kColumnTiles, bool kIsMatrix>
__global__ void __launch_bounds__(kThreads, kRowTiles == 2 ? 2 : 1)
    MultiplyOnTensorCores(const T* x, const uint4* packed, const T* addend,
                          T* y, const __grid_constant__ TensorShape shape,
                          const __grid_constant__ DeviceEpilogue epilogue) {
  constexpr int kTileRows = 16 * kRowTiles;
  constexpr int kTileColumns = kColumns * kColumnTiles;
  constexpr int kPack = 4;
  __shared__ float parts[kWarps][16][kTileColumns + kPack];
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int own_tiles = kWarps / shape.warps_along_depth;  // of the block
  const int column_tiles = (shape.n + kTileColumns - 1) / kTileColumns;
  const int first_tile = static_cast<int>(blockIdx.x) * own_tiles;
  const int tile = first_tile + warp / shape.warps_along_depth;
  const int first_row = tile / column_tiles * kTileRows;
  const int first_column = tile % column_tiles * kTileColumns;
  const int first_step = warp % shape.warps_along_depth;

  uint4 weights[kColumnTiles];
  const auto load_weights = [&](int step) {
#pragma unroll
    for (int j = 0; j < kColumnTiles; ++j) {
      const int64_t at =
          int64_t{first_column / kColumns + j} * shape.steps + step;
      weights[j] = first_column + j * kColumns < shape.n
                       ? packed[at * (kTileHalves / 8) + lane]
                       : uint4{0, 0, 0, 0};
    }
  };
  if (first_step < shape.steps) load_weights(first_step);
  // A line of the cache has more elements than a lane's share of a row.
  if (first_row + lane < shape.rows && warp % shape.warps_along_depth == 0) {
    PrefetchEpilogue<T>(epilogue,
                        int64_t{first_row + lane} * shape.n + first_column);
    if (addend != nullptr) {
      PrefetchToCache(addend + (first_row + lane) * shape.addend_row +
                      first_column * shape.addend_column);
    }
  }
  LetKernelBehindBegin();
  WaitForKernelAhead();

  const LaneRows<T, 2 * kRowTiles, kIsMatrix> rows(x, shape, first_row);
  uint4 values[2 * kRowTiles];
  if (first_step < shape.steps) rows.Load(shape, first_step, values);
  float sums[kRowTiles][kColumnTiles][4] = {};
  for (int step = first_step; step < shape.steps;
       step += shape.warps_along_depth) {
    uint4 now[2 * kRowTiles];
    uint4 weights_now[kColumnTiles];
#pragma unroll
    for (int i = 0; i < 2 * kRowTiles; ++i) now[i] = values[i];
#pragma unroll
    for (int j = 0; j < kColumnTiles; ++j) weights_now[j] = weights[j];
    // The next step's are on their way while this one's are multiplied.
    const int next = step + shape.warps_along_depth;
    if (next < shape.steps) {
      load_weights(next);
      rows.Load(shape, next, values);
    }
#pragma unroll
    for (int i = 0; i < kRowTiles; ++i) {
      const uint4& g = now[2 * i];
      const uint4& g8 = now[2 * i + 1];
#pragma unroll
      for (int j = 0; j < kColumnTiles; ++j) {
        const uint4& b = weights_now[j];
        Multiply16x8x16<T>(sums[i][j], {g.x, g8.x, g.y, g8.y}, {b.x, b.y});
        Multiply16x8x16<T>(sums[i][j], {g.z, g8.z, g.w, g8.w}, {b.z, b.w});
      }
    }
  }

#pragma unroll
  for (int i = 0; i < kRowTiles; ++i) {
#pragma unroll
    for (int j = 0; j < kColumnTiles; ++j) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        parts[warp][lane / 4 + e / 2 * 8][j * kColumns + lane % 4 * 2 + e % 2] =
            sums[i][j][e];
      }
    }
    __syncthreads();
    constexpr int kPacksPerRow = kTileColumns / kPack;
#pragma unroll 1
    for (int p = static_cast<int>(threadIdx.x);
         p < own_tiles * 16 * kPacksPerRow; p += kThreads) {
      const int own = p / (16 * kPacksPerRow);
      const int part_row = p / kPacksPerRow % 16;
      const int part_column = p % kPacksPerRow * kPack;
      const int row =
          (first_tile + own) / column_tiles * kTileRows + 16 * i + part_row;
      const int column =
          (first_tile + own) % column_tiles * kTileColumns + part_column;
      if (row >= shape.rows || column >= shape.n) continue;
      float sum[kPack] = {};
      for (int w = 0; w < shape.warps_along_depth; ++w) {
#pragma unroll
        for (int e = 0; e < kPack; ++e) {
          sum[e] += parts[own * shape.warps_along_depth + w][part_row]
                         [part_column + e];
        }
      }
#pragma unroll
      for (int e = 0; e < kPack; ++e) {
        sum[e] *= shape.alpha;
        if (addend == nullptr) continue;
        sum[e] +=
            shape.beta * ToCompute(addend[row * shape.addend_row +
                                          (column + e) * shape.addend_column]);
      }
      const int64_t at = int64_t{row} * shape.n + column;
      ApplyEpilogue<T>(epilogue, at, sum);
      Pack<T, kPack> pack;
#pragma unroll
      for (int e = 0; e < kPack; ++e) pack.at[e] = Convert<T>(sum[e]);
      StorePack(y + at, pack);
    }
    __syncthreads();
  }
}

// Of [N, taps, C] what lies at its column, tap and channel in `w`, by strides.
struct WeightStrides {
  int64_t column, tap, channel;
};
std::vector<std::byte> PackedWeights(const uint16_t* w, int64_t n, int64_t taps,
                                     int64_t channels, WeightStrides strides) {
  const int64_t channel_steps = (channels + kDepth - 1) / kDepth;
  const int64_t steps = taps * channel_steps;
  const int64_t tiles = (n + kColumns - 1) / kColumns * steps;
  std::vector<std::byte> bytes(tiles * kTileHalves * sizeof(uint16_t));
  auto* packed = reinterpret_cast<uint16_t*>(bytes.data());
  for (int64_t tile = 0; tile < tiles; ++tile) {
    const int64_t tap = tile % steps / channel_steps;
    const int64_t first = tile % channel_steps * kDepth;
    for (int64_t i = 0; i < kTileHalves; ++i) {
      const int64_t column = tile / steps * kColumns + i / kDepth;
      const int64_t channel = first + i % kDepth;
      if (column >= n || channel >= channels) continue;
      packed[tile * kTileHalves + i] =
          w[column * strides.column + tap * strides.tap +
            channel * strides.channel];
    }
  }
  return bytes;
}

struct TensorState final : EpilogueState, UsesPackedWeights {
  explicit TensorState(const NodeSite& site) : EpilogueState(site) {}
  void AppendPacked(Packed& to) const override { to.push_back(weights); }

  std::shared_ptr<const Storage> weights;
};

conv::Geometry ConvGeometryOf(const OpParams& params, const Shape& x,
                              const Shape& w, const Shape& y) {
  return conv::Resolve(std::get<ConvParams>(params), x, w, y);
}

bool IsTransposed(const OpParams& params) {
  const auto* gemm = std::get_if<GemmParams>(&params);
  return gemm != nullptr && gemm->transpose_b;
}

absl::StatusOr<std::unique_ptr<KernelState>> PrepareTensor(const NodeSite& site,
                                                           Device& device) {
  auto state = std::make_unique<TensorState>(site);
  const Shape& w = site.input(1).shape;
  int64_t n = w[1], taps = 1, channels = w[0];
  WeightStrides strides = {1, 0, n};
  if (site.op == OpKind::kConv) {
    n = w[0];
    taps = w.ElementCount(2, w.rank());
    channels = w[1];
    strides = {channels * taps, 1, taps};
  } else if (IsTransposed(site.params)) {
    std::swap(n, channels);
    strides = {channels, 0, 1};
  }
  auto weights = SharedWeights(
      device, HostBytes(site, 1),
      absl::StrCat("tensor ", n, " ", taps, " ", channels, " ",
                   strides.channel),
      [&] {
        return PackedWeights(
            reinterpret_cast<const uint16_t*>(site.host_constant(1)), n, taps,
            channels, strides);
      });
  if (!weights.ok()) return weights.status();
  state->weights = *std::move(weights);
  return state;
}

// What both forms need of K and N.
absl::Status CheckFactors(const NodeSite& site, int64_t rows, int64_t k,
                          int64_t n) {
  constexpr int64_t kMost = int64_t{1} << 30;
  if (rows < 1 || k < 1 || n < 1 || rows > kMost || k > kMost || n > kMost) {
    return absl::FailedPreconditionError(
        absl::StrCat("an extent of [", rows, ", ", k, ", ", n,
                     "] is outside [1, ", kMost, "]"));
  }
  if (k % 8 != 0 || n % 8 != 0 || site.input(0).offset % 8 != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(k, " and ", n, " channels from element ",
                     site.input(0).offset, " on are not read 8 at a time"));
  }
  if (site.host_constant(1) == nullptr) {
    return absl::FailedPreconditionError("the weights are not constant");
  }
  return absl::OkStatus();
}

absl::Status AcceptsMatrix(const NodeSite& site) {
  if (absl::Status status = AcceptsEpilogue(site); !status.ok()) return status;
  const auto* gemm = std::get_if<GemmParams>(&site.params);
  if (gemm != nullptr && gemm->transpose_a) {
    return absl::FailedPreconditionError("A is transposed");
  }
  if (site.layouts.empty()) return absl::OkStatus();
  const Shape& a = site.input(0).shape;
  const Shape& b = site.input(1).shape;
  if (a.rank() < 1 || b.rank() != 2) {
    return absl::FailedPreconditionError(
        absl::StrCat("the weights have ", b.rank(), " dimensions, not 2"));
  }
  const int64_t k = a[a.rank() - 1];
  if (k == 0)
    return absl::FailedPreconditionError("there is nothing to add up");
  return CheckFactors(site, a.element_count() / k, k, b.element_count() / k);
}

absl::Status AcceptsImage(const NodeSite& site) {
  if (absl::Status status = AcceptsEpilogue(site); !status.ok()) return status;
  if (absl::Status status = CheckConv(site, 0, 1); !status.ok()) return status;
  const auto& params = std::get<ConvParams>(site.params);
  if (!params.channels_last || params.group != 1) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the channels are not last, or in ", params.group, " groups, not 1"));
  }
  if (site.layouts.empty()) return absl::OkStatus();
  const conv::Geometry geometry =
      ConvGeometryOf(site.params, site.input(0).shape, site.input(1).shape,
                     site.output(0).shape);
  if (geometry.axes[0].input != 1 || geometry.axes[0].output != 1 ||
      geometry.axes[0].window.kernel != 1) {
    return absl::FailedPreconditionError("it has three dimensions");
  }
  return CheckFactors(site, geometry.images * geometry.outputs(),
                      geometry.channels, geometry.rows);
}

KernelCost TensorCost(const NodeSite& site) {
  const double outputs = site.output(0).shape.element_count();
  const Shape& w = site.input(1).shape;
  const double weights = w.element_count();
  const int64_t n = site.op == OpKind::kConv    ? w[0]
                    : IsTransposed(site.params) ? w[0]
                                                : w[1];
  constexpr double kTensorCores = 10;  // to one of the other units
  return {
      .flops = 2 * outputs * weights / static_cast<double>(n) / kTensorCores +
               EpilogueFlops(site),
      .bytes = (outputs + weights + site.input(0).shape.element_count()) *
               ByteSize(site.input_dtype(0), 1),
      .efficiency = 0.3};
}

template <typename T, bool kIsMatrix>
absl::Status RunTiles(const KernelCall& call, TensorShape shape,
                      const T* addend) {
  const auto& state = static_cast<const TensorState&>(*call.state);
  shape.warps_along_depth = kWarps;
  while (shape.warps_along_depth > shape.steps) shape.warps_along_depth /= 2;
  const auto blocks_of = [&](int row_tiles, int column_tiles) -> int64_t {
    const int64_t rows = 16 * row_tiles;
    const int64_t columns = kColumns * column_tiles;
    const int64_t tiles =
        (shape.rows + rows - 1) / rows * ((shape.n + columns - 1) / columns);
    const int own_tiles = kWarps / shape.warps_along_depth;
    return (tiles + own_tiles - 1) / own_tiles;
  };
  // Large tiles read less; small ones fill the device where there are few.
#ifdef TENSORD_CUDA_EMULATION
  constexpr int64_t kManyBlocks = 2;  // so that tests come by both
#else
  constexpr int64_t kManyBlocks = 132;
#endif
  const bool is_large = blocks_of(4, 4) >= kManyBlocks;
  const int64_t blocks = is_large ? blocks_of(4, 4) : blocks_of(2, 2);
  return LaunchEarly(call.context,
                     is_large ? &MultiplyOnTensorCores<T, 4, 4, kIsMatrix>
                              : &MultiplyOnTensorCores<T, 2, 2, kIsMatrix>,
                     {dim3(static_cast<unsigned>(blocks)), dim3(kThreads)},
                     call.input<T>(0),
                     reinterpret_cast<const uint4*>(state.weights->address()),
                     addend, call.output<T>(0), shape, EpilogueOf(call));
}

template <typename T>
absl::Status RunMatrix(const KernelCall& call) {
  const Shape& a = call.input_layout(0).shape;
  TensorShape shape = {};
  shape.channels = static_cast<int>(a[a.rank() - 1]);
  shape.rows = static_cast<int>(a.element_count() / shape.channels);
  shape.n = static_cast<int>(call.output_layout(0).shape.element_count() /
                             shape.rows);
  shape.channel_steps = (shape.channels + kDepth - 1) / kDepth;
  shape.steps = shape.channel_steps;
  shape.alpha = 1;
  const T* addend = nullptr;
  if (const auto* gemm = std::get_if<GemmParams>(&call.params)) {
    shape.alpha = gemm->alpha;
    if (call.has_input(2) && gemm->beta != 0) {
      const Shape& c = call.input_layout(2).shape;
      const int rank = c.rank();
      addend = call.input<T>(2);
      shape.beta = gemm->beta;
      shape.addend_column = rank >= 1 && c[rank - 1] != 1 ? 1 : 0;
      shape.addend_row = rank == 2 && c[0] != 1 ? c[1] : 0;
    }
  }
  return RunTiles<T, true>(call, shape, addend);
}

template <typename T>
absl::Status RunImage(const KernelCall& call) {
  const ConvShape conv = ConvShapeOf(
      ConvGeometryOf(call.params, call.input_layout(0).shape,
                     call.input_layout(1).shape, call.output_layout(0).shape),
      /*is_channels_last=*/true, /*is_transposed=*/false);
  TensorShape shape = {};
  shape.rows = static_cast<int>(conv.images * conv.outputs);
  shape.n = conv.rows;
  shape.channels = conv.channels;
  shape.channel_steps = (shape.channels + kDepth - 1) / kDepth;
  shape.steps = shape.channel_steps * conv.taps;
  shape.alpha = 1;
  shape.beta = 1;
  shape.addend_column = 1;
  shape.height = conv.axes[1];
  shape.width = conv.axes[2];
  shape.x_image = conv.x_image;
  shape.by_channel_steps = Divisor<uint32_t>(shape.channel_steps);
  shape.by_kernel = Divisor<uint32_t>(shape.width.kernel);
  shape.by_width = Divisor<uint32_t>(shape.width.output);
  shape.by_height = Divisor<uint32_t>(shape.height.output);
  const T* bias = call.has_input(2) ? call.input<T>(2) : nullptr;
  // One tap that sees each input once: the images are a matrix.
  const bool is_matrix = conv.taps == 1 && conv.inputs == conv.outputs &&
                         shape.height.stride == 1 && shape.width.stride == 1 &&
                         shape.height.pad == 0 && shape.width.pad == 0;
  return is_matrix ? RunTiles<T, true>(call, shape, bias)
                   : RunTiles<T, false>(call, shape, bias);
}

template <typename T>
constexpr KernelEntry MatrixRow(OpKind op, const char* name) {
  return {.op = op,
          .dtypes = All(kDTypeOf<T>),
          .name = name,
          .source = "backends/cuda/kernels/tensor_products.cu",
          .accepts = &AcceptsMatrix,
          .prepare = &PrepareTensor,
          .cost = &TensorCost,
          .run = &RunMatrix<T>,
          .caps = {.takes_epilogue = true}};
}

template <typename T>
constexpr KernelEntry ConvRow(const char* name) {
  return {.op = OpKind::kConv,
          .dtypes = All(kDTypeOf<T>),
          .name = name,
          .source = "backends/cuda/kernels/tensor_products.cu",
          .accepts = &AcceptsImage,
          .prepare = &PrepareTensor,
          .cost = &TensorCost,
          .run = &RunImage<T>,
          .caps = {.takes_epilogue = true, .takes_channels_last = true}};
}

constexpr KernelEntry kRows[] = {
    MatrixRow<Half>(OpKind::kMatMul, "matmul_f16_tensor"),
    MatrixRow<BHalf>(OpKind::kMatMul, "matmul_bf16_tensor"),
    MatrixRow<Half>(OpKind::kGemm, "gemm_f16_tensor"),
    MatrixRow<BHalf>(OpKind::kGemm, "gemm_bf16_tensor"),
    ConvRow<Half>("conv_f16_tensor"),
    ConvRow<BHalf>("conv_bf16_tensor"),
};

}  // namespace

absl::Span<const KernelEntry> TensorProductRows() { return kRows; }

}  // namespace tensord::cuda
