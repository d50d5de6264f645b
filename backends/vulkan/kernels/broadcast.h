#ifndef TENSORD_BACKENDS_VULKAN_KERNELS_BROADCAST_H_
#define TENSORD_BACKENDS_VULKAN_KERNELS_BROADCAST_H_

#include <array>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "backends/api/layout.h"

namespace tensord::vulkan {

// How operands that broadcast to one contiguous output are walked in its order:
// dimensions of extent 1 are dropped, and neighbours that every operand walks
// as one are merged. A plain value.
struct BroadcastWalk {
  static constexpr int kMostOperands = 3;
  struct Dimension {
    int64_t extent;
    std::array<int64_t, kMostOperands> strides;
  };
  absl::InlinedVector<Dimension, 8> dimensions;  // the innermost first; never 0

  // Every operand's element i is the output's element i.
  bool is_trivial = true;
};

BroadcastWalk MakeBroadcastWalk(absl::Span<const Layout* const> operands,
                                const Shape& output);

}  // namespace tensord::vulkan

#endif  // TENSORD_BACKENDS_VULKAN_KERNELS_BROADCAST_H_
