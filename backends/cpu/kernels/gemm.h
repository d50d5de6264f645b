#ifndef TENSORD_BACKENDS_CPU_KERNELS_GEMM_H_
#define TENSORD_BACKENDS_CPU_KERNELS_GEMM_H_

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "backends/api/host_services.h"

// Float32 matrix multiplication in blocks, C [m, n] += A [m, k] * B [k, n],
// shared by Conv, Gemm and MatMul.
//
// Blocks of A and B are first copied ("packed") into panels: `rows` rows of A
// column by column, `columns` columns of B row by row, padded with zeros. Then
// one micro kernel multiplies a panel of A by a panel of B with all of its sums
// in registers, reading both panels straight through. Where the elements come
// from is the packing's business, so a convolution packs B from the image and
// never writes out its column matrix.
//
// Everything is in this header, so that a kernel's revision covers it.
namespace tensord::gemm {

// The depth of a block. A panel of B (32 columns) of this depth takes 24 KiB
// and stays in the first-level cache while panels of A pass by.
inline constexpr int64_t kDepth = 192;
// The most rows and columns in a block, multiples of every micro kernel's; a
// thread's two blocks take 180 KiB, on its stack.
inline constexpr int64_t kBlockRows = 48;
inline constexpr int64_t kBlockColumns = 192;
inline constexpr int kMaxRows = 12;
inline constexpr int kMaxColumns = 32;

// c[r, j] = init[r] + sum over t of a[t, r] * b[t, j], with c[r, j] itself in
// the place of init[r] when that is null. a is [depth, rows], b is
// [depth, columns]; rows of c are c_stride apart.
using MicroKernel = void (*)(int64_t depth, const float* a, const float* b,
                             const float* init, float* c, int64_t c_stride);

struct Machine {
  int rows;
  int columns;
  MicroKernel kernel;
};

template <int kRows, int kVectors, int kWidth>
[[gnu::always_inline]] inline void Multiply(int64_t depth, const float* a,
                                            const float* b, const float* init,
                                            float* c, int64_t c_stride) {
  typedef float Vector __attribute__((vector_size(kWidth * sizeof(float))));
  Vector sums[kRows][kVectors] = {};
  for (int64_t t = 0; t < depth; ++t) {
    Vector right[kVectors];
    std::memcpy(&right, b, sizeof(right));
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sums[r][v] += right[v] * a[r];
    }
    a += kRows;
    b += kVectors * kWidth;
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    float* row = c + r * c_stride;
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      Vector start;
      if (init == nullptr) {
        std::memcpy(&start, row + v * kWidth, sizeof(start));
      } else {
        start = Vector{} + init[r];
      }
      start += sums[r][v];
      std::memcpy(row + v * kWidth, &start, sizeof(start));
    }
  }
}

inline void MultiplyPortable(int64_t depth, const float* a, const float* b,
                             const float* init, float* c, int64_t c_stride) {
  Multiply<4, 2, 4>(depth, a, b, init, c, c_stride);
}
#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) inline void MultiplyAvx2(
    int64_t depth, const float* a, const float* b, const float* init, float* c,
    int64_t c_stride) {
  Multiply<6, 2, 8>(depth, a, b, init, c, c_stride);
}
__attribute__((target("avx512f,fma"))) inline void MultiplyAvx512(
    int64_t depth, const float* a, const float* b, const float* init, float* c,
    int64_t c_stride) {
  Multiply<12, 2, 16>(depth, a, b, init, c, c_stride);
}
#endif

// What this machine's vectors allow. Asked of the processor rather than left to
// target_clones, whose resolvers run before a sanitizer is ready.
inline Machine ThisMachine() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return {12, 32, &MultiplyAvx512};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return {6, 16, &MultiplyAvx2};
  }
#endif
  return {4, 8, &MultiplyPortable};
}

inline int64_t RoundUp(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Copies rows [m0, m0 + count) and columns [k0, k0 + depth) of a strided A,
// times alpha, into panels of `panel_rows`. Elements of other types become
// float32 on the way.
template <typename T>
void PackRows(const T* a, int64_t row_stride, int64_t column_stride,
              float alpha, int64_t m0, int64_t count, int64_t k0, int64_t depth,
              int panel_rows, float* packed) {
  for (int64_t first = 0; first < count; first += panel_rows) {
    const int64_t rows = std::min<int64_t>(panel_rows, count - first);
    for (int64_t r = 0; r < rows; ++r) {
      const T* source = a + (m0 + first + r) * row_stride + k0 * column_stride;
      for (int64_t t = 0; t < depth; ++t) {
        packed[t * panel_rows + r] = alpha * source[t * column_stride];
      }
    }
    for (int64_t r = rows; r < panel_rows; ++r) {
      for (int64_t t = 0; t < depth; ++t) packed[t * panel_rows + r] = 0;
    }
    packed += panel_rows * depth;
  }
}

// Copies rows [k0, k0 + depth) and columns [n0, n0 + count) of a strided B into
// panels of `panel_columns`, as float32.
template <typename T>
void PackColumns(const T* b, int64_t row_stride, int64_t column_stride,
                 int64_t k0, int64_t depth, int64_t n0, int64_t count,
                 int panel_columns, float* packed) {
  for (int64_t first = 0; first < count; first += panel_columns) {
    const int64_t columns = std::min<int64_t>(panel_columns, count - first);
    const T* source = b + k0 * row_stride + (n0 + first) * column_stride;
    if (column_stride == 1) {
      for (int64_t t = 0; t < depth; ++t) {
        float* row = packed + t * panel_columns;
        std::copy_n(source + t * row_stride, columns, row);
        std::fill(row + columns, row + panel_columns, 0.0f);
      }
    } else {
      for (int64_t j = 0; j < columns; ++j) {
        for (int64_t t = 0; t < depth; ++t) {
          packed[t * panel_columns + j] =
              source[t * row_stride + j * column_stride];
        }
      }
      for (int64_t t = 0; t < depth; ++t) {
        float* row = packed + t * panel_columns;
        std::fill(row + columns, row + panel_columns, 0.0f);
      }
    }
    packed += panel_columns * depth;
  }
}

// A whole A in packed form: its blocks of kDepth columns one after the other,
// each with all panels of rows.
struct PackedRows {
  static int64_t ElementCount(int64_t m, int64_t k, const Machine& machine) {
    return RoundUp(m, machine.rows) * k;
  }
  static void Pack(const float* a, int64_t m, int64_t k, const Machine& machine,
                   float* packed) {
    for (int64_t k0 = 0; k0 < k; k0 += kDepth) {
      PackRows(a, k, 1, 1.0f, 0, m, k0, std::min(kDepth, k - k0), machine.rows,
               packed + RoundUp(m, machine.rows) * k0);
    }
  }
  // The panels from row m0 (a multiple of the panel's rows) on.
  static const float* Block(const float* packed, int64_t m, int64_t m0,
                            int64_t k0, int64_t depth, const Machine& machine) {
    return packed + RoundUp(m, machine.rows) * k0 + m0 * depth;
  }
};

struct Problem {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  float* c = nullptr;
  int64_t c_stride = 0;
  // What C starts from: this value in every column of a row, or 0 without it;
  // with `accumulates`, what C holds.
  const float* row_init = nullptr;
  bool accumulates = false;
};

// One panel by one panel, the edges of C included.
inline void MultiplyPanels(const Problem& problem, const Machine& machine,
                           int64_t depth, const float* a, const float* b,
                           bool is_first, int64_t m0, int64_t n0) {
  const int64_t rows = std::min<int64_t>(machine.rows, problem.m - m0);
  const int64_t columns = std::min<int64_t>(machine.columns, problem.n - n0);
  float* c = problem.c + m0 * problem.c_stride + n0;
  const bool starts = is_first && !problem.accumulates;
  float init[kMaxRows] = {};
  if (starts && problem.row_init != nullptr) {
    std::copy_n(problem.row_init + m0, rows, init);
  }
  if (rows == machine.rows && columns == machine.columns) {
    machine.kernel(depth, a, b, starts ? init : nullptr, c, problem.c_stride);
    return;
  }
  alignas(64) float tile[kMaxRows * kMaxColumns];
  machine.kernel(depth, a, b, init, tile, machine.columns);
  for (int64_t r = 0; r < rows; ++r) {
    const float* from = tile + r * machine.columns;
    float* to = c + r * problem.c_stride;
    if (starts) {
      std::copy_n(from, columns, to);
    } else {
      for (int64_t j = 0; j < columns; ++j) to[j] += from[j];
    }
  }
}

// C's rows [m0, m1) and columns [n0, n1), at most kBlockColumns of them; m0 is
// a multiple of the machine's rows. Both packings are called as
//   const float* pack(first, count, k0, depth, float* scratch)
// and return panels: `scratch`, filled, or ones that exist already.
template <typename PackA, typename PackB>
void MultiplyTile(const Problem& problem, const Machine& machine, int64_t m0,
                  int64_t m1, int64_t n0, int64_t n1, PackA pack_a,
                  PackB pack_b) {
  alignas(64) float a_scratch[kBlockRows * kDepth];
  alignas(64) float b_scratch[kBlockColumns * kDepth];
  for (int64_t k0 = 0; k0 < problem.k; k0 += kDepth) {
    const int64_t depth = std::min(kDepth, problem.k - k0);
    const float* b_block = pack_b(n0, n1 - n0, k0, depth, b_scratch);
    for (int64_t block = m0; block < m1; block += kBlockRows) {
      const int64_t block_end = std::min(block + kBlockRows, m1);
      const float* a_block =
          pack_a(block, block_end - block, k0, depth, a_scratch);
      for (int64_t n = n0; n < n1; n += machine.columns) {
        const float* b = b_block + (n - n0) * depth;
        for (int64_t m = block; m < block_end; m += machine.rows) {
          MultiplyPanels(problem, machine, depth, a_block + (m - block) * depth,
                         b, k0 == 0, m, n);
        }
      }
    }
  }
}

// C's rows [m0, m1) and columns [n0, n1) as elements of y, which has C's shape.
template <typename T>
void StoreTile(const Problem& problem, int64_t m0, int64_t m1, int64_t n0,
               int64_t n1, T* y) {
  for (int64_t row = m0; row < m1; ++row) {
    std::copy(problem.c + row * problem.c_stride + n0,
              problem.c + row * problem.c_stride + n1,
              y + row * problem.c_stride + n0);
  }
}

// How `count` problems of one size are cut into tasks: wide tiles, so that a
// packed block of A serves many columns, unless that leaves threads idle.
struct Tiling {
  int64_t tile_rows;
  int64_t tile_columns;
  int64_t row_tiles;
  int64_t column_tiles;
  int64_t task_count;

  Tiling(int64_t count, int64_t m, int64_t n, const Machine& machine,
         int concurrency) {
    const int64_t wanted = concurrency == 1 ? 1 : 4 * concurrency;
    const int64_t panels = (n + machine.columns - 1) / machine.columns;
    const int64_t panels_a_tile = std::clamp<int64_t>(
        panels * count / wanted, 1, kBlockColumns / machine.columns);
    tile_columns = panels_a_tile * machine.columns;
    column_tiles = (n + tile_columns - 1) / tile_columns;
    const int64_t row_panels = (m + machine.rows - 1) / machine.rows;
    // A tile of all rows of a large problem would hold a thread for seconds.
    constexpr int64_t kMaxTileRows = 1024;
    const int64_t splits = std::clamp<int64_t>(
        std::max(wanted / std::max<int64_t>(count * column_tiles, 1),
                 m / kMaxTileRows),
        1, std::max<int64_t>(row_panels, 1));
    tile_rows = (row_panels + splits - 1) / splits * machine.rows;
    row_tiles = tile_rows == 0 ? 0 : (m + tile_rows - 1) / tile_rows;
    task_count = count * column_tiles * row_tiles;
  }
};

// Runs tile(problem_index, m0, m1, n0, n1) for all tiles of `count` problems.
template <typename Tile>
void ForTiles(WorkerPool& workers, int64_t count, int64_t m, int64_t n,
              const Machine& machine, Tile tile) {
  const Tiling tiling(count, m, n, machine, workers.concurrency());
  workers.ParallelFor(tiling.task_count, 1, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t m0 = task % tiling.row_tiles * tiling.tile_rows;
      const int64_t column_task = task / tiling.row_tiles;
      const int64_t n0 =
          column_task % tiling.column_tiles * tiling.tile_columns;
      tile(column_task / tiling.column_tiles, m0,
           std::min(m0 + tiling.tile_rows, m), n0,
           std::min(n0 + tiling.tile_columns, n));
    }
  });
}

}  // namespace tensord::gemm

#endif  // TENSORD_BACKENDS_CPU_KERNELS_GEMM_H_
