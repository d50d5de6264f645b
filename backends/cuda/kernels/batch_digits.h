#ifndef TENSORD_BACKENDS_CUDA_KERNELS_BATCH_DIGITS_H_
#define TENSORD_BACKENDS_CUDA_KERNELS_BATCH_DIGITS_H_

#include <cstdint>

#include "backends/api/matmul_geometry.h"
#include "backends/cuda/kernels/device.h"

namespace tensord::cuda {

// Which matrices of a batched product meet: the number of a result's matrix has
// a digit for each dimension of the batch.
//
// Threading and ownership: a plain value, made on the host.
struct BatchDigits {
  BatchDigits() = default;
  explicit BatchDigits(const matmul::Product& product)
      : count(product.batch_rank) {
    for (int d = 0; d < count; ++d) {
      extents[d] = product.extents[d];
      a_strides[d] = product.a_strides[d];
      b_strides[d] = product.b_strides[d];
    }
  }

  // Where the matrices of one index begin, in elements.
  struct Offsets {
    int64_t a, b;
  };
  __device__ Offsets At(int64_t index) const {
    Offsets offsets = {0, 0};
    for (int d = count - 1; d >= 0; --d) {
      const int64_t digit = index % extents[d];
      index /= extents[d];
      offsets.a += digit * a_strides[d];
      offsets.b += digit * b_strides[d];
    }
    return offsets;
  }

  int count = 0;
  int64_t extents[kMaxRank];
  int64_t a_strides[kMaxRank];
  int64_t b_strides[kMaxRank];
};

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_KERNELS_BATCH_DIGITS_H_
