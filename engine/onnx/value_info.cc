#include "engine/onnx/value_info.h"

#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "onnx/onnx.pb.h"

namespace tensord {
namespace {

using onnx::TypeProto;

absl::string_view KindOfType(const TypeProto& type) {
  switch (type.value_case()) {
    case TypeProto::kTensorType:
      return "a tensor";
    case TypeProto::kSequenceType:
      return "a sequence";
    case TypeProto::kMapType:
      return "a map";
    case TypeProto::kOptionalType:
      return "an optional";
    case TypeProto::kSparseTensorType:
      return "a sparse tensor";
    case TypeProto::kOpaqueType:
      return "an opaque value";
    default:
      return "of no known type";
  }
}

absl::StatusOr<DType> ReadElementType(const TypeProto::Tensor& tensor) {
  if (tensor.elem_type() == 0) return DType::kUndefined;
  const std::optional<DType> dtype = DTypeFromNumber(tensor.elem_type());
  if (!dtype.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("elem_type ", tensor.elem_type(), " is no dtype"));
  }
  if (*dtype == DType::kString) {
    return absl::UnimplementedError("holds strings, which are not supported");
  }
  return *dtype;
}

// The tensor type within sequences and optionals, which may nest. A loop: depth
// costs no call stack.
absl::Status CheckElements(const TypeProto& type) {
  const TypeProto* inner = &type;
  for (;;) {
    switch (inner->value_case()) {
      case TypeProto::kSequenceType:
        inner = &inner->sequence_type().elem_type();
        break;
      case TypeProto::kOptionalType:
        inner = &inner->optional_type().elem_type();
        break;
      case TypeProto::kTensorType:
        return ReadElementType(inner->tensor_type()).status();
      case TypeProto::VALUE_NOT_SET:
        return absl::OkStatus();
      default:
        return absl::UnimplementedError(absl::StrCat(
            "holds ", KindOfType(*inner), "; only tensors are supported"));
    }
  }
}

}  // namespace

absl::StatusOr<ValueDef> ReadOnnxValueInfo(const onnx::ValueInfoProto& proto,
                                           ValuePlace place) {
  ValueDef value;
  value.name = proto.name();
  const TypeProto& type = proto.type();
  // In nested graphs, and in outputs of some exporters, types are left out.
  if (type.value_case() == TypeProto::VALUE_NOT_SET) return value;
  const bool is_container = type.value_case() == TypeProto::kSequenceType ||
                            type.value_case() == TypeProto::kOptionalType;
  if (is_container && place == ValuePlace::kBody) {
    TENSORD_RETURN_IF_ERROR(CheckElements(type));
    return value;
  }
  if (type.value_case() != TypeProto::kTensorType) {
    return absl::UnimplementedError(absl::StrCat(
        "is ", KindOfType(type), "; only tensors are supported",
        is_container ? " as inputs and outputs of the whole graph" : ""));
  }
  const TypeProto::Tensor& tensor = type.tensor_type();
  TENSORD_ASSIGN_OR_RETURN(value.dtype, ReadElementType(tensor));
  if (!tensor.has_shape()) return value;
  value.dims.emplace();
  for (const auto& dim : tensor.shape().dim()) {
    if (dim.has_dim_value()) {
      value.dims->emplace_back(int64_t{dim.dim_value()});
    } else if (!dim.dim_param().empty()) {
      value.dims->emplace_back(dim.dim_param());
    } else {
      value.dims->emplace_back();
    }
  }
  return value;
}

}  // namespace tensord
