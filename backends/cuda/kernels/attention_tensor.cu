// Attention of 16-bit floats with heads of 32, 64 or 128 elements, on tensor
// cores: the formula, layouts and aliasing of attention.cu, without the fourth
// output.
//
// A warp has 16 queries of one head. The block goes along the keys in chunks,
// which are on their way to shared memory while the chunk before is worked on.
// A warp's scores of a chunk stay in its registers and become the factors of
// the values there: the layouts of a product's result and of its left factor
// are the same. Weights are rounded to 16 bits for that, their sum is not.

#include <math.h>

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/api/kernel.h"
#include "backends/cuda/kernels/attention_operands.h"
#include "backends/cuda/kernels/early_launch.h"
#include "backends/cuda/kernels/launch.h"
#include "backends/cuda/kernels/mma.h"
#include "backends/cuda/kernels/number.h"
#include "backends/cuda/kernels/pack.h"
#include "backends/cuda/kernels/rows.h"

namespace tensord::cuda {
namespace {

constexpr int kWarpQueries = 16;
constexpr float kLog2E = 1.44269504088896341f;

// Keys and values of a chunk, twice. Rows are padded so that those that are
// read at once are in different banks.
template <typename T, int kSize>
struct Chunks {
  static constexpr int kKeys = kSize > 64 ? 32 : 64;
  static constexpr int kStride = kSize + 8;
  alignas(16) T k[2][kKeys * kStride];
  alignas(16) T v[2][kKeys * kStride];
};

// Starts the copy of a chunk; rows past the last key are zeros.
template <typename T, int kSize>
__device__ inline void FetchChunk(const AttentionOperands<T>& o, int batch,
                                  int key_head, int first_key, int buffer,
                                  Chunks<T, kSize>& chunks) {
  using Shared = Chunks<T, kSize>;
  constexpr int kPacks = kSize / 8;
  for (int i = static_cast<int>(threadIdx.x); i < Shared::kKeys * kPacks;
       i += static_cast<int>(blockDim.x)) {
    const int row = i / kPacks;
    const int d = i % kPacks * 8;
    const int key = first_key + row;
    T* k = &chunks.k[buffer][row * Shared::kStride + d];
    T* v = &chunks.v[buffer][row * Shared::kStride + d];
    if (key < o.keys()) {
      CopyPackAsync(k, o.KeyRow(batch, key_head, key) + d);
      CopyPackAsync(v, o.ValueRow(batch, key_head, key) + d);
    } else {
      *reinterpret_cast<uint4*>(k) = uint4{0, 0, 0, 0};
      *reinterpret_cast<uint4*>(v) = uint4{0, 0, 0, 0};
    }
  }
  CommitCopies();
}

// What a lane has of two queries, rows g and g + 8 of its warp's 16.
struct RowPair {
  float largest[2] = {-INFINITY, -INFINITY};  // score, times log2 e
  float sum[2] = {0, 0};                      // the lane's part
};

// The lanes of a row are four neighbours.
__device__ inline float RowMax(float x) {
  x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 1));
  return fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 2));
}
__device__ inline float RowSum(float x) {
  x += __shfl_xor_sync(0xffffffffu, x, 1);
  return x + __shfl_xor_sync(0xffffffffu, x, 2);
}

// The score of a key with its mask; -infinity where it is not seen.
template <typename T>
__device__ inline float MaskedScore(const AttentionMask& mask, int64_t row,
                                    const KeyRange& range, int key,
                                    float score) {
  if (key < range.begin || key >= range.end) return -INFINITY;
  if (mask.mask == nullptr) return score;
  if (mask.is_bool) {
    return static_cast<const uint8_t*>(mask.mask)[row + key] != 0 ? score
                                                                  : -INFINITY;
  }
  const float bias = ToCompute(static_cast<const T*>(mask.mask)[row + key]);
  return bias == -INFINITY ? bias : score + bias;
}

template <typename T, int kSize>
__global__ void __launch_bounds__(128)
    AttendOnTensorCores(const __grid_constant__ AttentionOperands<T> o) {
  using Shared = Chunks<T, kSize>;
  constexpr int kKeyTiles = Shared::kKeys / 8;
  constexpr int kSteps = kSize / 16;
  __shared__ Shared chunks;
  LetKernelBehindBegin();
  WaitForKernelAhead();
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int g = lane / 4;
  const int t = lane % 4;
  const int block_queries = static_cast<int>(blockDim.x) / 32 * kWarpQueries;
  const int block_query = static_cast<int>(blockIdx.x) * block_queries;
  const int first_query = block_query + warp * kWarpQueries;

  for (int64_t index = blockIdx.y; index < int64_t{o.batch} * o.query_heads;
       index += gridDim.y) {
    const int batch = static_cast<int>(index / o.query_heads);
    const int head = static_cast<int>(index % o.query_heads);
    const int key_head = o.KeyHead(head);

    // Row 0 is g, row 1 is g + 8.
    uint32_t q[kSteps][4];
    KeyRange ranges[2];
    int64_t mask_rows[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int query = first_query + g + 8 * r;
      const bool is_inside = query < o.queries;
      const T* row = o.q + batch * o.q_view.batch + head * o.q_view.head +
                     (is_inside ? query : 0) * o.q_view.row;
      ranges[r] = is_inside ? KeysInSight(o.mask, batch, query, o.past,
                                          o.queries, o.keys())
                            : KeyRange{0, 0};
      mask_rows[r] = batch * o.mask.batch + head * o.mask.head +
                     (is_inside ? query : 0) * o.mask.query;
#pragma unroll
      for (int s = 0; s < kSteps; ++s) {
        q[s][r] = *reinterpret_cast<const uint32_t*>(row + 16 * s + 2 * t);
        q[s][2 + r] =
            *reinterpret_cast<const uint32_t*>(row + 16 * s + 8 + 2 * t);
      }
    }
    // What is in sight moves on with the queries.
    const int last_query =
        (block_query + block_queries < o.queries ? block_query + block_queries
                                                 : o.queries) -
        1;
    const int begin =
        KeysInSight(o.mask, batch, block_query, o.past, o.queries, o.keys())
            .begin /
        Shared::kKeys * Shared::kKeys;
    const int end =
        KeysInSight(o.mask, batch, last_query, o.past, o.queries, o.keys()).end;

    RowPair rows;
    float y[kSize / 8][4] = {};
    if (begin < end) FetchChunk(o, batch, key_head, begin, 0, chunks);
    int buffer = 0;
    for (int key0 = begin; key0 < end; key0 += Shared::kKeys, buffer ^= 1) {
      AwaitCopies();
      __syncthreads();
      if (key0 + Shared::kKeys < end) {
        FetchChunk(o, batch, key_head, key0 + Shared::kKeys, buffer ^ 1,
                   chunks);
      }

      float scores[kKeyTiles][4] = {};
      const T* k = chunks.k[buffer];
#pragma unroll
      for (int j = 0; j < kKeyTiles; ++j) {
#pragma unroll
        for (int s = 0; s < kSteps; s += 2) {
          uint32_t b[4];  // two steps of the depth
          LoadMatrices(b, k + (8 * j + lane % 8) * Shared::kStride + 16 * s +
                              lane / 8 * 8);
          Multiply16x8x16<T>(scores[j], q[s], {b[0], b[1]});
          Multiply16x8x16<T>(scores[j], q[s + 1], {b[2], b[3]});
        }
      }

      const bool is_whole = o.mask.mask == nullptr && key0 >= ranges[0].begin &&
                            key0 >= ranges[1].begin &&
                            key0 + Shared::kKeys <= ranges[0].end &&
                            key0 + Shared::kKeys <= ranges[1].end;
      float largest[2] = {-INFINITY, -INFINITY};
#pragma unroll
      for (int j = 0; j < kKeyTiles; ++j) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int r = i / 2;
          float score = scores[j][i] * o.scale;
          if (o.softcap != 0) score = o.softcap * tanhf(score / o.softcap);
          if (!is_whole) {
            score = MaskedScore<T>(o.mask, mask_rows[r], ranges[r],
                                   key0 + 8 * j + 2 * t + i % 2, score);
          }
          scores[j][i] = score * kLog2E;
          largest[r] = fmaxf(largest[r], scores[j][i]);
        }
      }

      float factors[2];
      float bases[2];
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const float now = fmaxf(rows.largest[r], RowMax(largest[r]));
        // All are -infinity: their exponentials are zeros.
        bases[r] = now == -INFINITY ? 0.0f : now;
        factors[r] = exp2f(rows.largest[r] - bases[r]);
        rows.largest[r] = now;
        rows.sum[r] *= factors[r];
      }
#pragma unroll
      for (int j = 0; j < kKeyTiles; ++j) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          scores[j][i] = exp2f(scores[j][i] - bases[i / 2]);
          rows.sum[i / 2] += scores[j][i];
        }
      }
#pragma unroll
      for (int d = 0; d < kSize / 8; ++d) {
#pragma unroll
        for (int i = 0; i < 4; ++i) y[d][i] *= factors[i / 2];
      }

      const T* v = chunks.v[buffer];
#pragma unroll
      for (int s = 0; s < kKeyTiles / 2; ++s) {
        uint32_t weights[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const float* pair = &scores[2 * s + i / 2][i % 2 * 2];
          weights[i] = PairOf(Convert<T>(pair[0]), Convert<T>(pair[1]));
        }
#pragma unroll
        for (int d = 0; d < kSize / 8; d += 2) {
          uint32_t b[4];  // two tiles of the values
          LoadMatricesTransposed(b, v + (16 * s + lane % 16) * Shared::kStride +
                                        8 * d + lane / 16 * 8);
          Multiply16x8x16<T>(y[d], weights, {b[0], b[1]});
          Multiply16x8x16<T>(y[d + 1], weights, {b[2], b[3]});
        }
      }
    }
    __syncthreads();  // before the next head's chunks

#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float sum = RowSum(rows.sum[r]);
      const int query = first_query + g + 8 * r;
      if (query >= o.queries || o.y == nullptr) continue;
      const float factor = sum == 0 ? 0.0f : 1 / sum;
      T* row = o.y + batch * o.y_view.batch + head * o.y_view.head +
               query * o.y_view.row;
#pragma unroll
      for (int d = 0; d < kSize / 8; ++d) {
        *reinterpret_cast<uint32_t*>(row + 8 * d + 2 * t) =
            PairOf(Convert<T>(y[d][2 * r] * factor),
                   Convert<T>(y[d][2 * r + 1] * factor));
      }
    }
  }
}

absl::Status AcceptsTensorCores(const NodeSite& site) {
  if (absl::Status status = CheckAttention(site); !status.ok()) return status;
  const int output_count =
      static_cast<int>(site.dtypes.size()) - site.input_count;
  if (output_count > 3 && site.output_dtype(3) != DType::kUndefined) {
    return absl::UnimplementedError("it does not store the scores");
  }
  if (site.layouts.empty()) return absl::OkStatus();
  const AttentionOperands<Half> extents = AttentionExtents<Half>(
      std::get<AttentionParams>(site.params), site.input(0).shape,
      site.input(1).shape, site.input(2).shape,
      site.has_input(4) ? &site.input(4).shape : nullptr);
  const int size = extents.size;
  if ((size != 32 && size != 64 && size != 128) || extents.value_size != size) {
    return absl::FailedPreconditionError(
        absl::StrCat("heads of ", size, " and ", extents.value_size,
                     " elements, not of 32, 64 or 128 both"));
  }
  for (int i : {0, 1, 2, 4, 5}) {
    if (!site.has_input(i) || site.input(i).offset % 8 == 0) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("input ", i, " begins at element ", site.input(i).offset,
                     ", not at a multiple of 8"));
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status RunOnTensorCores(const KernelCall& call) {
  const AttentionOperands<T> operands = AttentionOperandsOf<T>(call);
  if (absl::Status status = StorePresent(call, operands); !status.ok()) {
    return status;
  }
  constexpr int64_t kMaxGridY = 65535;
  constexpr int64_t kManyBlocks = 132;
  constexpr int kMaxWarps = 4;
  const int64_t heads = int64_t{operands.batch} * operands.query_heads;
  if (heads == 0 || operands.queries == 0) return absl::OkStatus();
  // Few queries are spread over more multiprocessors.
  const auto blocks = [&](int warps) -> int64_t {
    const int queries = warps * kWarpQueries;
    return (operands.queries + queries - 1) / queries;
  };
  int warps = kMaxWarps;
  while (warps > 1 && blocks(warps) * heads < kManyBlocks) warps /= 2;
  const LaunchShape shape = {
      dim3(static_cast<unsigned>(blocks(warps)),
           static_cast<unsigned>(std::min(heads, kMaxGridY))),
      dim3(static_cast<unsigned>(32 * warps))};
  const auto kernel = operands.size == 32   ? &AttendOnTensorCores<T, 32>
                      : operands.size == 64 ? &AttendOnTensorCores<T, 64>
                                            : &AttendOnTensorCores<T, 128>;
  return LaunchEarly(call.context, kernel, shape, operands);
}

// A score takes two products of tensor cores and an exponential.
KernelCost TensorCoreCost(const NodeSite& site) {
  KernelCost cost = AttentionCost(site);
  cost.flops /= 10;  // tensor cores to one of the other units
  cost.efficiency = 0.25;
  return cost;
}

template <typename T>
constexpr KernelEntry Row(const char* name) {
  constexpr DType kT = kDTypeOf<T>;
  return {.op = OpKind::kAttention,
          .dtypes = Takes(
              {kT, kT, kT, DType::kUndefined, kT, kT, DType::kInt64}, {kT}),
          .name = name,
          .source = "backends/cuda/kernels/attention_tensor.cu",
          .accepts = &AcceptsTensorCores,
          .prepare = &PrepareAttention,
          .cost = &TensorCoreCost,
          .run = &RunOnTensorCores<T>,
          .caps = {.takes_packed_qkv = true}};
}

constexpr KernelEntry kRows[] = {
    Row<Half>("attention_f16_tensor"),
    Row<BHalf>("attention_bf16_tensor"),
};

}  // namespace

absl::Span<const KernelEntry> AttentionTensorRows() { return kRows; }

}  // namespace tensord::cuda
