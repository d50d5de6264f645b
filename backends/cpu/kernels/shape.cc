// Shape.
//
//   y[d] = x's extent in dimension start + d
//
// Reads the layout alone; x may be of any dtype. Compile knows the result where
// all of x's extents are known, so this runs only for what a run tells.

#include <algorithm>
#include <cstdint>

#include "backends/api/kernel.h"

namespace tensord {

absl::Status RunShape(const KernelCall& call) {
  const Shape& shape = call.input_layout(0).shape;
  const int64_t start = std::get<ShapeParams>(call.params).start;
  const int64_t rank = shape.rank();
  const int64_t first =
      std::clamp<int64_t>(start < 0 ? start + rank : start, 0, rank);
  std::copy_n(shape.extents().begin() + first,
              call.output_layout(0).shape.element_count(),
              call.output<int64_t>(0));
  return absl::OkStatus();
}

}  // namespace tensord
