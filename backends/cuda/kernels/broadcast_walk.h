#ifndef TENSORD_BACKENDS_CUDA_KERNELS_BROADCAST_WALK_H_
#define TENSORD_BACKENDS_CUDA_KERNELS_BROADCAST_WALK_H_

#include <cstdint>

#include "absl/types/span.h"
#include "backends/api/layout.h"
#include "backends/cuda/kernels/device.h"
#include "backends/cuda/kernels/divisor.h"

namespace tensord::cuda {

// How kInputs operands that broadcast to one contiguous output are walked in
// its order: dimensions of extent 1 are dropped, and neighbours that every
// operand walks as one are merged.
//
// A plain value, made on the host and handed to a kernel.
template <int kInputs>
struct BroadcastWalk {
  int64_t count = 0;  // of the output's elements
  int rank = 0;       // at least 1; dimension 0 is the innermost
  bool is_small = true;
  Divisor<uint32_t> divisors[kMaxRank];  // by extents, where is_small
  int64_t extents[kMaxRank];
  int64_t strides[kInputs][kMaxRank];

  // Where operand k's part of the output's element i is.
  __device__ int64_t LocateOne(int k, int64_t i) const {
    int64_t offset = 0;
    for (int d = 0; d + 1 < rank; ++d) {
      const int64_t rest = Divide(i, d);
      offset += (i - rest * extents[d]) * strides[k][d];
      i = rest;
    }
    return offset + i * strides[k][rank - 1];
  }

  // Where all operands' are.
  __device__ void Locate(int64_t i, int64_t (&offsets)[kInputs]) const {
    for (int k = 0; k < kInputs; ++k) offsets[k] = 0;
    for (int d = 0; d + 1 < rank; ++d) {
      const int64_t rest = Divide(i, d);
      const int64_t index = i - rest * extents[d];
      for (int k = 0; k < kInputs; ++k) offsets[k] += index * strides[k][d];
      i = rest;
    }
    for (int k = 0; k < kInputs; ++k) offsets[k] += i * strides[k][rank - 1];
  }

  __device__ int64_t Divide(int64_t i, int d) const {
    return is_small ? divisors[d].Quotient(static_cast<uint32_t>(i))
                    : i / extents[d];
  }
};

// The walk of `inputs`, of which there are up to kInputs, over `output`. An
// input may have any strides.
template <int kInputs>
BroadcastWalk<kInputs> MakeBroadcastWalk(absl::Span<const Layout* const> inputs,
                                         const Shape& output);

// How many neighbouring elements the input may be read as one of: `width` where
// each run of them is contiguous and starts at a multiple, 0 where they are all
// the same element, else 1. Runs end with the innermost dimension, unless there
// is no other one.
template <int kInputs>
int RunWidth(const BroadcastWalk<kInputs>& walk, int input, int width) {
  const int64_t* strides = walk.strides[input];
  if (walk.rank > 1 && walk.extents[0] % width != 0) return 1;
  if (strides[0] > 1) return 1;
  if (strides[0] == 0) return 0;
  for (int d = 1; d < walk.rank; ++d) {
    if (strides[d] % width != 0) return 1;
  }
  return width;
}

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_KERNELS_BROADCAST_WALK_H_
