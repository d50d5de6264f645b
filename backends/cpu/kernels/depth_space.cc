// DepthToSpace and SpaceToDepth, for blocks of s by s pixels.
//
//   deep [n, (r, c, d) or (d, r, c), h, w] and wide [n, d, (h, r), (w, c)]
//
// where (h, r) stands for h * s + r and so on: one is the other with its
// dimensions moved. Of the two orders of the depth the first is DCR, the only
// one that SpaceToDepth has, and the second CRD. x and y are contiguous and
// different buffers. Elements are copied as bytes, so there is one kernel for
// each element size.

#include <array>
#include <cstdint>

#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/element.h"
#include "backends/cpu/kernels/strided_walk.h"

namespace tensord {
namespace {

constexpr int64_t kGrainElements = 16 * 1024;

// Extents and strides of n, d, r, c, h, w in the deep and in the wide tensor.
struct Blocks {
  enum { kN, kD, kR, kC, kH, kW, kCount };
  std::array<int64_t, kCount> extents;
  std::array<int64_t, kCount> deep;
  std::array<int64_t, kCount> wide;

  Blocks(const Shape& deep_shape, const BlockParams& params) {
    const int64_t s = params.block_size;
    const int64_t d = deep_shape[1] / (s * s);
    const int64_t h = deep_shape[2];
    const int64_t w = deep_shape[3];
    const int64_t plane = h * w;
    extents = {deep_shape[0], d, s, s, h, w};
    const int64_t d_step = params.depth_is_last ? plane : s * s * plane;
    const int64_t c_step = params.depth_is_last ? d * plane : plane;
    deep = {d * s * s * plane, d_step, s * c_step, c_step, w, 1};
    wide = {d * s * s * plane, s * s * plane, s * w, 1, s * s * w, s};
  }
};

// y's dimensions in its own order, as indices into Blocks.
template <typename Element>
void Move(const KernelCall& call, const Blocks& blocks,
          const std::array<int, Blocks::kCount>& y_order,
          const std::array<int64_t, Blocks::kCount>& x_strides) {
  Dims extents;
  for (int k : y_order) extents.push_back(blocks.extents[k]);
  const Shape& y_shape = call.output_layout(0).shape;
  if (y_shape.element_count() == 0) return;
  const StridedWalk<1> walk(Shape::Create(extents).value(),
                            [&](int, int d) { return x_strides[y_order[d]]; });
  const int64_t step = walk.strides[0][walk.rank - 1];
  const Element* x = call.input<Element>(0);
  Element* y = call.output<Element>(0);
  call.context.workers->ParallelFor(
      y_shape.element_count(), kGrainElements, [&](int64_t begin, int64_t end) {
        walk.ForRange(begin, end,
                      [&](int64_t at, const std::array<int64_t, 1>& offsets,
                          int64_t length) {
                        const Element* from = x + offsets[0];
                        for (int64_t i = 0; i < length; ++i) {
                          y[at + i] = from[i * step];
                        }
                      });
      });
}

}  // namespace

template <int kElementBytes>
absl::Status RunDepthToSpace(const KernelCall& call) {
  const Blocks blocks(call.input_layout(0).shape,
                      std::get<BlockParams>(call.params));
  Move<ElementOf<kElementBytes>>(
      call, blocks,
      {Blocks::kN, Blocks::kD, Blocks::kH, Blocks::kR, Blocks::kW, Blocks::kC},
      blocks.deep);
  return absl::OkStatus();
}

template <int kElementBytes>
absl::Status RunSpaceToDepth(const KernelCall& call) {
  const Blocks blocks(call.output_layout(0).shape,
                      std::get<BlockParams>(call.params));
  Move<ElementOf<kElementBytes>>(
      call, blocks,
      {Blocks::kN, Blocks::kR, Blocks::kC, Blocks::kD, Blocks::kH, Blocks::kW},
      blocks.wide);
  return absl::OkStatus();
}

#define TENSORD_INSTANTIATE(bytes)                                 \
  template absl::Status RunDepthToSpace<bytes>(const KernelCall&); \
  template absl::Status RunSpaceToDepth<bytes>(const KernelCall&);

TENSORD_INSTANTIATE(1)
TENSORD_INSTANTIATE(2)
TENSORD_INSTANTIATE(4)
TENSORD_INSTANTIATE(8)

}  // namespace tensord
