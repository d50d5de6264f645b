#ifndef TENSORD_BACKENDS_CPU_KERNELS_ATTENTION_PRODUCTS_H_
#define TENSORD_BACKENDS_CPU_KERNELS_ATTENTION_PRODUCTS_H_

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "backends/cpu/kernels/gemm.h"

// The two products of an attention for a block of at most kBlockQueries rows,
// on the calling thread: by gemm.h for what is computed in float32, plain loops
// for float64.
namespace tensord::attention {

// Rows of T, `stride` elements from one to the next.
template <typename T>
struct RowsOf {
  const T* data;
  int64_t stride;
};

// c [rows, columns] = or += the product that the packings stand for.
template <typename PackA, typename PackB>
void MultiplyBlocks(const gemm::Problem& problem, const gemm::Machine& machine,
                    PackA pack_a, PackB pack_b) {
  for (int64_t n = 0; n < problem.n; n += gemm::kBlockColumns) {
    gemm::MultiplyTile(problem, machine, 0, problem.m, n,
                       std::min(n + gemm::kBlockColumns, problem.n), pack_a,
                       pack_b);
  }
}

// scores[r, j] = scale * sum over t of q[r, t] * k[j, t], for j below `keys`;
// rows of scores are score_stride apart.
template <typename T, typename C>
void Score(RowsOf<T> q, int64_t rows, RowsOf<T> k, int64_t keys, int64_t size,
           C scale, C* scores, int64_t score_stride) {
  if constexpr (std::is_same_v<C, float>) {
    if (size == 0) {
      for (int64_t r = 0; r < rows; ++r) {
        std::fill_n(scores + r * score_stride, keys, 0.0f);
      }
      return;
    }
    const gemm::Machine machine = gemm::ThisMachine();
    MultiplyBlocks(
        {.m = rows,
         .n = keys,
         .k = size,
         .c = scores,
         .c_stride = score_stride},
        machine,
        [&](int64_t first, int64_t count, int64_t k0, int64_t depth,
            float* scratch) {
          gemm::PackRows(q.data, q.stride, 1, scale, first, count, k0, depth,
                         machine.rows, scratch);
          return scratch;
        },
        [&](int64_t first, int64_t count, int64_t k0, int64_t depth,
            float* scratch) {
          gemm::PackColumns(k.data, 1, k.stride, k0, depth, first, count,
                            machine.columns, scratch);
          return scratch;
        });
  } else {
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t j = 0; j < keys; ++j) {
        C sum = 0;
        for (int64_t t = 0; t < size; ++t) {
          sum += q.data[r * q.stride + t] * k.data[j * k.stride + t];
        }
        scores[r * score_stride + j] = scale * sum;
      }
    }
  }
}

// sums[r, d] = or += sum over j below `keys` of weights[r, j] * v[j, d]; rows
// of sums are `size` apart.
template <typename T, typename C>
void AddValues(const C* weights, int64_t weight_stride, int64_t rows,
               RowsOf<T> v, int64_t keys, int64_t size, bool accumulates,
               C* sums) {
  if (!accumulates) std::fill_n(sums, rows * size, C{0});
  if (keys == 0) return;
  if constexpr (std::is_same_v<C, float>) {
    const gemm::Machine machine = gemm::ThisMachine();
    MultiplyBlocks(
        {.m = rows,
         .n = size,
         .k = keys,
         .c = sums,
         .c_stride = size,
         .accumulates = true},
        machine,
        [&](int64_t first, int64_t count, int64_t k0, int64_t depth,
            float* scratch) {
          gemm::PackRows(weights, weight_stride, 1, 1.0f, first, count, k0,
                         depth, machine.rows, scratch);
          return scratch;
        },
        [&](int64_t first, int64_t count, int64_t k0, int64_t depth,
            float* scratch) {
          gemm::PackColumns(v.data, v.stride, 1, k0, depth, first, count,
                            machine.columns, scratch);
          return scratch;
        });
  } else {
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t j = 0; j < keys; ++j) {
        const C weight = weights[r * weight_stride + j];
        for (int64_t d = 0; d < size; ++d) {
          sums[r * size + d] += weight * v.data[j * v.stride + d];
        }
      }
    }
  }
}

}  // namespace tensord::attention

#endif  // TENSORD_BACKENDS_CPU_KERNELS_ATTENTION_PRODUCTS_H_
