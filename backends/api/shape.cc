#include "backends/api/shape.h"

#include <cstdio>
#include <cstdlib>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace tensord {

Shape::Shape(std::initializer_list<int64_t> extents) {
  absl::StatusOr<Shape> shape =
      Create(absl::MakeConstSpan(extents.begin(), extents.size()));
  if (!shape.ok()) {
    std::fprintf(stderr, "%s\n", std::string(shape.status().message()).c_str());
    std::abort();
  }
  *this = *std::move(shape);
}

absl::StatusOr<Shape> Shape::Create(absl::Span<const int64_t> extents) {
  if (extents.size() > kMaxRank) {
    return absl::InvalidArgumentError(absl::StrCat(
        "rank ", extents.size(), " is above the limit of ", kMaxRank));
  }
  Shape shape;
  // The product without its zeros is bounded as well, so that strides and
  // partial products of an empty tensor stay in range too.
  int64_t nonzero_product = 1;
  for (size_t i = 0; i < extents.size(); ++i) {
    const int64_t extent = extents[i];
    if (extent < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("dimension ", i, " is ", extent, ", below 0"));
    }
    if (extent == 0) {
      shape.element_count_ = 0;
    } else if (extent > kMaxElementCount / nonzero_product) {
      return absl::InvalidArgumentError(
          absl::StrCat("shape [", absl::StrJoin(extents, ", "),
                       "] has more than ", kMaxElementCount, " elements"));
    } else {
      nonzero_product *= extent;
    }
  }
  if (shape.element_count_ != 0) shape.element_count_ = nonzero_product;
  shape.extents_.assign(extents.begin(), extents.end());
  return shape;
}

int64_t Shape::ElementCount(int begin, int end) const {
  int64_t product = 1;
  for (int i = begin; i < end; ++i) product *= extents_[i];
  return product;
}

std::string Shape::ToString() const {
  return absl::StrCat("[", absl::StrJoin(extents_, ", "), "]");
}

}  // namespace tensord
