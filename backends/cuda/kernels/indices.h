#ifndef TENSORD_BACKENDS_CUDA_KERNELS_INDICES_H_
#define TENSORD_BACKENDS_CUDA_KERNELS_INDICES_H_

#include <cstdint>

#include "backends/api/kernel.h"
#include "backends/cuda/kernels/device.h"

// Operands whose elements say where others lie. A negative index counts from
// the end. One that is out of range has no place: nothing can be told to the
// client by then, so kernels leave such elements out.
namespace tensord::cuda {

// Integers of either width.
struct Indices {
  const void* values;
  bool is_wide;  // int64, else int32

  __device__ int64_t At(int64_t i) const {
    return is_wide ? static_cast<const int64_t*>(values)[i]
                   : static_cast<const int32_t*>(values)[i];
  }
};

template <typename Index>
Indices IndicesOf(const KernelCall& call, int i) {
  return {call.input<Index>(i), sizeof(Index) == sizeof(int64_t)};
}

// In [0, extent), or -1.
__device__ inline int64_t Resolved(int64_t index, int64_t extent) {
  if (index < 0) index += extent;
  return index >= 0 && index < extent ? index : -1;
}

// Tuples of indices, each of which picks a slice of a contiguous tensor: the
// first index is one of dimension `first`, and so on.
struct TupleIndex {
  int length;
  int64_t slice;  // elements of one slice
  int64_t whole;  // and of everything that a tuple picks from
  int64_t extents[kMaxRank];

  static TupleIndex Make(const Shape& shape, int first, int64_t length) {
    TupleIndex index = {};
    index.length = static_cast<int>(length);
    index.slice = shape.ElementCount(first + index.length, shape.rank());
    index.whole = shape.ElementCount(first, shape.rank());
    for (int k = 0; k < index.length; ++k) index.extents[k] = shape[first + k];
    return index;
  }

  // The number of the slice that a tuple picks, or -1.
  __device__ int64_t SliceOf(const int64_t* tuple) const {
    int64_t number = 0;
    for (int k = 0; k < length; ++k) {
      const int64_t at = Resolved(tuple[k], extents[k]);
      if (at < 0) return -1;
      number = number * extents[k] + at;
    }
    return number;
  }
};

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_KERNELS_INDICES_H_
