// Slice.
//
//   y[i0, i1, ...] = x[start0 + i0 * step0, start1 + i1 * step1, ...]
//
// where the starts and steps come from inputs 1 to 4 (starts, ends, axes,
// steps) as in Python. x and y are contiguous and different buffers. Where the
// arguments are computed, y is written densely for its real extents, which go
// to the cells. Elements are copied as bytes, so there is one kernel for each
// element size.

#include <array>
#include <cstdint>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/api/slice_range.h"
#include "backends/cpu/kernels/element.h"
#include "backends/cpu/kernels/extent_cells.h"
#include "backends/cpu/kernels/strided_walk.h"

namespace tensord {
namespace {

constexpr int64_t kGrainElements = 32 * 1024;

using Ranges = std::array<SliceRange, kMaxRank>;

template <typename Index>
absl::Status FindRanges(const KernelCall& call, Ranges& ranges) {
  const Shape& shape = call.input_layout(0).shape;
  const int rank = shape.rank();
  std::array<bool, kMaxRank> is_sliced{};
  for (int d = 0; d < rank; ++d) ranges[d] = {0, 1, shape[d]};
  const int64_t count = call.input_layout(1).shape.element_count();
  for (int64_t i = 0; i < count; ++i) {
    const int64_t axis = call.has_input(3) ? call.input<Index>(3)[i] : i;
    if (axis < -rank || axis >= rank) {
      return absl::InvalidArgumentError(
          absl::StrCat("axis ", axis, " is outside [", -rank, ", ", rank, ")"));
    }
    const int d = static_cast<int>(axis < 0 ? axis + rank : axis);
    if (is_sliced[d]) {
      return absl::InvalidArgumentError(
          absl::StrCat("axis ", d, " is given twice"));
    }
    is_sliced[d] = true;
    const int64_t step = call.has_input(4) ? call.input<Index>(4)[i] : 1;
    if (step == 0) return absl::InvalidArgumentError("a step is 0");
    ranges[d] = ResolveSlice(call.input<Index>(1)[i], call.input<Index>(2)[i],
                             step, shape[d]);
  }
  return absl::OkStatus();
}

}  // namespace

template <int kElementBytes, typename Index>
absl::Status RunSlice(const KernelCall& call) {
  using Element = ElementOf<kElementBytes>;
  const Layout& x_layout = call.input_layout(0);
  Ranges ranges;
  if (absl::Status status = FindRanges<Index>(call, ranges); !status.ok()) {
    return status;
  }
  Dims extents;
  int64_t first = 0;
  for (int d = 0; d < x_layout.shape.rank(); ++d) {
    extents.push_back(ranges[d].count);
    first += ranges[d].start * x_layout.strides[d];
  }
  ExtentCells(call.context).Write(extents);
  const absl::StatusOr<Shape> shape = Shape::Create(extents);
  if (!shape.ok()) return shape.status();
  if (shape->element_count() == 0) return absl::OkStatus();

  const StridedWalk<1> walk(
      *shape, [&](int, int d) { return x_layout.strides[d] * ranges[d].step; });
  const int64_t step = walk.strides[0][walk.rank - 1];
  const Element* x = call.input<Element>(0) + first;
  Element* y = call.output<Element>(0);
  call.context.workers->ParallelFor(
      shape->element_count(), kGrainElements, [&](int64_t begin, int64_t end) {
        walk.ForRange(begin, end,
                      [&](int64_t at, const std::array<int64_t, 1>& offsets,
                          int64_t length) {
                        const Element* from = x + offsets[0];
                        if (step == 1) {
                          std::memcpy(y + at, from, length * kElementBytes);
                        } else {
                          for (int64_t i = 0; i < length; ++i)
                            y[at + i] = from[i * step];
                        }
                      });
      });
  return absl::OkStatus();
}

#define TENSORD_INSTANTIATE(bytes)                                   \
  template absl::Status RunSlice<bytes, int32_t>(const KernelCall&); \
  template absl::Status RunSlice<bytes, int64_t>(const KernelCall&);

TENSORD_INSTANTIATE(1)
TENSORD_INSTANTIATE(2)
TENSORD_INSTANTIATE(4)
TENSORD_INSTANTIATE(8)

}  // namespace tensord
