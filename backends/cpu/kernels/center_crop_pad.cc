// CenterCropPad.
//
//   y[i0, ...] = x[i0 + shift0, ...] where that lies inside x, else 0
//
// where a dimension that shrinks by s loses floor(s / 2) elements at its
// beginning, and one that grows by s gets as many there. x and y are contiguous
// and different buffers; y's extents say all, so input 1 is not read. Elements
// are copied as bytes, so there is one kernel for each element size.

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/element.h"

namespace tensord {
namespace {

constexpr int64_t kGrainElements = 16 * 1024;

// How one dimension's elements map: y's [begin, end) are x's from `from` on.
struct Overlap {
  int64_t begin;
  int64_t end;
  int64_t from;

  Overlap(int64_t x, int64_t y) {
    begin = y > x ? (y - x) / 2 : 0;
    from = x > y ? (x - y) / 2 : 0;
    end = begin + std::min(x, y);
  }
};

}  // namespace

template <int kElementBytes>
absl::Status RunCenterCropPad(const KernelCall& call) {
  using Element = ElementOf<kElementBytes>;
  const Layout& x_layout = call.input_layout(0);
  const Shape& y_shape = call.output_layout(0).shape;
  if (y_shape.element_count() == 0) return absl::OkStatus();
  const Element* x = call.input<Element>(0);
  Element* y = call.output<Element>(0);
  if (y_shape.rank() == 0) {
    *y = *x;
    return absl::OkStatus();
  }
  const int last = y_shape.rank() - 1;
  const int64_t width = y_shape[last];
  const Overlap columns(x_layout.shape[last], width);
  call.context.workers->ParallelFor(
      y_shape.ElementCount(0, last), kGrainElements / width + 1,
      [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          int64_t rest = row;
          int64_t offset = columns.from;
          bool is_inside = columns.begin < columns.end;
          for (int d = last - 1; d >= 0; --d) {
            const Overlap overlap(x_layout.shape[d], y_shape[d]);
            const int64_t at = rest % y_shape[d];
            rest /= y_shape[d];
            if (at < overlap.begin || at >= overlap.end) is_inside = false;
            offset += (at - overlap.begin + overlap.from) * x_layout.strides[d];
          }
          Element* to = y + row * width;
          if (!is_inside) {
            std::fill_n(to, width, Element{0});
            continue;
          }
          std::fill(to, to + columns.begin, Element{0});
          std::memcpy(to + columns.begin, x + offset,
                      (columns.end - columns.begin) * kElementBytes);
          std::fill(to + columns.end, to + width, Element{0});
        }
      });
  return absl::OkStatus();
}

template absl::Status RunCenterCropPad<1>(const KernelCall&);
template absl::Status RunCenterCropPad<2>(const KernelCall&);
template absl::Status RunCenterCropPad<4>(const KernelCall&);
template absl::Status RunCenterCropPad<8>(const KernelCall&);

}  // namespace tensord
