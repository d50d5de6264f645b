#include "server/wire/tensor_check.h"

#include <algorithm>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "engine/graph/escape.h"
#include "engine/graph/status_macros.h"
#include "server/errors/error_details.h"

namespace tensord {
namespace {

absl::Status Invalid(absl::string_view name, std::string what,
                     v1::InvalidTensor detail = {}) {
  detail.set_name(Escape(name));
  detail.set_description(what);
  return WithDetail(absl::InvalidArgumentError(
                        absl::StrCat("input ", Quoted(name), ": ", what)),
                    detail);
}

v1::InvalidTensor DetailOf(const HostValue& value) {
  v1::InvalidTensor detail;
  detail.set_dtype(static_cast<v1::DType>(value.dtype));
  for (int64_t extent : value.shape.extents()) detail.add_dims(extent);
  detail.set_expected_bytes(
      static_cast<int64_t>(ByteSize(value.dtype, value.shape.element_count())));
  detail.set_received_bytes(static_cast<int64_t>(value.bytes.size()));
  return detail;
}

bool AreBooleans(absl::Span<const std::byte> bytes) {
  // Without a branch on each, so that it is done in vectors.
  std::byte any{0};
  for (std::byte byte : bytes) any |= byte;
  return (any & ~std::byte{1}) == std::byte{0};
}

// The bits of the last byte that belong to no element are 0.
bool HasCleanPadding(const HostValue& value) {
  const int64_t bits = value.shape.element_count() * BitWidth(value.dtype);
  const int used = static_cast<int>(bits % 8);
  if (used == 0) return true;
  return (value.bytes.bytes().back() >> used) == std::byte{0};
}

}  // namespace

absl::StatusOr<DType> CheckedDType(absl::string_view name, uint64_t number) {
  const std::optional<DType> dtype =
      DTypeFromNumber(static_cast<int32_t>(number));
  if (!dtype.has_value()) {
    return Invalid(name, number == 0
                             ? std::string("its tensor has no dtype")
                             : absl::StrCat("there is no dtype of number ",
                                            static_cast<int32_t>(number)));
  }
  if (BitWidth(*dtype) == 0) {
    return FeatureOff("A tensor of strings as an input");
  }
  return *dtype;
}

absl::StatusOr<Shape> CheckedShape(absl::string_view name, const Dims& dims,
                                   int64_t max_elements) {
  absl::StatusOr<Shape> shape = Shape::Create(dims);
  if (!shape.ok()) {
    v1::InvalidTensor detail;
    for (int64_t extent : dims) detail.add_dims(extent);
    return Invalid(name, std::string(shape.status().message()),
                   std::move(detail));
  }
  if (shape->element_count() > max_elements) {
    return LimitExceeded(absl::StrCat("input ", Quoted(name)),
                         shape->element_count(), "elements", "max_elements",
                         max_elements);
  }
  return shape;
}

absl::Status CheckTensorBytes(absl::string_view name, const HostValue& value) {
  const uint64_t expected = ByteSize(value.dtype, value.shape.element_count());
  if (value.bytes.size() != expected) {
    return Invalid(
        name,
        absl::StrCat(value.bytes.size(), " bytes for ", DTypeName(value.dtype),
                     " ", value.shape.ToString(), ", which takes ", expected),
        DetailOf(value));
  }
  if (value.dtype == DType::kBool && !AreBooleans(value.bytes.bytes())) {
    return Invalid(name, "a bool is neither 0 nor 1", DetailOf(value));
  }
  if (!HasCleanPadding(value)) {
    return Invalid(name, "the unused bits of its last byte are not zero",
                   DetailOf(value));
  }
  return absl::OkStatus();
}

}  // namespace tensord
