#ifndef TENSORD_BACKENDS_CUDA_KERNELS_PRODUCT_TILE_H_
#define TENSORD_BACKENDS_CUDA_KERNELS_PRODUCT_TILE_H_

#include <cstdint>

#include "backends/cuda/kernels/device.h"

// A tile of a matrix product, c [m, n] = a [m, k] * b [k, n], by one block of
// threads: what products, convolutions and whatever else sums over pairs share.
// Where elements come from and go to is the caller's business.
namespace tensord::cuda {

struct ProductTile {
  static constexpr int kSide = 64;   // rows and columns of a tile
  static constexpr int kDepth = 16;  // of a and b in shared memory at a time
  static constexpr int kThreads = 256;
  static constexpr int kOwn = 4;  // rows and columns of a thread

  // Tiles of c, which a grid counts row by row.
  static int64_t Count(int64_t m, int64_t n) {
    return (m + kSide - 1) / kSide * ((n + kSide - 1) / kSide);
  }
};

// Tile `tile` of c. C is what is summed up in: float, double, unsigned
// integers.
//
// load_a(row, t) and load_b(t, column) give elements as C and are called within
// the extents only. Neighbouring threads ask for neighbours in t where
// a_is_along_depth (b_is_along_depth), else in rows (columns): whichever is
// contiguous in memory.
// store(row, column, C (&sums)[4]) gets four neighbours of a row that are all
// within c, store(row, column, C (&sums)[1]) single ones at the right edge
// where n is no multiple of 4.
template <typename C, typename LoadA, typename LoadB, typename Store>
__device__ inline void MultiplyTile(int64_t tile, int64_t m, int64_t n,
                                    int64_t k, bool a_is_along_depth,
                                    bool b_is_along_depth, LoadA load_a,
                                    LoadB load_b, Store store) {
  constexpr int kSide = ProductTile::kSide;
  constexpr int kDepth = ProductTile::kDepth;
  constexpr int kOwn = ProductTile::kOwn;
  constexpr int kThreads = ProductTile::kThreads;
  constexpr int kLoads = kSide * kDepth / kThreads;
  // Parts of a and b, padded so that a column's elements are in different
  // banks; at the end the tile of c.
  constexpr int kPadded = kSide + 4;
  __shared__ C shared[kSide * kSide];
  static_assert(2 * kDepth * kPadded <= kSide * kSide);
  C* const a_part = shared;
  C* const b_part = shared + kDepth * kPadded;

  const int64_t column_tiles = (n + kSide - 1) / kSide;
  const int64_t row0 = tile / column_tiles * kSide;
  const int64_t column0 = tile % column_tiles * kSide;
  const int thread = static_cast<int>(threadIdx.x);
  const auto depth_of = [thread](bool is_along_depth, int i) {
    return is_along_depth ? thread % kDepth
                          : thread / kSide + i * (kDepth / kLoads);
  };
  const auto side_of = [thread](bool is_along_depth, int i) {
    return is_along_depth ? thread / kDepth + i * (kSide / kLoads)
                          : thread % kSide;
  };
  const int own_row = thread / (kSide / kOwn) * kOwn;
  const int own_column = thread % (kSide / kOwn) * kOwn;

  C sums[kOwn][kOwn] = {};
  // The next part is on its way while one is multiplied.
  for (int64_t t0 = -kDepth; t0 < k; t0 += kDepth) {
    C a_next[kLoads];
    C b_next[kLoads];
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int64_t a_t = t0 + kDepth + depth_of(a_is_along_depth, i);
      const int64_t row = row0 + side_of(a_is_along_depth, i);
      a_next[i] = a_t < k && row < m ? load_a(row, a_t) : C{0};
      const int64_t b_t = t0 + kDepth + depth_of(b_is_along_depth, i);
      const int64_t column = column0 + side_of(b_is_along_depth, i);
      b_next[i] = b_t < k && column < n ? load_b(b_t, column) : C{0};
    }
    if (t0 >= 0) {
#pragma unroll 4
      for (int t = 0; t < kDepth; ++t) {
        C a[kOwn];
        C b[kOwn];
#pragma unroll
        for (int i = 0; i < kOwn; ++i) {
          a[i] = a_part[t * kPadded + own_row + i];
          b[i] = b_part[t * kPadded + own_column + i];
        }
#pragma unroll
        for (int i = 0; i < kOwn; ++i) {
#pragma unroll
          for (int j = 0; j < kOwn; ++j) sums[i][j] += a[i] * b[j];
        }
      }
      __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      a_part[depth_of(a_is_along_depth, i) * kPadded +
             side_of(a_is_along_depth, i)] = a_next[i];
      b_part[depth_of(b_is_along_depth, i) * kPadded +
             side_of(b_is_along_depth, i)] = b_next[i];
    }
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < kOwn; ++i) {
#pragma unroll
    for (int j = 0; j < kOwn; ++j) {
      shared[(own_row + i) * kSide + own_column + j] = sums[i][j];
    }
  }
  __syncthreads();
  // From shared memory, so that a warp stores whole rows, and that `store` is
  // there twice and not once for each element.
#pragma unroll 1
  for (int e = thread * kOwn; e < kSide * kSide; e += kThreads * kOwn) {
    const int64_t row = row0 + e / kSide;
    const int64_t column = column0 + e % kSide;
    if (row >= m) break;
    if (n % kOwn == 0) {
      if (column >= n) continue;
      C pack[kOwn];
#pragma unroll
      for (int j = 0; j < kOwn; ++j) pack[j] = shared[e + j];
      store(row, column, pack);
      continue;
    }
#pragma unroll 1
    for (int j = 0; j < kOwn && column + j < n; ++j) {
      C single[1] = {shared[e + j]};
      store(row, column + j, single);
    }
  }
  __syncthreads();  // before the next tile of the block
}

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_KERNELS_PRODUCT_TILE_H_
