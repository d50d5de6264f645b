#ifndef TENSORD_BACKENDS_API_SLICE_RANGE_H_
#define TENSORD_BACKENDS_API_SLICE_RANGE_H_

#include <algorithm>
#include <cstdint>

#include "backends/api/shape.h"

namespace tensord {

// The indices start, start + step, ... (`count` of them) along one dimension.
// Threading and ownership: a plain value.
struct SliceRange {
  int64_t start = 0;
  int64_t step = 1;
  int64_t count = 0;
};

// What Slice's arguments mean for a dimension of `extent`: below 0 they count
// from the end, and then they are clamped to the dimension, as in Python but
// for a start before the first element of a dimension that is walked backwards,
// which the standard takes for the first. Any numbers are taken but a step of 0.
inline SliceRange ResolveSlice(int64_t start, int64_t end, int64_t step,
                               int64_t extent) {
  // A longer step takes one element at most, as this one does.
  step = std::clamp(step, -kMaxElementCount, kMaxElementCount);
  if (start < 0) start += extent;
  if (end < 0) end += extent;
  SliceRange range{.start = 0, .step = step, .count = 0};
  if (step > 0) {
    range.start = std::clamp<int64_t>(start, 0, extent);
    end = std::clamp<int64_t>(end, 0, extent);
    if (end > range.start) range.count = (end - range.start - 1) / step + 1;
  } else if (extent > 0) {
    range.start = std::clamp<int64_t>(start, 0, extent - 1);
    end = std::clamp<int64_t>(end, -1, extent - 1);
    if (end < range.start) range.count = (range.start - end - 1) / -step + 1;
  }
  if (range.count == 0) range.start = 0;
  return range;
}

}  // namespace tensord

#endif  // TENSORD_BACKENDS_API_SLICE_RANGE_H_
