#ifndef TENSORD_BACKENDS_CPU_KERNELS_INDICES_H_
#define TENSORD_BACKENDS_CPU_KERNELS_INDICES_H_

#include <array>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/api/shape.h"

namespace tensord {

// kInvalidArgument for the first index outside [-extent, extent).
template <typename Index>
absl::Status CheckIndices(const Index* indices, int64_t count, int64_t extent) {
  for (int64_t k = 0; k < count; ++k) {
    if (indices[k] >= -extent && indices[k] < extent) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("index ", indices[k], " at position ", k, " of ", count,
                     " is outside [", -extent, ", ", extent, ")"));
  }
  return absl::OkStatus();
}

// Tuples of `length` indices, each of which picks a slice of a contiguous
// tensor: the first index is one of dimension `first`, and so on.
//
// Threading and ownership: a plain value.
class TupleIndex {
 public:
  TupleIndex(const Shape& shape, int first, int64_t length)
      : length_(length),
        slice_(shape.ElementCount(first + static_cast<int>(length),
                                  shape.rank())) {
    int64_t stride = slice_;
    for (int64_t k = length - 1; k >= 0; --k) {
      extents_[k] = shape[first + static_cast<int>(k)];
      strides_[k] = stride;
      stride *= extents_[k];
    }
    whole_ = stride;
  }

  int64_t length() const { return length_; }
  // Elements of one slice, and of everything that a tuple picks from.
  int64_t slice() const { return slice_; }
  int64_t whole() const { return whole_; }

  absl::Status Check(const int64_t* tuples, int64_t count) const {
    for (int64_t t = 0; t < count; ++t) {
      for (int64_t k = 0; k < length_; ++k) {
        const int64_t index = tuples[t * length_ + k];
        if (index >= -extents_[k] && index < extents_[k]) continue;
        return absl::InvalidArgumentError(absl::StrCat(
            "index ", index, " at place ", k, " of tuple ", t, " is outside [",
            -extents_[k], ", ", extents_[k], ")"));
      }
    }
    return absl::OkStatus();
  }

  // Where the slice of a checked tuple begins.
  int64_t OffsetOf(const int64_t* tuple) const {
    int64_t offset = 0;
    for (int64_t k = 0; k < length_; ++k) {
      offset +=
          (tuple[k] < 0 ? tuple[k] + extents_[k] : tuple[k]) * strides_[k];
    }
    return offset;
  }

 private:
  int64_t length_;
  int64_t slice_;
  int64_t whole_;
  std::array<int64_t, kMaxRank> extents_;
  std::array<int64_t, kMaxRank> strides_;
};

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_INDICES_H_
