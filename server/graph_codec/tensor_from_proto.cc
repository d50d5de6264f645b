#include "server/graph_codec/tensor_from_proto.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"

namespace tensord {

absl::StatusOr<HostTensor> TensorFromProto(v1::Tensor& proto) {
  const std::optional<DType> dtype = DTypeFromNumber(proto.dtype());
  if (!dtype.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("dtype ", static_cast<int>(proto.dtype()),
                     " is not one that there is"));
  }
  if (*dtype == DType::kString) {
    return absl::UnimplementedError("tensors of strings are not supported");
  }
  TENSORD_ASSIGN_OR_RETURN(
      Shape shape, Shape::Create(absl::MakeConstSpan(proto.dims().data(),
                                                     proto.dims().size())));
  absl::StatusOr<HostTensor> tensor = HostTensor::Copy(
      *dtype, std::move(shape),
      absl::MakeConstSpan(
          reinterpret_cast<const std::byte*>(proto.data().data()),
          proto.data().size()));
  std::string().swap(*proto.mutable_data());
  return tensor;
}

}  // namespace tensord
