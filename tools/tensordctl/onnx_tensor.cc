#include "tools/tensordctl/onnx_tensor.h"

#include <cstdint>
#include <limits>

#include "absl/strings/str_cat.h"
#include "onnx/onnx.pb.h"
#include "tools/tensordctl/elements.h"
#include "tools/tensordctl/type_text.h"

namespace tensord::ctl {
namespace {

absl::Status WrongCount(const v1::Tensor& tensor, absl::string_view field,
                        int64_t expected, int64_t there) {
  return absl::InvalidArgumentError(
      absl::StrCat(TypeText(tensor), " needs ", expected, " entries in ", field,
                   ", and ", there, " are there"));
}

// int32_data carries every narrower dtype, and the bits of the 16-bit floats.
template <typename T>
absl::Status AppendNarrow(const onnx::TensorProto& proto, v1::Tensor& tensor) {
  std::string& data = *tensor.mutable_data();
  for (int32_t value : proto.int32_data()) {
    if (value < std::numeric_limits<T>::min() ||
        value > std::numeric_limits<T>::max()) {
      return absl::InvalidArgumentError(absl::StrCat(
          value, " in int32_data is no ", DTypeText(tensor.dtype())));
    }
    const T narrow = static_cast<T>(value);
    data.append(reinterpret_cast<const char*>(&narrow), sizeof(narrow));
  }
  return absl::OkStatus();
}

template <typename T, typename Field>
absl::Status Append(const Field& field, v1::Tensor& tensor) {
  std::string& data = *tensor.mutable_data();
  for (const auto& value : field) {
    const T element = static_cast<T>(value);
    data.append(reinterpret_cast<const char*>(&element), sizeof(element));
  }
  return absl::OkStatus();
}

absl::Status AppendStrings(const onnx::TensorProto& proto, int64_t count,
                           v1::Tensor& tensor) {
  if (proto.string_data_size() != count) {
    return WrongCount(tensor, "string_data", count, proto.string_data_size());
  }
  for (const std::string& text : proto.string_data()) {
    const uint32_t size = static_cast<uint32_t>(text.size());
    tensor.mutable_data()->append(reinterpret_cast<const char*>(&size), 4);
    tensor.mutable_data()->append(text);
  }
  return absl::OkStatus();
}

absl::Status AppendTyped(const onnx::TensorProto& proto, v1::Tensor& tensor) {
  switch (tensor.dtype()) {
    case v1::DTYPE_FLOAT32:
    case v1::DTYPE_COMPLEX64:
      return Append<float>(proto.float_data(), tensor);
    case v1::DTYPE_FLOAT64:
    case v1::DTYPE_COMPLEX128:
      return Append<double>(proto.double_data(), tensor);
    case v1::DTYPE_INT64:
      return Append<int64_t>(proto.int64_data(), tensor);
    case v1::DTYPE_UINT64:
      return Append<uint64_t>(proto.uint64_data(), tensor);
    case v1::DTYPE_UINT32:
      return Append<uint32_t>(proto.uint64_data(), tensor);
    case v1::DTYPE_INT32:
      return Append<int32_t>(proto.int32_data(), tensor);
    case v1::DTYPE_INT16:
      return AppendNarrow<int16_t>(proto, tensor);
    case v1::DTYPE_INT8:
      return AppendNarrow<int8_t>(proto, tensor);
    case v1::DTYPE_UINT16:
    case v1::DTYPE_FLOAT16:
    case v1::DTYPE_BFLOAT16:
      return AppendNarrow<uint16_t>(proto, tensor);
    case v1::DTYPE_BOOL:
      for (int32_t value : proto.int32_data()) {
        tensor.mutable_data()->push_back(value != 0 ? 1 : 0);
      }
      return absl::OkStatus();
    default:
      // One entry a byte, whatever the byte means.
      return AppendNarrow<uint8_t>(proto, tensor);
  }
}

}  // namespace

absl::StatusOr<v1::Tensor> ReadOnnxTensor(absl::string_view bytes) {
  onnx::TensorProto proto;
  if (!proto.ParseFromString(std::string(bytes))) {
    return absl::InvalidArgumentError(
        absl::StrCat("its ", bytes.size(), " bytes are no onnx.TensorProto"));
  }
  if (proto.has_segment() || proto.external_data_size() > 0 ||
      proto.data_location() == onnx::TensorProto::EXTERNAL) {
    return absl::InvalidArgumentError(
        "its elements are in another file or in segments");
  }
  v1::Tensor tensor;
  if (!v1::DType_IsValid(proto.data_type()) || proto.data_type() == 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "its data_type is ", proto.data_type(), ", which is none of ONNX's"));
  }
  tensor.set_dtype(static_cast<v1::DType>(proto.data_type()));
  *tensor.mutable_dims() = proto.dims();
  const auto count = ElementCount(tensor.dims());
  if (!count.ok()) return count.status();
  if (tensor.dtype() == v1::DTYPE_STRING) {
    const absl::Status appended = AppendStrings(proto, *count, tensor);
    if (!appended.ok()) return appended;
    return tensor;
  }
  const auto size = DataBytes(tensor.dtype(), tensor.dims());
  if (!size.ok()) return size.status();
  if (proto.has_raw_data()) {
    *tensor.mutable_data() = std::move(*proto.mutable_raw_data());
  } else {
    const absl::Status appended = AppendTyped(proto, tensor);
    if (!appended.ok()) return appended;
  }
  if (static_cast<int64_t>(tensor.data().size()) != *size) {
    return absl::InvalidArgumentError(
        absl::StrCat("its ", TypeText(tensor), " needs ", *size, " bytes, and ",
                     tensor.data().size(), " are there"));
  }
  return tensor;
}

std::string WriteOnnxTensor(const v1::Tensor& tensor, absl::string_view name) {
  onnx::TensorProto proto;
  proto.set_name(std::string(name));
  proto.set_data_type(tensor.dtype());
  *proto.mutable_dims() = tensor.dims();
  if (tensor.dtype() != v1::DTYPE_STRING) {
    proto.set_raw_data(tensor.data());
    return proto.SerializeAsString();
  }
  absl::string_view rest = tensor.data();
  while (rest.size() >= 4) {
    uint32_t size;
    std::memcpy(&size, rest.data(), 4);
    proto.add_string_data(std::string(rest.substr(4, size)));
    rest.remove_prefix(std::min<size_t>(rest.size(), size_t{4} + size));
  }
  return proto.SerializeAsString();
}

}  // namespace tensord::ctl
