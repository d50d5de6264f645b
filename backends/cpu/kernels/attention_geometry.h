#ifndef TENSORD_BACKENDS_CPU_KERNELS_ATTENTION_GEOMETRY_H_
#define TENSORD_BACKENDS_CPU_KERNELS_ATTENTION_GEOMETRY_H_

#include <algorithm>
#include <cstdint>

#include "backends/api/op_params.h"
#include "backends/api/shape.h"

namespace tensord::attention {

// The extents of an Attention, and how its work is cut up: one task is a block
// of neighbouring queries of one head.
//
// Threading and ownership: a plain value.
struct Geometry {
  // A multiple of every micro kernel's rows (gemm.h).
  static constexpr int64_t kBlockQueries = 48;
  // Tasks that may run at once; each has its scores in the workspace.
  static constexpr int64_t kMaxSlots = 64;
  // A few slots must do where more would take more than this.
  static constexpr int64_t kManyBytes = int64_t{64} << 20;

  bool is_packed = false;  // [batch, sequence, heads * size]
  // Elements of a row where q, k and v are parts of the rows of one input; else
  // 0.
  int64_t shared_row = 0;
  int64_t batch = 0;
  int64_t query_heads = 0, key_heads = 0;
  int64_t queries = 0;
  int64_t past = 0, fresh = 0;  // keys of earlier runs, and new ones
  int64_t size = 0, value_size = 0;

  // `past_key` is null without one.
  Geometry(const AttentionParams& params, const Shape& q, const Shape& k,
           const Shape& v, const Shape* past_key)
      : is_packed(q.rank() == 3), batch(q[0]) {
    if (params.packs_qkv) {
      query_heads = params.query_heads;
      key_heads = params.key_value_heads;
      queries = fresh = q[1];
      shared_row = q[2];
      size = value_size = q[2] / (query_heads + 2 * key_heads);
    } else if (is_packed) {
      query_heads = params.query_heads;
      key_heads = params.key_value_heads;
      queries = q[1];
      fresh = k[1];
      size = q[2] / query_heads;
      value_size = v[2] / key_heads;
    } else {
      query_heads = q[1];
      key_heads = k[1];
      queries = q[2];
      fresh = k[2];
      size = q[3];
      value_size = v[3];
    }
    if (past_key != nullptr) past = (*past_key)[2];
  }

  int64_t keys() const { return past + fresh; }
  // Heads of q that share one of k.
  int64_t group() const {
    return query_heads / std::max<int64_t>(key_heads, 1);
  }

  int64_t block_queries() const { return std::min(queries, kBlockQueries); }
  int64_t blocks() const {
    return (queries + kBlockQueries - 1) / kBlockQueries;
  }
  int64_t task_count() const { return batch * query_heads * blocks(); }

  // Elements that a task needs: scores [queries, keys], sums [queries, value
  // size].
  int64_t slot_elements() const {
    return block_queries() * (keys() + value_size);
  }
  // Grows with every extent, though the number of slots does not.
  int64_t workspace_bytes(int64_t element_bytes) const {
    const int64_t slot = slot_elements() * element_bytes;
    const int64_t all = std::min(task_count(), kMaxSlots) * slot;
    return std::min(all, std::max(kManyBytes, slot));
  }
  int64_t slots(int64_t element_bytes) const {
    const int64_t slot = slot_elements() * element_bytes;
    const int64_t tasks = std::min(task_count(), kMaxSlots);
    if (slot == 0) return tasks;
    return std::clamp<int64_t>(workspace_bytes(element_bytes) / slot, 1, tasks);
  }
};

// One of q, k, v, y: where the rows of each head are.
template <typename T>
struct Heads {
  T* data;
  int64_t batch_stride, head_stride, row_stride;

  // [batch, heads, rows, size], or packed: [batch, rows, heads * size]. A
  // shared row has more elements than those of the heads.
  Heads(T* data, bool is_packed, int64_t heads, int64_t rows, int64_t size,
        int64_t shared_row = 0)
      : data(data),
        batch_stride(rows * (shared_row > 0 ? shared_row : heads * size)),
        head_stride(is_packed ? size : rows * size),
        row_stride(shared_row > 0 ? shared_row
                   : is_packed    ? heads * size
                                  : size) {}

  T* Of(int64_t batch, int64_t head) const {
    return data + batch * batch_stride + head * head_stride;
  }
};

}  // namespace tensord::attention

#endif  // TENSORD_BACKENDS_CPU_KERNELS_ATTENTION_GEOMETRY_H_
