#ifndef TENSORD_BACKENDS_API_LAYOUT_H_
#define TENSORD_BACKENDS_API_LAYOUT_H_

#include <cstdint>

#include "backends/api/shape.h"

namespace tensord {

// Where a tensor's elements lie in its storage view: element (i0, i1, ...) is
// at offset + i0 * strides[0] + i1 * strides[1] + ..., counted in elements.
//
// A stride of 0 repeats an extent (broadcast). Negative strides are not used.
// Threading and ownership: a plain value. Invariant: strides.size() == rank.
struct Layout {
  Shape shape;
  Dims strides;
  int64_t offset = 0;

  // Row-major and dense from `offset`.
  static Layout Contiguous(Shape shape, int64_t offset = 0);

  // True when the elements are row-major and dense; extents of 1 may have any
  // stride, and an empty tensor is always contiguous. The offset may be any.
  bool IsContiguous() const;

  friend bool operator==(const Layout& a, const Layout& b) {
    return a.shape == b.shape && a.strides == b.strides && a.offset == b.offset;
  }
};

}  // namespace tensord

#endif  // TENSORD_BACKENDS_API_LAYOUT_H_
