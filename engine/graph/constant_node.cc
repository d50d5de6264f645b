#include "engine/graph/constant_node.h"

#include <cstring>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/graph/escape.h"
#include "engine/graph/status_macros.h"

namespace tensord {
namespace {

template <typename T>
HostTensor FromElements(Shape shape, absl::Span<const T> elements) {
  return HostTensor::Make(
      kDTypeOf<T>, std::move(shape), [&](absl::Span<std::byte> bytes) {
        if (!bytes.empty()) {
          std::memcpy(bytes.data(), elements.data(), bytes.size());
        }
      });
}

}  // namespace

absl::StatusOr<HostTensor> ConstantNodeValue(const Attributes& attributes) {
  if (attributes.size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(attributes.size(),
                     " attributes, where a Constant has exactly one value"));
  }
  const absl::string_view name = attributes.Names().front();
  if (name == "value") {
    TENSORD_ASSIGN_OR_RETURN(HostTensor tensor, attributes.Tensor(name));
    if (!tensor.is_present()) {
      return absl::InvalidArgumentError("attribute 'value' has no tensor");
    }
    return tensor;
  }
  if (name == "value_float") {
    TENSORD_ASSIGN_OR_RETURN(const float value, attributes.Float(name, 0));
    return FromElements<float>(Shape(), {value});
  }
  if (name == "value_int") {
    TENSORD_ASSIGN_OR_RETURN(const int64_t value, attributes.Int(name, 0));
    return FromElements<int64_t>(Shape(), {value});
  }
  if (name == "value_floats") {
    TENSORD_ASSIGN_OR_RETURN(const std::vector<float> values,
                             attributes.Floats(name));
    return FromElements<float>(Shape({static_cast<int64_t>(values.size())}),
                               values);
  }
  if (name == "value_ints") {
    TENSORD_ASSIGN_OR_RETURN(const std::vector<int64_t> values,
                             attributes.Ints(name));
    return HostTensor::Int64s(values);
  }
  if (name == "value_string" || name == "value_strings" ||
      name == "sparse_value") {
    return absl::UnimplementedError(
        absl::StrCat("constants by ", name, " are not supported"));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("unknown attribute ", Quoted(name)));
}

}  // namespace tensord
