#ifndef TENSORD_BACKENDS_CPU_KERNELS_TRANSPOSED_PRODUCT_H_
#define TENSORD_BACKENDS_CPU_KERNELS_TRANSPOSED_PRODUCT_H_

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "backends/api/float16.h"
#include "backends/api/host_services.h"
#include "backends/cpu/kernels/few_rows.h"
#include "backends/cpu/kernels/gemm.h"

// Products with a transposed right side, as recurrent layers have them: the
// same right side over and over, with as many rows on the left as the batch.
//
// Everything is in this header, so that a kernel's revision covers it.
namespace tensord {

// Elements of scratch that make products of `rows` rows with a [n, k] right
// side faster.
template <typename T>
int64_t PackedElements(int64_t rows, int64_t n, int64_t k) {
  if (!std::is_same_v<T, float> || rows <= kMaxFewRows) return 0;
  return gemm::RoundUp(n, gemm::ThisMachine().columns) * k;
}

// A right side b [n, k], row-major, to be multiplied as its transpose.
template <typename T>
class TransposedFactor {
 public:
  using C = ComputeType<T>;

  TransposedFactor(const T* b, int64_t n, int64_t k) : b_(b), n_(n), k_(k) {}

  // Packs b into scratch of PackedElements(rows, n, k), if that is any; worth
  // it where several products follow.
  void Pack(int64_t rows, C* scratch) {
    if constexpr (std::is_same_v<T, float>) {
      if (rows <= kMaxFewRows) return;
      const gemm::Machine machine = gemm::ThisMachine();
      const int64_t padded = gemm::RoundUp(n_, machine.columns);
      for (int64_t k0 = 0; k0 < k_; k0 += gemm::kDepth) {
        gemm::PackColumns(b_, 1, k_, k0, std::min(gemm::kDepth, k_ - k0), 0, n_,
                          machine.columns, scratch + padded * k0);
      }
      packed_ = scratch;
    }
  }

  // out [m, n] = a [m, k] * b^T + start[n], without start 0. A is T or C; out
  // is not a. Who multiplies again and again alternates `from_the_end`: few
  // rows then find a part of b in the cache.
  template <typename A>
  void Multiply(WorkerPool& workers, int64_t m, const A* a, const C* start,
                C* out, bool from_the_end = false) const {
    if constexpr (std::is_same_v<T, float>) {
      if (m > kMaxFewRows) {
        MultiplyBlocked(workers, m, a, start, out);
      } else {
        MultiplyFewRowsTransposed(workers, m, n_, k_, a, b_, from_the_end,
                                  [&](int64_t row, int64_t column, float sum) {
                                    out[row * n_ + column] =
                                        start == nullptr ? sum
                                                         : start[column] + sum;
                                  });
      }
    } else {
      MultiplyPlainly(workers, m, a, start, out);
    }
  }

 private:
  static constexpr int64_t kGrainProducts = 16 * 1024;

  void MultiplyBlocked(WorkerPool& workers, int64_t m, const float* a,
                       const float* start, float* out) const {
    const gemm::Machine machine = gemm::ThisMachine();
    const gemm::Problem problem{.m = m,
                                .n = n_,
                                .k = k_,
                                .c = out,
                                .c_stride = n_,
                                .accumulates = true};
    const int64_t padded = gemm::RoundUp(n_, machine.columns);
    gemm::ForTiles(
        workers, 1, m, n_, machine,
        [&](int64_t, int64_t m0, int64_t m1, int64_t n0, int64_t n1) {
          for (int64_t row = m0; row < m1; ++row) {
            if (start == nullptr) {
              std::fill(out + row * n_ + n0, out + row * n_ + n1, 0.0f);
            } else {
              std::copy(start + n0, start + n1, out + row * n_ + n0);
            }
          }
          gemm::MultiplyTile(
              problem, machine, m0, m1, n0, n1,
              [&](int64_t first, int64_t count, int64_t k0, int64_t depth,
                  float* scratch) {
                gemm::PackRows(a, k_, 1, 1.0f, first, count, k0, depth,
                               machine.rows, scratch);
                return scratch;
              },
              [&](int64_t first, int64_t count, int64_t k0, int64_t depth,
                  float* scratch) -> const float* {
                if (packed_ != nullptr) {
                  return packed_ + padded * k0 + first * depth;
                }
                gemm::PackColumns(b_, 1, k_, k0, depth, first, count,
                                  machine.columns, scratch);
                return scratch;
              });
        });
  }

  template <typename A>
  void MultiplyPlainly(WorkerPool& workers, int64_t m, const A* a,
                       const C* start, C* out) const {
    workers.ParallelFor(n_, kGrainProducts / std::max<int64_t>(m * k_, 1) + 1,
                        [&](int64_t begin, int64_t end) {
                          for (int64_t j = begin; j < end; ++j) {
                            for (int64_t row = 0; row < m; ++row) {
                              C sum = start == nullptr ? C{0} : start[j];
                              for (int64_t t = 0; t < k_; ++t) {
                                sum += static_cast<C>(a[row * k_ + t]) *
                                       static_cast<C>(b_[j * k_ + t]);
                              }
                              out[row * n_ + j] = sum;
                            }
                          }
                        });
  }

  const T* const b_;
  const int64_t n_;
  const int64_t k_;
  const C* packed_ = nullptr;
};

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_TRANSPOSED_PRODUCT_H_
