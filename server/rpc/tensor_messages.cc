#include "server/rpc/tensor_messages.h"

#include <algorithm>

#include "server/rpc/time_messages.h"

namespace tensord {

void FillTensorInfo(const ResidentTensor& tensor, v1::TensorInfo& info) {
  const ResidentTensor::Description& description = tensor.description();
  info.set_tensor_id(description.id);
  info.set_session_id(tensor.session()->id());
  info.set_dtype(static_cast<v1::DType>(description.dtype));
  for (const int64_t extent : description.shape.extents()) {
    info.add_dims(extent);
  }
  info.set_size_bytes(static_cast<int64_t>(tensor.size_bytes()));
  info.set_device(description.device.ToString());
  FillTime(description.create_time, *info.mutable_create_time());
  FillTime(std::min(tensor.expire_time(), tensor.session()->expire_time()),
           *info.mutable_expire_time());
  info.set_content_sha256(description.content_sha256);
  info.set_execution_id(description.execution_id);
}

}  // namespace tensord
