#include "backends/api/layout.h"

#include <utility>

namespace tensord {

Layout Layout::Contiguous(Shape shape, int64_t offset) {
  Layout layout;
  layout.strides.resize(shape.rank());
  int64_t stride = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    layout.strides[i] = stride;
    // An extent of 0 must not turn the outer strides into 0, which would read
    // as a broadcast.
    if (shape[i] > 1) stride *= shape[i];
  }
  layout.shape = std::move(shape);
  layout.offset = offset;
  return layout;
}

bool Layout::IsContiguous() const {
  if (shape.element_count() == 0) return true;
  int64_t expected = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    if (shape[i] == 1) continue;
    if (strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

}  // namespace tensord
