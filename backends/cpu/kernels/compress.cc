// Compress along an axis, or of all elements without one.
//
//   y[o, j, i] = x[o, c, i] for the j-th c whose condition is true
//
// All are contiguous; x is seen as [outer, extent along the axis, inner], y is
// written densely for its real extent, which goes to the extent cells, and is
// no input's buffer. Conditions past the extent count for nothing, and so do
// slices past the conditions. Elements are copied as bytes, so there is one
// kernel for each element size.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>

#include "backends/api/axis_view.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/element.h"
#include "backends/cpu/kernels/extent_cells.h"

namespace tensord {

template <int kElementBytes>
absl::Status RunCompress(const KernelCall& call) {
  using Element = ElementOf<kElementBytes>;
  const std::optional<int64_t>& axis =
      std::get<OptionalAxisParams>(call.params).axis;
  const Shape& shape = call.input_layout(0).shape;
  const AxisView view = axis.has_value()
                            ? AxisView(shape, *axis)
                            : AxisView::Flat(shape.element_count());
  const uint8_t* conditions = call.input<uint8_t>(1);
  const int64_t length =
      std::min(view.extent, call.input_layout(1).shape.element_count());
  const int64_t count = length - std::count(conditions, conditions + length, 0);
  Dims extents = {count};
  if (axis.has_value()) {
    extents.assign(shape.extents().begin(), shape.extents().end());
    extents[*axis < 0 ? *axis + shape.rank() : *axis] = count;
  }
  ExtentCells(call.context).Write(extents);
  const int64_t inner_bytes = view.inner * kElementBytes;
  if (inner_bytes == 0 || count == 0) return absl::OkStatus();

  const Element* x = call.input<Element>(0);
  Element* y = call.output<Element>(0);
  for (int64_t o = 0; o < view.outer; ++o) {
    for (int64_t c = 0; c < length; ++c) {
      if (conditions[c] == 0) continue;
      std::memcpy(y, x + (o * view.extent + c) * view.inner, inner_bytes);
      y += view.inner;
    }
  }
  return absl::OkStatus();
}

template absl::Status RunCompress<1>(const KernelCall&);
template absl::Status RunCompress<2>(const KernelCall&);
template absl::Status RunCompress<4>(const KernelCall&);
template absl::Status RunCompress<8>(const KernelCall&);

}  // namespace tensord
