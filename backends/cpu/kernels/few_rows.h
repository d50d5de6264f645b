#ifndef TENSORD_BACKENDS_CPU_KERNELS_FEW_ROWS_H_
#define TENSORD_BACKENDS_CPU_KERNELS_FEW_ROWS_H_

#include <algorithm>
#include <cstdint>

#include "backends/api/host_services.h"

// Float32 products whose left side has so few rows that each element of the
// right side is used a handful of times: packing it would cost more than the
// product, so it is read once, in place.
namespace tensord {

inline constexpr int64_t kMaxFewRows = 4;

// The sum of a[t] * b[t], in sixteen sums side by side: they vectorise, and one
// chain of additions would run at the latency of an addition.
inline float DotProduct(const float* a, const float* b, int64_t count) {
  constexpr int kSums = 16;
  float sums[kSums] = {};
  int64_t t = 0;
  for (; t + kSums <= count; t += kSums) {
    for (int lane = 0; lane < kSums; ++lane) {
      sums[lane] += a[t + lane] * b[t + lane];
    }
  }
  for (; t < count; ++t) sums[t % kSums] += a[t] * b[t];
  for (int half = kSums / 2; half > 0; half /= 2) {
    for (int lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
  }
  return sums[0];
}

// store(row, column, sum over t of a[row, t] * b[t, column]) for all rows below
// m (at most kMaxFewRows) and columns below n. a is row-major [m, k]; b is
// row-major [k, n], or [n, k] when transposed.
template <typename Store>
void MultiplyFewRows(WorkerPool& workers, int64_t m, int64_t n, int64_t k,
                     const float* a, const float* b, bool is_b_transposed,
                     Store store) {
  constexpr int64_t kGrainElements = 16 * 1024;
  constexpr int64_t kStrip = 64;  // columns whose sums stay in cache
  if (is_b_transposed) {
    workers.ParallelFor(n, kGrainElements / std::max<int64_t>(k, 1) + 1,
                        [&](int64_t begin, int64_t end) {
                          for (int64_t j = begin; j < end; ++j) {
                            for (int64_t r = 0; r < m; ++r) {
                              store(r, j, DotProduct(a + r * k, b + j * k, k));
                            }
                          }
                        });
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
