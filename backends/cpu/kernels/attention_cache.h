#ifndef TENSORD_BACKENDS_CPU_KERNELS_ATTENTION_CACHE_H_
#define TENSORD_BACKENDS_CPU_KERNELS_ATTENTION_CACHE_H_

#include <algorithm>
#include <cstdint>

#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/attention_geometry.h"
#include "backends/cpu/kernels/attention_products.h"

namespace tensord::attention {

// Keys or values: those of earlier runs, then the new ones.
// Threading: immutable. Ownership: borrows the operands for the launch.
template <typename T>
struct Cache {
  const T* past;  // null without any
  int64_t past_rows;
  Heads<const T> fresh;
  int64_t fresh_rows;
  int64_t heads, size;

  Cache(const KernelCall& call, const Geometry& geometry, int input,
        int past_input, int64_t size)
      : past(call.has_input(past_input) ? call.input<T>(past_input) : nullptr),
        past_rows(geometry.past),
        fresh(DataOf(call, geometry, input), geometry.is_packed,
              geometry.key_heads, geometry.fresh, size, geometry.shared_row),
        fresh_rows(geometry.fresh),
        heads(geometry.key_heads),
        size(size) {}

  // In a shared row the keys are behind the queries, the values behind the
  // keys.
  static const T* DataOf(const KernelCall& call, const Geometry& geometry,
                         int input) {
    if (geometry.shared_row == 0) return call.input<T>(input);
    const int64_t heads =
        geometry.query_heads + (input == 1 ? 0 : geometry.key_heads);
    return call.input<T>(0) + heads * geometry.size;
  }

  RowsOf<T> PastOf(int64_t batch, int64_t head) const {
    return {past + (batch * heads + head) * past_rows * size, size};
  }
  RowsOf<T> FreshOf(int64_t batch, int64_t head) const {
    return {fresh.Of(batch, head), fresh.row_stride};
  }

  void CopyTo(WorkerPool& workers, int64_t batch, T* present) const {
    const int64_t rows = past_rows + fresh_rows;
    workers.ParallelFor(batch * heads, 1, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        T* to = present + task * rows * size;
        if (past != nullptr) {
          to = std::copy_n(PastOf(task / heads, task % heads).data,
                           past_rows * size, to);
        }
        const auto [from, stride] = FreshOf(task / heads, task % heads);
        for (int64_t row = 0; row < fresh_rows; ++row) {
          to = std::copy_n(from + row * stride, size, to);
        }
      }
    });
  }
};

}  // namespace tensord::attention

#endif  // TENSORD_BACKENDS_CPU_KERNELS_ATTENTION_CACHE_H_
