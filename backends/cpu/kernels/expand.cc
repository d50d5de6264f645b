// Expand: y[i] = x[i], x broadcast to y's shape.
//
// x may have any strides; y is contiguous and another buffer. y's shape says
// all, so input 1 is not read. Elements are copied as bytes, so there is one
// kernel for each element size.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/element.h"
#include "backends/cpu/kernels/strided_walk.h"

namespace tensord {
namespace {

constexpr int64_t kGrainElements = 32 * 1024;

}  // namespace

template <int kElementBytes>
absl::Status RunExpand(const KernelCall& call) {
  using Element = ElementOf<kElementBytes>;
  const Layout& x_layout = call.input_layout(0);
  const Shape& y_shape = call.output_layout(0).shape;
  if (y_shape.element_count() == 0) return absl::OkStatus();
  const StridedWalk<1> walk(y_shape, [&](int, int d) {
    return BroadcastStride(x_layout, y_shape, d);
  });
  const int64_t step = walk.strides[0][walk.rank - 1];
  const Element* x = call.input<Element>(0);
  Element* y = call.output<Element>(0);
  call.context.workers->ParallelFor(
      y_shape.element_count(), kGrainElements, [&](int64_t begin, int64_t end) {
        walk.ForRange(begin, end,
                      [&](int64_t at, const std::array<int64_t, 1>& offsets,
                          int64_t length) {
                        const Element* from = x + offsets[0];
                        if (step == 1) {
                          std::memcpy(y + at, from, length * kElementBytes);
                        } else if (step == 0) {
                          std::fill_n(y + at, length, *from);
                        } else {
                          for (int64_t i = 0; i < length; ++i)
                            y[at + i] = from[i * step];
                        }
                      });
      });
  return absl::OkStatus();
}

template absl::Status RunExpand<1>(const KernelCall&);
template absl::Status RunExpand<2>(const KernelCall&);
template absl::Status RunExpand<4>(const KernelCall&);
template absl::Status RunExpand<8>(const KernelCall&);

}  // namespace tensord
