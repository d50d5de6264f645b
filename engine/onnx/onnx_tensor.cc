#include "engine/onnx/onnx_tensor.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "onnx/onnx.pb.h"

namespace tensord {
namespace {

absl::Status CheckCount(absl::string_view field, int64_t count,
                        int64_t expected, DType dtype, const Shape& shape) {
  if (count == expected) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(count, " elements of ", field, " for ", DTypeName(dtype),
                   " ", shape.ToString(), ", which takes ", expected));
}

// Elements that are stored as they are.
template <typename Field>
absl::StatusOr<HostTensor> FromSameSize(absl::string_view name,
                                        const Field& field,
                                        int64_t values_per_element, DType dtype,
                                        Shape shape) {
  TENSORD_RETURN_IF_ERROR(CheckCount(name, field.size(),
                                     shape.element_count() * values_per_element,
                                     dtype, shape));
  return HostTensor::Make(
      dtype, std::move(shape), [&](absl::Span<std::byte> bytes) {
        if (!bytes.empty()) {
          std::memcpy(bytes.data(), field.data(), bytes.size());
        }
      });
}

// Elements of at most 32 bits, each in an integer of its own; those below 8
// bits come packed, a byte's worth in each integer.
template <typename Field>
absl::StatusOr<HostTensor> FromWiderIntegers(absl::string_view name,
                                             const Field& field, DType dtype,
                                             Shape shape) {
  const int unit_bits = std::max(BitWidth(dtype), 8);
  const auto size_bytes =
      static_cast<int64_t>(ByteSize(dtype, shape.element_count()));
  const int unit_bytes = unit_bits / 8;
  TENSORD_RETURN_IF_ERROR(
      CheckCount(name, field.size(), size_bytes / unit_bytes, dtype, shape));

  // Signed and unsigned readings are both in use for the same bits.
  const int64_t low = -(int64_t{1} << (unit_bits - 1));
  const int64_t high = (int64_t{1} << unit_bits) - 1;
  absl::Status status;
  HostTensor tensor = HostTensor::Make(
      dtype, std::move(shape), [&](absl::Span<std::byte> bytes) {
        for (int i = 0; i < field.size(); ++i) {
          const auto value = static_cast<int64_t>(field.Get(i));
          const bool fits = dtype == DType::kBool
                                ? value == 0 || value == 1
                                : value >= low && value <= high;
          if (!fits && status.ok()) {
            status = absl::InvalidArgumentError(
                absl::StrCat("element ", i, " of ", name, " is ", field.Get(i),
                             ", out of range for ", DTypeName(dtype)));
          }
          std::memcpy(bytes.data() + i * unit_bytes, &value, unit_bytes);
        }
      });
  TENSORD_RETURN_IF_ERROR(status);
  return tensor;
}

absl::StatusOr<HostTensor> FromTypedField(const onnx::TensorProto& proto,
                                          DType dtype, Shape shape) {
  switch (dtype) {
    case DType::kFloat32:
      return FromSameSize("float_data", proto.float_data(), 1, dtype,
                          std::move(shape));
    case DType::kComplex64:
      return FromSameSize("float_data", proto.float_data(), 2, dtype,
                          std::move(shape));
    case DType::kFloat64:
      return FromSameSize("double_data", proto.double_data(), 1, dtype,
                          std::move(shape));
    case DType::kComplex128:
      return FromSameSize("double_data", proto.double_data(), 2, dtype,
                          std::move(shape));
    case DType::kInt64:
      return FromSameSize("int64_data", proto.int64_data(), 1, dtype,
                          std::move(shape));
    case DType::kUInt64:
      return FromSameSize("uint64_data", proto.uint64_data(), 1, dtype,
                          std::move(shape));
    case DType::kUInt32:
      return FromWiderIntegers("uint64_data", proto.uint64_data(), dtype,
                               std::move(shape));
    default:
      return FromWiderIntegers("int32_data", proto.int32_data(), dtype,
                               std::move(shape));
  }
}

}  // namespace

absl::StatusOr<HostTensor> ReadOnnxTensor(onnx::TensorProto& proto) {
  if (proto.data_location() == onnx::TensorProto::EXTERNAL ||
      proto.external_data_size() > 0) {
    return absl::InvalidArgumentError(
        "its data is external; a submitted model must have it inside");
  }
  if (proto.has_segment()) {
    return absl::UnimplementedError("tensors in segments are not supported");
  }
  const std::optional<DType> dtype = DTypeFromNumber(proto.data_type());
  if (!dtype.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("data_type ", proto.data_type(), " is no dtype"));
  }
  if (*dtype == DType::kString) {
    return absl::UnimplementedError("tensors of strings are not supported");
  }
  TENSORD_ASSIGN_OR_RETURN(
      Shape shape, Shape::Create(absl::MakeConstSpan(proto.dims().data(),
                                                     proto.dims().size())));
  const int64_t typed_count =
      int64_t{proto.float_data_size()} + proto.int32_data_size() +
      proto.int64_data_size() + proto.double_data_size() +
      proto.uint64_data_size() + proto.string_data_size();
  if (!proto.has_raw_data()) {
    return FromTypedField(proto, *dtype, std::move(shape));
  }
  if (typed_count != 0 && !proto.raw_data().empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("both raw_data (", proto.raw_data().size(), " bytes) and ",
                     typed_count, " typed elements"));
  }
  if (typed_count != 0) return FromTypedField(proto, *dtype, std::move(shape));
  absl::StatusOr<HostTensor> tensor = HostTensor::Copy(
      *dtype, std::move(shape),
      absl::MakeConstSpan(
          reinterpret_cast<const std::byte*>(proto.raw_data().data()),
          proto.raw_data().size()));
  std::string().swap(*proto.mutable_raw_data());
  return tensor;
}

}  // namespace tensord
