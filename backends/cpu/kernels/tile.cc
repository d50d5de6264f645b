// Tile.
//
//   y[i0, i1, ...] = x[i0 mod extent0, i1 mod extent1, ...]
//
// x and y are contiguous and different buffers; y's extents are x's times the
// repeats, so the repeats themselves are not read. Elements are copied as
// bytes, so there is one kernel for each element size.

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/element.h"

namespace tensord {
namespace {

constexpr int64_t kGrainElements = 32 * 1024;

// x as [outer..., block], where only the last of the outer dimensions and those
// before it are repeated: y's blocks are whole blocks of x.
struct Blocks {
  int outer_rank;
  int64_t elements;
};

Blocks FindBlocks(const Shape& x, const Shape& y) {
  int d = x.rank();
  while (d > 0 && x[d - 1] == y[d - 1]) --d;
  return {d, x.ElementCount(d, x.rank())};
}

}  // namespace

template <int kElementBytes>
absl::Status RunTile(const KernelCall& call) {
  using Element = ElementOf<kElementBytes>;
  const Shape& x_shape = call.input_layout(0).shape;
  const Shape& y_shape = call.output_layout(0).shape;
  if (y_shape.element_count() == 0) return absl::OkStatus();
  const Element* x = call.input<Element>(0);
  Element* y = call.output<Element>(0);
  const Blocks blocks = FindBlocks(x_shape, y_shape);
  if (blocks.outer_rank == 0) {
    std::memcpy(y, x, blocks.elements * kElementBytes);
    return absl::OkStatus();
  }
  // A run is x's last outer dimension, which is repeated within a row of y.
  const int last = blocks.outer_rank - 1;
  const int64_t run = x_shape[last] * blocks.elements;
  const int64_t repeats = y_shape[last] / x_shape[last];
  call.context.workers->ParallelFor(
      y_shape.ElementCount(0, last), kGrainElements / (run * repeats) + 1,
      [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          int64_t rest = row;
          int64_t from = 0;
          int64_t stride = run;
          for (int d = last - 1; d >= 0; --d) {
            from += rest % y_shape[d] % x_shape[d] * stride;
            rest /= y_shape[d];
            stride *= x_shape[d];
          }
          Element* to = y + row * run * repeats;
          if (run == 1) {
            std::fill_n(to, repeats, x[from]);
            continue;
          }
          for (int64_t k = 0; k < repeats; ++k) {
            std::memcpy(to + k * run, x + from, run * kElementBytes);
          }
        }
      });
  return absl::OkStatus();
}

template absl::Status RunTile<1>(const KernelCall&);
template absl::Status RunTile<2>(const KernelCall&);
template absl::Status RunTile<4>(const KernelCall&);
template absl::Status RunTile<8>(const KernelCall&);

}  // namespace tensord
