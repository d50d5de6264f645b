#ifndef TENSORD_BACKENDS_API_SHAPE_H_
#define TENSORD_BACKENDS_API_SHAPE_H_

#include <cstdint>
#include <initializer_list>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace tensord {

// The most dimensions that any tensor may have. Kernels keep indices in arrays
// of this size. ONNX names no limit; its own suite goes to 7.
inline constexpr int kMaxRank = 16;

// The most elements that any tensor may have, whatever the configured limits
// say: 2^48, so that byte sizes and strides of the widest dtype stay far from
// 64 bits.
inline constexpr int64_t kMaxElementCount = int64_t{1} << 48;

using Dims = absl::InlinedVector<int64_t, 6>;

// The concrete extents of a tensor, outermost first. Rank 0 is a scalar with
// one element; an extent of 0 makes the tensor empty.
//
// Invariant: rank <= kMaxRank, every extent >= 0, product <= kMaxElementCount.
//   Create() checks it and is the way in for everything that a client sized.
// Threading and ownership: a plain value.
class Shape {
 public:
  Shape() = default;

  // For shapes that are right by construction (tests, derived shapes that are
  // no larger than their inputs); a violation is a bug and aborts.
  Shape(std::initializer_list<int64_t> extents);

  // kInvalidArgument that names the dimension and the numbers.
  static absl::StatusOr<Shape> Create(absl::Span<const int64_t> extents);

  int rank() const { return static_cast<int>(extents_.size()); }
  int64_t operator[](int dimension) const { return extents_[dimension]; }
  absl::Span<const int64_t> extents() const { return extents_; }

  // Product of all extents; 1 for a scalar.
  int64_t element_count() const { return element_count_; }

  // Product of the extents in [begin, end); 1 for an empty range.
  int64_t ElementCount(int begin, int end) const;

  // "[2, 3, 4]"; "[]" for a scalar.
  std::string ToString() const;

  friend bool operator==(const Shape& a, const Shape& b) {
    return a.extents_ == b.extents_;
  }
  friend bool operator!=(const Shape& a, const Shape& b) { return !(a == b); }
  template <typename H>
  friend H AbslHashValue(H h, const Shape& shape) {
    return H::combine(std::move(h), shape.extents_);
  }

 private:
  Dims extents_;
  int64_t element_count_ = 1;
};

}  // namespace tensord

#endif  // TENSORD_BACKENDS_API_SHAPE_H_
