#include "backends/cuda/kernels/broadcast_walk.h"

#include <limits>

namespace tensord::cuda {
namespace {

// The stride of `input` along dimension d of the output that it broadcasts to;
// 0 where it repeats.
int64_t StrideAlong(const Layout& input, const Shape& output, int d) {
  const int own = d - (output.rank() - input.shape.rank());
  return own < 0 || input.shape[own] == 1 ? 0 : input.strides[own];
}

}  // namespace

template <int kInputs>
BroadcastWalk<kInputs> MakeBroadcastWalk(absl::Span<const Layout* const> inputs,
                                         const Shape& output) {
  BroadcastWalk<kInputs> walk;
  walk.count = output.element_count();
  walk.is_small = walk.count <= std::numeric_limits<int32_t>::max();
  const int input_count = static_cast<int>(inputs.size());
  int64_t next[kInputs] = {};
  // An inner dimension is merged with the one around it where all operands go
  // on from its end to the next of the other.
  for (int d = output.rank() - 1; d >= 0; --d) {
    if (output[d] == 1) continue;
    bool merges = walk.rank > 0;
    const int last = walk.rank - 1;
    for (int k = 0; k < input_count; ++k) {
      next[k] = StrideAlong(*inputs[k], output, d);
      merges = merges && next[k] == walk.strides[k][last] * walk.extents[last];
    }
    if (merges) {
      walk.extents[last] *= output[d];
      continue;
    }
    walk.extents[walk.rank] = output[d];
    for (int k = 0; k < kInputs; ++k) walk.strides[k][walk.rank] = next[k];
    ++walk.rank;
  }
  if (walk.rank == 0) {
    walk.extents[0] = 1;
    for (int k = 0; k < kInputs; ++k) walk.strides[k][0] = 0;
    walk.rank = 1;
  }
  for (int d = 0; walk.is_small && d < walk.rank; ++d) {
    if (walk.extents[d] > 0)
      walk.divisors[d] = Divisor<uint32_t>(walk.extents[d]);
  }
  return walk;
}

template BroadcastWalk<1> MakeBroadcastWalk(absl::Span<const Layout* const>,
                                            const Shape&);
template BroadcastWalk<2> MakeBroadcastWalk(absl::Span<const Layout* const>,
                                            const Shape&);
template BroadcastWalk<3> MakeBroadcastWalk(absl::Span<const Layout* const>,
                                            const Shape&);
template BroadcastWalk<8> MakeBroadcastWalk(absl::Span<const Layout* const>,
                                            const Shape&);
template BroadcastWalk<16> MakeBroadcastWalk(absl::Span<const Layout* const>,
                                             const Shape&);

}  // namespace tensord::cuda
