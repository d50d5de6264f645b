#ifndef TENSORD_BACKENDS_CPU_KERNELS_ATTENTION_GEOMETRY_H_
#define TENSORD_BACKENDS_CPU_KERNELS_ATTENTION_GEOMETRY_H_

#include <algorithm>
#include <cstdint>

#include "backends/api/attention_geometry.h"

namespace tensord::attention {

// How an Attention's work is cut up: one task is a block of neighbouring
// queries of one head.
//
// Threading and ownership: a plain value.
struct Geometry : AttentionGeometry {
  // A multiple of every micro kernel's rows (gemm.h).
  static constexpr int64_t kBlockQueries = 48;
  // Tasks that may run at once; each has its scores in the workspace.
  static constexpr int64_t kMaxSlots = 64;
  // A few slots must do where more would take more than this.
  static constexpr int64_t kManyBytes = int64_t{64} << 20;

  using AttentionGeometry::AttentionGeometry;

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
