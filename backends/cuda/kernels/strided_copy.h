#ifndef TENSORD_BACKENDS_CUDA_KERNELS_STRIDED_COPY_H_
#define TENSORD_BACKENDS_CUDA_KERNELS_STRIDED_COPY_H_

#include <cstddef>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "backends/api/launch_context.h"

namespace tensord::cuda {

// Elements that move from one tensor to another in nested loops: what
// Transpose, Slice, Tile and their like have in common. Strides are in
// elements, of either sign or 0; no element of the destination is written
// twice, and the two do not overlap.
//
// Threading and ownership: a plain value; borrows both tensors until the lane
// has passed the copy.
struct StridedCopy {
  struct Loop {
    int64_t extent;
    int64_t from;  // stride in the source
    int64_t to;    // and in the destination
  };

  const std::byte* source;  // of the first element
  std::byte* destination;
  int element_bytes;  // 1, 2, 4, 8 or 16
  absl::InlinedVector<Loop, 8> loops;
};

// Enqueues it: loops that are one loop are merged, elements that lie side by
// side in both tensors move up to 16 bytes at once, and where the two tensors
// are dense along different dimensions the copy goes through shared memory in
// square tiles.
absl::Status Enqueue(const LaunchContext& context, StridedCopy copy);

// Rows of `length` elements, dense in both tensors: a part of what Concat and
// Split move. Strides of the rows, and lengths, are in elements.
struct RowCopy {
  const std::byte* source;
  std::byte* destination;
  int64_t rows;
  int64_t length;
  int64_t from;
  int64_t to;
};

// Enqueues all of them, up to 32 with one launch.
absl::Status Enqueue(const LaunchContext& context,
                     absl::Span<const RowCopy> copies, int element_bytes);

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_KERNELS_STRIDED_COPY_H_
