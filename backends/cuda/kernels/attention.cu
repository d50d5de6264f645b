// Attention, for each batch and head of q:
//
//   scores = scale * q * k'               [queries, keys]
//   scores = softcap * tanh(scores / softcap), with a softcap
//   scores += masks                       (attention_operands.h)
//   y = softmax(scores) * v               [queries, value size]
//
// q and y have query heads, k and v fewer: a group of neighbouring heads of q
// shares one. All four are contiguous [batch, heads, sequence, size], or
// [batch, sequence, heads * size]; q, k and v may be parts of the rows of input
// 0. k and v are the past's, [batch, heads, past, size], followed by the
// inputs; the present outputs are both in one. The fourth output is the scores
// as they are in one of the lines above, or the softmax, [batch, heads,
// queries, keys]. No output is an input's buffer.
//
// Computes in float32; 16-bit floats are rounded once. A query that sees no key
// gets zeros. A length outside [0, keys] counts as the nearest in it.
//
// The portable kernel: the scores are never in memory, but where they are an
// output. A block has a few queries of one head and goes along the keys, 32 at
// a time, keeping the largest score, the sum of exponentials and the weighted
// sum of values so far. Where the softmax itself is an output it goes along
// twice, since its sum is known at the end.

#include <math.h>

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "backends/api/kernel.h"
#include "backends/cuda/kernels/attention_operands.h"
#include "backends/cuda/kernels/launch.h"
#include "backends/cuda/kernels/number.h"
#include "backends/cuda/kernels/rows.h"

namespace tensord::cuda {
namespace {

constexpr int kWarps = 4;
constexpr int kThreads = 32 * kWarps;
constexpr int kOwnQueries = 4;  // of a warp
constexpr int kBlockQueries = kWarps * kOwnQueries;
constexpr int kChunkKeys = 32;  // one a lane
constexpr int kSlice = 64;      // of the head size in shared memory at a time
// Of the value size a block's own part; other blocks compute the scores again.
constexpr int kOwnValues = 128;
constexpr int kValuesPerLane = kOwnValues / 32;

struct Shared {
  float q[kBlockQueries][kSlice];
  float k[kChunkKeys][kSlice + 1];  // a lane a row, in different banks
  float v[kChunkKeys][kOwnValues];
  float weights[kBlockQueries][kChunkKeys];
};

__device__ inline float WarpMax(float x) {
  for (int mask = 16; mask > 0; mask /= 2) {
    x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, mask));
  }
  return x;
}
__device__ inline float WarpSum(float x) {
  for (int mask = 16; mask > 0; mask /= 2) {
    x += __shfl_xor_sync(0xffffffffu, x, mask);
  }
  return x;
}

// Which queries of which head.
struct Task {
  int batch, head, first_query;
};

// scores[i] = q of the warp's query i times the lane's key.
template <typename T>
__device__ inline void Score(const AttentionOperands<T>& o, const Task& task,
                             int first_key, Shared& shared,
                             float (&scores)[kOwnQueries]) {
  const int thread = static_cast<int>(threadIdx.x);
  const int warp = thread / 32;
  const int lane = thread % 32;
  const int key_head = o.KeyHead(task.head);
#pragma unroll
  for (int i = 0; i < kOwnQueries; ++i) scores[i] = 0;
  for (int d0 = 0; d0 < o.size; d0 += kSlice) {
    const int d = d0 + thread % kSlice;
    for (int r = thread / kSlice; r < kBlockQueries; r += kThreads / kSlice) {
      const int query = task.first_query + r;
      shared.q[r][thread % kSlice] =
          d < o.size && query < o.queries
              ? ToCompute(
                    o.q[task.batch * o.q_view.batch +
                        task.head * o.q_view.head + query * o.q_view.row + d])
              : 0.0f;
    }
    for (int r = thread / kSlice; r < kChunkKeys; r += kThreads / kSlice) {
      const int key = first_key + r;
      shared.k[r][thread % kSlice] =
          d < o.size && key < o.keys()
              ? ToCompute(o.KeyRow(task.batch, key_head, key)[d])
              : 0.0f;
    }
    __syncthreads();
#pragma unroll 8
    for (int t = 0; t < kSlice; ++t) {
      const float k = shared.k[lane][t];
#pragma unroll
      for (int i = 0; i < kOwnQueries; ++i) {
        scores[i] += shared.q[warp * kOwnQueries + i][t] * k;
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < kOwnQueries; ++i) scores[i] *= o.scale;
}

// The score with the softcap and the masks; tells the fourth output what it
// wants of that.
template <typename T>
__device__ inline float Masked(const AttentionOperands<T>& o, const Task& task,
                               int query, int key, bool tells, float score) {
  if (query >= o.queries || key >= o.keys()) return -INFINITY;
  T* told = nullptr;
  if (tells) {
    told = o.scores +
           ((int64_t{task.batch} * o.query_heads + task.head) * o.queries +
            query) *
               o.keys() +
           key;
  }
  if (told != nullptr && o.scores_mode == 0) *told = Convert<T>(score);
  if (o.softcap != 0) score = o.softcap * tanhf(score / o.softcap);
  if (told != nullptr && o.scores_mode == 1) *told = Convert<T>(score);
  const KeyRange range =
      KeysInSight(o.mask, task.batch, query, o.past, o.queries, o.keys());
  bool is_seen = key >= range.begin && key < range.end;
  if (is_seen && o.mask.mask != nullptr) {
    const int64_t at = task.batch * o.mask.batch + task.head * o.mask.head +
                       query * o.mask.query + key;
    if (o.mask.is_bool) {
      is_seen = static_cast<const uint8_t*>(o.mask.mask)[at] != 0;
    } else {
      const float bias = ToCompute(static_cast<const T*>(o.mask.mask)[at]);
      is_seen = bias != -INFINITY;
      score += bias;
    }
  }
  // Not by adding, since an infinite score would become a NaN.
  if (!is_seen) score = -INFINITY;
  if (told != nullptr && o.scores_mode == 2) *told = Convert<T>(score);
  return score;
}

// Of one query: the largest score so far, the sum of e^(score - largest), and
// the values weighted by those, the lane's part of each.
struct Running {
  float largest = -INFINITY;
  float sum = 0;
  float values[kValuesPerLane] = {};

  // The lane's weight of its key; 0 for a score of -infinity, even if all are.
  __device__ float Add(float score) {
    const float before = largest;
    largest = fmaxf(largest, WarpMax(score));
    if (largest == -INFINITY) {
      // A NaN is no maximum, but spoils the sum.
      sum += WarpSum(score == -INFINITY ? 0.0f : score);
      return score == -INFINITY ? 0.0f : score;
    }
    const float factor = before == -INFINITY ? 0.0f : expf(before - largest);
    const float weight = expf(score - largest);
    sum = sum * factor + WarpSum(weight);
#pragma unroll
    for (int i = 0; i < kValuesPerLane; ++i) values[i] *= factor;
    return weight;
  }
};

template <typename T>
__device__ inline void LoadValues(const AttentionOperands<T>& o,
                                  const Task& task, int first_key,
                                  int first_value, Shared& shared) {
  const int thread = static_cast<int>(threadIdx.x);
  static_assert(kOwnValues == kThreads);
  const int d = first_value + thread;
  const int key_head = o.KeyHead(task.head);
  for (int r = 0; r < kChunkKeys; ++r) {
    const int key = first_key + r;
    shared.v[r][thread] =
        d < o.value_size && key < o.keys()
            ? ToCompute(o.ValueRow(task.batch, key_head, key)[d])
            : 0.0f;
  }
}

// The keys that any of the block's queries may see, or all where the scores are
// told.
template <typename T>
__device__ inline KeyRange BlockKeys(const AttentionOperands<T>& o,
                                     const Task& task) {
  if (o.scores != nullptr) return {0, o.keys()};
  KeyRange all = {o.keys(), 0};
  for (int i = 0; i < kBlockQueries && task.first_query + i < o.queries; ++i) {
    const KeyRange own = KeysInSight(o.mask, task.batch, task.first_query + i,
                                     o.past, o.queries, o.keys());
    all.begin = own.begin < all.begin ? own.begin : all.begin;
    all.end = own.end > all.end ? own.end : all.end;
  }
  return all;
}

// Grid: blocks of queries, (batch, head), parts of the value size.
template <typename T>
__global__ void __launch_bounds__(kThreads)
    AttendToRows(const __grid_constant__ AttentionOperands<T> o) {
  __shared__ Shared shared;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int first_value = static_cast<int>(blockIdx.z) * kOwnValues;
  const bool tells = o.scores != nullptr && blockIdx.z == 0;
  const bool needs_sum_first = tells && o.scores_mode == 3;
  for (int64_t index = blockIdx.y; index < int64_t{o.batch} * o.query_heads;
       index += gridDim.y) {
    const Task task = {static_cast<int>(index / o.query_heads),
                       static_cast<int>(index % o.query_heads),
                       static_cast<int>(blockIdx.x) * kBlockQueries};
    const KeyRange keys = BlockKeys(o, task);
    Running running[kOwnQueries];
    for (int pass = needs_sum_first ? 0 : 1; pass < 2; ++pass) {
      const bool is_last = pass == 1;
      for (int key0 = keys.begin / kChunkKeys * kChunkKeys; key0 < keys.end;
           key0 += kChunkKeys) {
        float scores[kOwnQueries];
        if (is_last) LoadValues(o, task, key0, first_value, shared);
        Score(o, task, key0, shared, scores);
#pragma unroll
        for (int i = 0; i < kOwnQueries; ++i) {
          const int query = task.first_query + warp * kOwnQueries + i;
          const int key = key0 + lane;
          const float score =
              Masked(o, task, query, key, tells && is_last, scores[i]);
          float weight;
          if (needs_sum_first && is_last) {
            const Running& r = running[i];
            weight = r.sum == 0 ? 0.0f : expf(score - r.largest);
            if (query < o.queries && key < o.keys()) {
              o.scores[((int64_t{task.batch} * o.query_heads + task.head) *
                            o.queries +
                        query) *
                           o.keys() +
                       key] = Convert<T>(r.sum == 0 ? 0.0f : weight / r.sum);
            }
          } else {
            weight = running[i].Add(score);
          }
          shared.weights[warp * kOwnQueries + i][lane] = weight;
        }
        __syncthreads();
        if (!is_last) continue;
        for (int j = 0; j < kChunkKeys; ++j) {
#pragma unroll
          for (int i = 0; i < kOwnQueries; ++i) {
            const float weight = shared.weights[warp * kOwnQueries + i][j];
#pragma unroll
            for (int d = 0; d < kValuesPerLane; ++d) {
              running[i].values[d] += weight * shared.v[j][lane + 32 * d];
            }
          }
        }
        __syncthreads();
      }
    }
#pragma unroll
    for (int i = 0; i < kOwnQueries; ++i) {
      const int query = task.first_query + warp * kOwnQueries + i;
      if (o.y == nullptr || query >= o.queries) continue;
      T* y = o.y + task.batch * o.y_view.batch + task.head * o.y_view.head +
             query * o.y_view.row;
      const float sum = running[i].sum;
#pragma unroll
      for (int d = 0; d < kValuesPerLane; ++d) {
        const int at = first_value + lane + 32 * d;
        if (at >= o.value_size) continue;
        y[at] = Convert<T>(sum == 0 ? 0.0f : running[i].values[d] / sum);
      }
    }
  }
}

template <typename T>
absl::Status RunAttention(const KernelCall& call) {
  const AttentionOperands<T> operands = AttentionOperandsOf<T>(call);
  if (absl::Status status = StorePresent(call, operands); !status.ok()) {
    return status;
  }
  constexpr int64_t kMaxGridY = 65535;
  const int64_t heads = int64_t{operands.batch} * operands.query_heads;
  if (heads == 0 || operands.queries == 0) return absl::OkStatus();
  const int value_parts =
      std::max((operands.value_size + kOwnValues - 1) / kOwnValues, 1);
  const LaunchShape shape = {
      dim3(static_cast<unsigned>((operands.queries + kBlockQueries - 1) /
                                 kBlockQueries),
           static_cast<unsigned>(std::min(heads, kMaxGridY)),
           static_cast<unsigned>(value_parts)),
      dim3(kThreads)};
  return Launch(call.context, &AttendToRows<T>, shape, operands);
}

template <typename T>
constexpr KernelEntry Row(const char* name) {
  constexpr DType kT = kDTypeOf<T>;
  return {.op = OpKind::kAttention,
          .dtypes = Takes(
              {kT, kT, kT, DType::kUndefined, kT, kT, DType::kInt64}, {kT}),
          .name = name,
          .source = "backends/cuda/kernels/attention.cu",
          .accepts = &CheckAttention,
          .prepare = &PrepareAttention,
          .cost = &AttentionCost,
          .run = &RunAttention<T>,
          .caps = {.takes_packed_qkv = true}};
}

constexpr KernelEntry kRows[] = {
    Row<float>("attention_f32_rows"),
    Row<Half>("attention_f16_rows"),
    Row<BHalf>("attention_bf16_rows"),
};

}  // namespace

absl::Span<const KernelEntry> AttentionRows() { return kRows; }

}  // namespace tensord::cuda
