#ifndef TENSORD_BACKENDS_CPU_KERNELS_INTEGER_GEMM_H_
#define TENSORD_BACKENDS_CPU_KERNELS_INTEGER_GEMM_H_

#include <algorithm>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "backends/api/host_services.h"

// Products of 8-bit matrices, C [m, n] = (A - za) [m, k] * (B - zb) [k, n],
// summed up in int32 and exact but for its wrapping around.
//
// As in gemm.h, blocks of A and B are first copied into panels, and a micro
// kernel multiplies two panels with all sums in registers. Here a panel has
// pairs of int16, two neighbours in k each, with the zero points taken off
// already: differences of 8-bit numbers have 9 bits, and processors multiply
// and add such pairs in one instruction, without an intermediate that could
// saturate. Sums of a whole tile stay on the stack, so that what becomes of
// them is the caller's business.
//
// Everything is in this header, so that a kernel's revision covers it.
namespace tensord::integer_gemm {

// Even. A thread's blocks take 192 KiB with the sums, on its stack.
inline constexpr int64_t kDepth = 256;
inline constexpr int64_t kBlockRows = 128;
inline constexpr int64_t kBlockColumns = 128;
inline constexpr int kMaxColumns = 32;

// c[r, j] += sum over t of a[t, r, :] . b[t, j, :]; a is [pairs, rows, 2], b
// [pairs, columns, 2]; rows of c are kBlockColumns apart.
using MicroKernel = void (*)(int64_t pairs, const int16_t* a, const int16_t* b,
                             int32_t* c);

// Block extents are multiples of these.
struct Machine {
  int rows;
  int columns;
  MicroKernel kernel;
};

inline void MultiplyPortable(int64_t pairs, const int16_t* a, const int16_t* b,
                             int32_t* c) {
  constexpr int kRows = 4, kColumns = 8;
  uint32_t sums[kRows][kColumns] = {};
  for (int64_t t = 0; t < pairs; ++t) {
    for (int r = 0; r < kRows; ++r) {
      for (int j = 0; j < kColumns; ++j) {
        sums[r][j] += static_cast<uint32_t>(a[2 * r] * b[2 * j] +
                                            a[2 * r + 1] * b[2 * j + 1]);
      }
    }
    a += 2 * kRows;
    b += 2 * kColumns;
  }
  for (int r = 0; r < kRows; ++r) {
    for (int j = 0; j < kColumns; ++j) {
      int32_t& out = c[r * kBlockColumns + j];
      out = static_cast<int32_t>(static_cast<uint32_t>(out) + sums[r][j]);
    }
  }
}

#if defined(__x86_64__)
inline int32_t PairAt(const int16_t* a) {
  int32_t pair;
  std::memcpy(&pair, a, sizeof(pair));
  return pair;
}

__attribute__((target("avx2"))) inline void MultiplyAvx2(int64_t pairs,
                                                         const int16_t* a,
                                                         const int16_t* b,
                                                         int32_t* c) {
  constexpr int kRows = 4;
  __m256i sums[kRows][2] = {};
  for (int64_t t = 0; t < pairs; ++t) {
    const auto* columns = reinterpret_cast<const __m256i*>(b);
    const __m256i low = _mm256_loadu_si256(columns);
    const __m256i high = _mm256_loadu_si256(columns + 1);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const __m256i pair = _mm256_set1_epi32(PairAt(a + 2 * r));
      sums[r][0] = _mm256_add_epi32(sums[r][0], _mm256_madd_epi16(pair, low));
      sums[r][1] = _mm256_add_epi32(sums[r][1], _mm256_madd_epi16(pair, high));
    }
    a += 2 * kRows;
    b += 32;
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < 2; ++v) {
      auto* out = reinterpret_cast<__m256i*>(c + r * kBlockColumns + 8 * v);
      _mm256_storeu_si256(
          out, _mm256_add_epi32(_mm256_loadu_si256(out), sums[r][v]));
    }
  }
}

__attribute__((target("avx512f,avx512bw"))) inline void MultiplyAvx512(
    int64_t pairs, const int16_t* a, const int16_t* b, int32_t* c) {
  constexpr int kRows = 8;
  __m512i sums[kRows][2] = {};
  for (int64_t t = 0; t < pairs; ++t) {
    const __m512i low = _mm512_loadu_si512(b);
    const __m512i high = _mm512_loadu_si512(b + 32);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const __m512i pair = _mm512_set1_epi32(PairAt(a + 2 * r));
      sums[r][0] = _mm512_add_epi32(sums[r][0], _mm512_madd_epi16(pair, low));
      sums[r][1] = _mm512_add_epi32(sums[r][1], _mm512_madd_epi16(pair, high));
    }
    a += 2 * kRows;
    b += 64;
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < 2; ++v) {
      int32_t* out = c + r * kBlockColumns + 16 * v;
      _mm512_storeu_si512(
          out, _mm512_add_epi32(_mm512_loadu_si512(out), sums[r][v]));
    }
  }
}
#endif

// What this machine's vectors allow.
inline Machine ThisMachine() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512bw")) return {8, 32, &MultiplyAvx512};
  if (__builtin_cpu_supports("avx2")) return {4, 16, &MultiplyAvx2};
#endif
  return {4, 8, &MultiplyPortable};
}

// The tile of C that is rows [m0, m1) and columns [n0, n1), at most a block of
// each. Both packings are called as
//   pack(first, count, k0, depth, int16_t* panels)
// and fill panels of the machine's rows (columns) for ceil(depth / 2) pairs,
// with zeros past the edges. sums(row, const int32_t*) gets each finished row,
// whose element 0 is column n0.
template <typename PackA, typename PackB, typename Sums>
void MultiplyTile(const Machine& machine, int64_t k, int64_t m0, int64_t m1,
                  int64_t n0, int64_t n1, PackA pack_a, PackB pack_b,
                  Sums sums) {
  alignas(64) int16_t a_panels[kBlockRows * kDepth];
  alignas(64) int16_t b_panels[kBlockColumns * kDepth];
  alignas(64) int32_t tile[kBlockRows * kBlockColumns];
  std::memset(tile, 0,
              (m1 - m0 + machine.rows - 1) / machine.rows * machine.rows *
                  kBlockColumns * sizeof(int32_t));
  for (int64_t k0 = 0; k0 < k; k0 += kDepth) {
    const int64_t depth = std::min(kDepth, k - k0);
    const int64_t pairs = (depth + 1) / 2;
    pack_a(m0, m1 - m0, k0, depth, a_panels);
    pack_b(n0, n1 - n0, k0, depth, b_panels);
    for (int64_t n = 0; n < n1 - n0; n += machine.columns) {
      for (int64_t m = 0; m < m1 - m0; m += machine.rows) {
        machine.kernel(pairs, a_panels + m * 2 * pairs,
                       b_panels + n * 2 * pairs, tile + m * kBlockColumns + n);
      }
    }
  }
  for (int64_t m = m0; m < m1; ++m) sums(m, tile + (m - m0) * kBlockColumns);
}

// Runs tile(problem, m0, m1, n0, n1) for all tiles of `count` problems [m, n].
template <typename Tile>
void ForTiles(WorkerPool& workers, int64_t count, int64_t m, int64_t n,
              Tile tile) {
  const int64_t row_tiles = (m + kBlockRows - 1) / kBlockRows;
  const int64_t column_tiles = (n + kBlockColumns - 1) / kBlockColumns;
  workers.ParallelFor(
      count * row_tiles * column_tiles, 1, [&](int64_t begin, int64_t end) {
        for (int64_t task = begin; task < end; ++task) {
          const int64_t m0 = task % row_tiles * kBlockRows;
          const int64_t n0 = task / row_tiles % column_tiles * kBlockColumns;
          tile(task / row_tiles / column_tiles, m0,
               std::min(m0 + kBlockRows, m), n0,
               std::min(n0 + kBlockColumns, n));
        }
      });
}

}  // namespace tensord::integer_gemm

#endif  // TENSORD_BACKENDS_CPU_KERNELS_INTEGER_GEMM_H_
