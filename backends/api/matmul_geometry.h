#ifndef TENSORD_BACKENDS_API_MATMUL_GEOMETRY_H_
#define TENSORD_BACKENDS_API_MATMUL_GEOMETRY_H_

#include <algorithm>
#include <array>
#include <cstdint>

#include "backends/api/shape.h"

// The extents of MatMul's operands, and which matrices of a batch meet.
//
// Every backend resolves its operands here; all of it is in this header, so
// that a kernel's revision covers it.
namespace tensord::matmul {

// One operand's matrices: how many elements to move for a step of each batch
// dimension, outermost first.
struct Product {
  int64_t m = 1, n = 1, k = 1;
  int64_t batch = 1;
  int batch_rank = 0;
  std::array<int64_t, kMaxRank> extents;
  std::array<int64_t, kMaxRank> a_strides;
  std::array<int64_t, kMaxRank> b_strides;

  // Where the matrices of one index of the batch begin.
  struct Offsets {
    int64_t a, b;
  };
  Offsets At(int64_t index) const {
    Offsets offsets{0, 0};
    for (int d = batch_rank - 1; d >= 0; --d) {
      offsets.a += index % extents[d] * a_strides[d];
      offsets.b += index % extents[d] * b_strides[d];
      index /= extents[d];
    }
    return offsets;
  }
};

inline Product Resolve(const Shape& a, const Shape& b) {
  Product product;
  product.m = a.rank() == 1 ? 1 : a[a.rank() - 2];
  product.k = a[a.rank() - 1];
  product.n = b.rank() == 1 ? 1 : b[b.rank() - 1];
  const int a_batch = std::max(a.rank() - 2, 0);
  const int b_batch = std::max(b.rank() - 2, 0);
  product.batch_rank = std::max(a_batch, b_batch);
  int64_t a_stride = product.m * product.k;
  int64_t b_stride = product.k * product.n;
  for (int i = 1; i <= product.batch_rank; ++i) {
    const int d = product.batch_rank - i;
    const int64_t a_extent = i <= a_batch ? a[a_batch - i] : 1;
    const int64_t b_extent = i <= b_batch ? b[b_batch - i] : 1;
    product.extents[d] = a_extent == 1 ? b_extent : a_extent;
    product.a_strides[d] = a_extent == 1 ? 0 : a_stride;
    product.b_strides[d] = b_extent == 1 ? 0 : b_stride;
    product.batch *= product.extents[d];
    a_stride *= a_extent;
    b_stride *= b_extent;
  }
  // One b for all: the rows of all matrices of a are one tall matrix's.
  if (b.ElementCount(0, b_batch) == 1 && a_batch == product.batch_rank) {
    product.m *= product.batch;
    product.batch = 1;
    product.batch_rank = 0;
  }
  return product;
}

}  // namespace tensord::matmul

#endif  // TENSORD_BACKENDS_API_MATMUL_GEOMETRY_H_
