#ifndef TENSORD_BACKENDS_CPU_KERNELS_FEW_ROWS_H_
#define TENSORD_BACKENDS_CPU_KERNELS_FEW_ROWS_H_

#include <algorithm>
#include <cstdint>

#include "backends/api/host_services.h"
#include "backends/cpu/kernels/vector_targets.h"

// Float32 products whose left side has so few rows that each element of the
// right side is used a handful of times: packing it would cost more than the
// product, so it is read once, in place.
namespace tensord {

inline constexpr int64_t kMaxFewRows = 4;

namespace few_rows {

// sums[r] = the sum of a[t] * b[r * count + t] over t, for r below `rows`.
using DotFunction = void (*)(const float* a, const float* b, int64_t count,
                             int64_t rows, float* sums);

// Of each of the rows at once the sums are two vectors of 64 bytes.
namespace any_machine {
inline constexpr int kRowsAtOnce = 1;
#include "backends/cpu/kernels/few_rows_loops.inc"
}  // namespace any_machine
#if TENSORD_HAVE_VECTOR_TARGETS
TENSORD_BEGIN_AVX2
namespace avx2 {
inline constexpr int kRowsAtOnce = 2;
#include "backends/cpu/kernels/few_rows_loops.inc"
}  // namespace avx2
TENSORD_END_TARGET
TENSORD_BEGIN_AVX512
namespace avx512 {
inline constexpr int kRowsAtOnce = 4;
#include "backends/cpu/kernels/few_rows_loops.inc"
}  // namespace avx512
TENSORD_END_TARGET
#endif

inline DotFunction FindDots() { return TENSORD_FOR_THIS_MACHINE(DotRows); }

}  // namespace few_rows

// store(row, column, sum over t of a[row, t] * b[column, t]) for all rows below
// m (at most kMaxFewRows) and columns below n. a is row-major [m, k], b [n, k].
//
// For a b that is larger than the cache and read again and again: alternate
// `from_the_end`, so that each product begins with what the one before it left
// in the cache.
template <typename Store>
void MultiplyFewRowsTransposed(WorkerPool& workers, int64_t m, int64_t n,
                               int64_t k, const float* a, const float* b,
                               bool from_the_end, Store store) {
  constexpr int64_t kGrainElements = 16 * 1024;
  constexpr int64_t kBlock = 32;
  const few_rows::DotFunction dots = few_rows::FindDots();
  const int64_t blocks = (n + kBlock - 1) / kBlock;
  workers.ParallelFor(
      blocks, kGrainElements / (kBlock * std::max<int64_t>(k, 1)) + 1,
      [&](int64_t begin, int64_t end) {
        float sums[kBlock];
        for (int64_t i = begin; i < end; ++i) {
          const int64_t first = (from_the_end ? blocks - 1 - i : i) * kBlock;
          const int64_t count = std::min(kBlock, n - first);
          for (int64_t r = 0; r < m; ++r) {
            dots(a + r * k, b + first * k, k, count, sums);
            for (int64_t j = 0; j < count; ++j) store(r, first + j, sums[j]);
          }
        }
      });
}

// The same for a row-major b [k, n], or one that is transposed.
template <typename Store>
void MultiplyFewRows(WorkerPool& workers, int64_t m, int64_t n, int64_t k,
                     const float* a, const float* b, bool is_b_transposed,
                     Store store) {
  constexpr int64_t kGrainElements = 16 * 1024;
  constexpr int64_t kStrip = 64;  // columns whose sums stay in cache
  if (is_b_transposed) {
    MultiplyFewRowsTransposed(workers, m, n, k, a, b, /*from_the_end=*/false,
                              store);
    return;
  }
  workers.ParallelFor((n + kStrip - 1) / kStrip,
                      kGrainElements / (std::max<int64_t>(k, 1) * kStrip) + 1,
                      [&](int64_t begin, int64_t end) {
                        for (int64_t strip = begin; strip < end; ++strip) {
                          const int64_t first = strip * kStrip;
                          const int64_t width = std::min(kStrip, n - first);
                          float sums[kMaxFewRows][kStrip] = {};
                          for (int64_t t = 0; t < k; ++t) {
                            const float* row = b + t * n + first;
                            for (int64_t r = 0; r < m; ++r) {
                              const float left = a[r * k + t];
                              for (int64_t j = 0; j < width; ++j)
                                sums[r][j] += left * row[j];
                            }
                          }
                          for (int64_t r = 0; r < m; ++r) {
                            for (int64_t j = 0; j < width; ++j) {
                              store(r, first + j, sums[r][j]);
                            }
                          }
                        }
                      });
}

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_FEW_ROWS_H_
