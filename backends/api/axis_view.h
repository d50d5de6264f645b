#ifndef TENSORD_BACKENDS_API_AXIS_VIEW_H_
#define TENSORD_BACKENDS_API_AXIS_VIEW_H_

#include <cstdint>

#include "backends/api/shape.h"

namespace tensord {

// A contiguous tensor as [outer, extent of one dimension, inner].
// Threading and ownership: a plain value.
struct AxisView {
  int64_t outer;
  int64_t extent;
  int64_t inner;

  // All elements in one line.
  static AxisView Flat(int64_t elements) { return AxisView(1, elements, 1); }

  // The dimensions before `axis`, which is in [-rank, rank], then the others.
  static AxisView Flattened(const Shape& shape, int64_t axis) {
    const int rank = shape.rank();
    const int d = static_cast<int>(axis < 0 ? axis + rank : axis);
    return AxisView(shape.ElementCount(0, d), shape.ElementCount(d, rank), 1);
  }

  // `axis` is in [-rank, rank).
  AxisView(const Shape& shape, int64_t axis) {
    const int rank = shape.rank();
    const int d = static_cast<int>(axis < 0 ? axis + rank : axis);
    outer = shape.ElementCount(0, d);
    extent = shape[d];
    inner = shape.ElementCount(d + 1, rank);
  }

 private:
  AxisView(int64_t outer, int64_t extent, int64_t inner)
      : outer(outer), extent(extent), inner(inner) {}
};

}  // namespace tensord

#endif  // TENSORD_BACKENDS_API_AXIS_VIEW_H_
