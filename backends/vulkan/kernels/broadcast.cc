#include "backends/vulkan/kernels/broadcast.h"

namespace tensord::vulkan {
namespace {

// The stride of `input` along dimension d of the output that it broadcasts to;
// 0 where it repeats.
int64_t StrideAlong(const Layout& input, const Shape& output, int d) {
  const int own = d - (output.rank() - input.shape.rank());
  return own < 0 || input.shape[own] == 1 ? 0 : input.strides[own];
}

}  // namespace

BroadcastWalk MakeBroadcastWalk(absl::Span<const Layout* const> operands,
                                const Shape& output) {
  BroadcastWalk walk;
  for (int d = output.rank() - 1; d >= 0; --d) {
    if (output[d] == 1) continue;
    BroadcastWalk::Dimension next = {output[d], {}};
    bool merges = !walk.dimensions.empty();
    for (size_t k = 0; k < operands.size(); ++k) {
      next.strides[k] = StrideAlong(*operands[k], output, d);
      if (!merges) continue;
      const BroadcastWalk::Dimension& inner = walk.dimensions.back();
      merges = next.strides[k] == inner.strides[k] * inner.extent;
    }
    if (merges) {
      walk.dimensions.back().extent *= output[d];
    } else {
      walk.dimensions.push_back(next);
    }
  }
  if (walk.dimensions.empty()) walk.dimensions.push_back({1, {}});
  for (size_t k = 0; k < operands.size(); ++k) {
    walk.is_trivial =
        walk.is_trivial &&
        (output.element_count() == 1 ||
         (walk.dimensions.size() == 1 && walk.dimensions[0].strides[k] == 1));
  }
  return walk;
}

}  // namespace tensord::vulkan
