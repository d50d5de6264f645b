// MatMul and Gemm of at most 16 rows by constant weights of 16-bit floats: what
// a net does for one request. The product waits for its weights, so all is
// about reading them once, at the memory's rate:
//
//   y[r, c] = alpha * sum over t of a[r, t] * b[t, c] + beta * addend[r, c]
//
// a is [rows, K], contiguous, its dimensions before the last taken as one; the
// weights [K, N], or Gemm's [N, K]; y is none of the inputs' buffers. Sums are
// float32 and rounded once, behind the epilogue.
//
// The weights are packed ahead in the order in which the tensor cores' lanes
// take them, so that a warp reads 1 KiB in two instructions whatever order they
// came in, and each byte is used once. A block has 16 columns; its warps take
// turns along K, each with several reads under way, and add up at the end.
//
// A block asks for its first weights before the kernel ahead of it is done, and
// lets the next one do so: along a chain of such products the memory never
// waits for a launch. Nothing but weights is read before that.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/api/backend.h"
#include "backends/api/kernel.h"
#include "backends/api/matmul_geometry.h"
#include "backends/api/packed_weights.h"
#include "backends/cuda/kernels/apply_epilogue.h"
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

constexpr int kMaxRows = 16;
constexpr int kWarps = 8;
constexpr int kColumns = 16;  // of a block
constexpr int kDepth = 32;    // of K, of two products of a warp
constexpr int kAhead = 4;     // steps of kDepth that are under way

// What a lane has of [16 columns, 32 of K]: column g in halves 0 to 7, column
// g + 8 in 8 to 15, each at K = 8 * t to 8 * t + 7, with g = lane / 4 and t =
// lane % 4. Which of K a lane holds is free as long as the rows do the same.
constexpr int kLaneHalves = 16;
constexpr int64_t kTileHalves = 32 * kLaneHalves;

struct FewRows {
  int m, n, k;
  int steps;  // of kDepth
  float alpha, beta;
  int64_t addend_row, addend_column;  // strides; 0 where it broadcasts
};

struct Weights {
  uint4 part[2];  // columns g and g + 8
};
__device__ inline Weights LoadWeights(const uint4* packed, int64_t tile) {
  const uint4* own = packed + tile * (kTileHalves / 8) + threadIdx.x % 32;
  return {{__ldcs(own), __ldcs(own + 32)}};
}

// A lane's 8 neighbours of a row, zeros past the end of it or of the rows.
template <typename T>
__device__ inline uint4 LoadRow(const T* a, const FewRows& shape, int row,
                                int t) {
  if (row >= shape.m || t >= shape.k) return {0, 0, 0, 0};
  return *reinterpret_cast<const uint4*>(a + int64_t{row} * shape.k + t);
}

template <typename T>
__device__ inline void MultiplyStep(const Weights& weights, const uint4& row,
                                    float (&sums)[4]) {
  const auto& [g, g8] = weights.part;
  Multiply16x8x16<T>(sums, {g.x, g8.x, g.y, g8.y}, {row.x, row.y});
  Multiply16x8x16<T>(sums, {g.z, g8.z, g.w, g8.w}, {row.z, row.w});
}

// kRowTiles: of 8 rows.
template <typename T, int kRowTiles>
__global__ void __launch_bounds__(32 * kWarps)
    MultiplyFewRows(const T* a, const uint4* packed, const T* addend, T* y,
                    const FewRows shape,
                    const __grid_constant__ DeviceEpilogue epilogue) {
  // By warp, row and column.
  __shared__ float parts[kWarps][8 * kRowTiles][kColumns + 1];
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int64_t first_tile = int64_t{blockIdx.x} * shape.steps;

  Weights weights[kAhead];
#pragma unroll
  for (int s = 0; s < kAhead; ++s) {
    const int step = warp + s * kWarps;
    if (step < shape.steps) weights[s] = LoadWeights(packed, first_tile + step);
  }
  const int own_row = static_cast<int>(threadIdx.x) / kColumns;
  const int own_column = static_cast<int>(blockIdx.x) * kColumns +
                         static_cast<int>(threadIdx.x) % kColumns;
  if (own_row < shape.m && own_column < shape.n) {
    PrefetchEpilogue<T>(epilogue, int64_t{own_row} * shape.n + own_column);
    if (addend != nullptr) {
      PrefetchToCache(addend + own_row * shape.addend_row +
                      own_column * shape.addend_column);
    }
  }
  LetKernelBehindBegin();
  WaitForKernelAhead();

  uint4 rows[kAhead][kRowTiles];
  const auto load_rows = [&](int s, int step) {
#pragma unroll
    for (int r = 0; r < kRowTiles; ++r) {
      rows[s][r] =
          LoadRow(a, shape, 8 * r + lane / 4, step * kDepth + lane % 4 * 8);
    }
  };
#pragma unroll
  for (int s = 0; s < kAhead; ++s) load_rows(s, warp + s * kWarps);

  float sums[kRowTiles][4] = {};
  for (int first = warp; first < shape.steps; first += kAhead * kWarps) {
#pragma unroll
    for (int s = 0; s < kAhead; ++s) {
      const int step = first + s * kWarps;
      if (step >= shape.steps) break;
#pragma unroll
      for (int r = 0; r < kRowTiles; ++r) {
        MultiplyStep<T>(weights[s], rows[s][r], sums[r]);
      }
      const int next = step + kAhead * kWarps;
      if (next < shape.steps) {
        weights[s] = LoadWeights(packed, first_tile + next);
        load_rows(s, next);
      }
    }
  }

#pragma unroll
  for (int r = 0; r < kRowTiles; ++r) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      parts[warp][8 * r + lane % 4 * 2 + i % 2][lane / 4 + i / 2 * 8] =
          sums[r][i];
    }
  }
  __syncthreads();
  // A thread an output: there are no more than 16 rows.
  static_assert(kMaxRows * kColumns <= 32 * kWarps);
  if (own_row >= shape.m || own_column >= shape.n) return;
  float sum[1] = {0};
#pragma unroll
  for (int w = 0; w < kWarps; ++w) {
    sum[0] += parts[w][own_row][threadIdx.x % kColumns];
  }
  sum[0] *= shape.alpha;
  if (addend != nullptr) {
    sum[0] += shape.beta * ToCompute(addend[own_row * shape.addend_row +
                                            own_column * shape.addend_column]);
  }
  const int64_t at = int64_t{own_row} * shape.n + own_column;
  ApplyEpilogue<T>(epilogue, at, sum);
  y[at] = Convert<T>(sum[0]);
}

// Weights [K, N] or [N, K] (transposed).
std::vector<std::byte> PackedWeights(const uint16_t* b, int64_t k, int64_t n,
                                     bool is_transposed) {
  const int64_t steps = (k + kDepth - 1) / kDepth;
  const int64_t tiles = (n + kColumns - 1) / kColumns * steps;
  std::vector<std::byte> bytes(tiles * kTileHalves * sizeof(uint16_t));
  auto* packed = reinterpret_cast<uint16_t*>(bytes.data());
  for (int64_t tile = 0; tile < tiles; ++tile) {
    for (int64_t i = 0; i < kTileHalves; ++i) {
      const int64_t lane = i / 8 % 32;
      const int64_t column =
          tile / steps * kColumns + lane / 4 + i / (kTileHalves / 2) * 8;
      const int64_t t = tile % steps * kDepth + lane % 4 * 8 + i % 8;
      if (column >= n || t >= k) continue;
      packed[tile * kTileHalves + i] =
          b[is_transposed ? column * k + t : t * n + column];
    }
  }
  return bytes;
}

struct FewRowsState final : EpilogueState, UsesPackedWeights {
  explicit FewRowsState(const NodeSite& site) : EpilogueState(site) {}
  void AppendPacked(Packed& to) const override { to.push_back(weights); }

  std::shared_ptr<const Storage> weights;
};

bool IsTransposed(const NodeSite& site) {
  const auto* gemm = std::get_if<GemmParams>(&site.params);
  return gemm != nullptr && gemm->transpose_b;
}

absl::StatusOr<std::unique_ptr<KernelState>> PrepareFewRows(
    const NodeSite& site, Device& device) {
  auto state = std::make_unique<FewRowsState>(site);
  const Shape& b = site.input(1).shape;
  const bool is_transposed = IsTransposed(site);
  const int64_t k = b[is_transposed ? 1 : 0];
  const int64_t n = b[is_transposed ? 0 : 1];
  auto weights = SharedWeights(
      device, HostBytes(site, 1),
      absl::StrCat("few rows ", k, " ", n, " ", is_transposed), [&] {
        return PackedWeights(
            reinterpret_cast<const uint16_t*>(site.host_constant(1)), k, n,
            is_transposed);
      });
  if (!weights.ok()) return weights.status();
  state->weights = *std::move(weights);
  return state;
}

absl::Status AcceptsFewRows(const NodeSite& site) {
  if (absl::Status status = AcceptsEpilogue(site); !status.ok()) return status;
  const auto* gemm = std::get_if<GemmParams>(&site.params);
  if (gemm != nullptr && gemm->transpose_a) {
    return absl::FailedPreconditionError("A is transposed");
  }
  if (site.layouts.empty()) return absl::OkStatus();
  if (site.host_constant(1) == nullptr) {
    return absl::FailedPreconditionError("the weights are not constant");
  }
  const Shape& a = site.input(0).shape;
  const Shape& b = site.input(1).shape;
  if (a.rank() < 1 || b.rank() != 2) {
    return absl::FailedPreconditionError(
        absl::StrCat("the weights have ", b.rank(), " dimensions, not 2"));
  }
  const int64_t k = a[a.rank() - 1];
  const int64_t rows = k == 0 ? 0 : a.element_count() / k;
  if (rows < 1 || rows > kMaxRows) {
    return absl::FailedPreconditionError(
        absl::StrCat(rows, " rows are not 1 to ", kMaxRows));
  }
  const int64_t columns = k == 0 ? 0 : b.element_count() / k;
  if (columns < 1) return absl::FailedPreconditionError("there are no columns");
  if (k % 8 != 0 || site.input(0).offset % 8 != 0 ||
      std::max(k, columns) >= INT32_MAX / 2) {
    return absl::FailedPreconditionError(
        absl::StrCat("rows of ", k, " elements from ", site.input(0).offset,
                     " on are not read 8 at a time"));
  }
  return absl::OkStatus();
}

KernelCost FewRowsCost(const NodeSite& site) {
  const double outputs = site.output(0).shape.element_count();
  const double weights = site.input(1).shape.element_count();
  const Shape& a = site.input(0).shape;
  return {.flops = 2 * outputs * a[a.rank() - 1] + EpilogueFlops(site),
          .bytes = (weights + outputs + a.element_count()) *
                   ByteSize(site.input_dtype(0), 1),
          .efficiency = 0.5};
}

template <typename T>
absl::Status RunFewRows(const KernelCall& call) {
  const auto& state = static_cast<const FewRowsState&>(*call.state);
  const Shape& a = call.input_layout(0).shape;
  const Shape& y = call.output_layout(0).shape;
  FewRows shape = {};
  shape.k = static_cast<int>(a[a.rank() - 1]);
  shape.m = static_cast<int>(a.element_count() / shape.k);
  shape.n = static_cast<int>(y.element_count() / shape.m);
  shape.steps = (shape.k + kDepth - 1) / kDepth;
  shape.alpha = 1;
  const T* addend = nullptr;
  const auto* gemm = std::get_if<GemmParams>(&call.params);
  if (gemm != nullptr) {
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
  const auto blocks =
      static_cast<unsigned>((shape.n + kColumns - 1) / kColumns);
  return LaunchEarly(
      call.context,
      shape.m <= 8 ? &MultiplyFewRows<T, 1> : &MultiplyFewRows<T, 2>,
      {dim3(blocks), dim3(32 * kWarps)}, call.input<T>(0),
      reinterpret_cast<const uint4*>(state.weights->address()), addend,
      call.output<T>(0), shape, EpilogueOf(call));
}

template <typename T>
constexpr KernelEntry Row(OpKind op, const char* name) {
  return {.op = op,
          .dtypes = All(kDTypeOf<T>),
          .name = name,
          .source = "backends/cuda/kernels/few_rows.cu",
          .accepts = &AcceptsFewRows,
          .prepare = &PrepareFewRows,
          .cost = &FewRowsCost,
          .run = &RunFewRows<T>,
          .caps = {.takes_epilogue = true}};
}

constexpr KernelEntry kRows[] = {
    Row<Half>(OpKind::kMatMul, "matmul_f16_few_rows"),
    Row<BHalf>(OpKind::kMatMul, "matmul_bf16_few_rows"),
    Row<Half>(OpKind::kGemm, "gemm_f16_few_rows"),
    Row<BHalf>(OpKind::kGemm, "gemm_bf16_few_rows"),
};

}  // namespace

absl::Span<const KernelEntry> FewRowsRows() { return kRows; }

}  // namespace tensord::cuda
