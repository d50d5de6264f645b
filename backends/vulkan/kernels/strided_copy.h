#ifndef TENSORD_BACKENDS_VULKAN_KERNELS_STRIDED_COPY_H_
#define TENSORD_BACKENDS_VULKAN_KERNELS_STRIDED_COPY_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "backends/vulkan/plan.h"

namespace tensord::vulkan {

// Elements that move from one tensor to another in nested loops: what
// Transpose, Slice, Tile and their like have in common. Strides are in
// elements, of either sign or 0; no element of the destination is written
// twice, and the two do not overlap.
//
// Threading and ownership: a plain value.
struct StridedCopy {
  struct Loop {
    int64_t extent;
    int64_t from;  // stride in the source
    int64_t to;    // and in the destination
  };

  Operand source;  // at the first element
  Operand destination;
  int element_bytes;                   // 1, 2, 4, 8 or 16
  absl::InlinedVector<Loop, 8> loops;  // the outermost first
};

// Adds it to the plan: loops that are one loop are merged, and elements that
// lie side by side in both tensors move up to 16 bytes at once. kUnimplemented
// for more than 8 loops.
absl::Status AddCopy(StridedCopy copy, Plan& plan);

}  // namespace tensord::vulkan

#endif  // TENSORD_BACKENDS_VULKAN_KERNELS_STRIDED_COPY_H_
