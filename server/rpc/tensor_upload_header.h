#ifndef TENSORD_SERVER_RPC_TENSOR_UPLOAD_HEADER_H_
#define TENSORD_SERVER_RPC_TENSOR_UPLOAD_HEADER_H_

#include "absl/status/statusor.h"
#include "server/rpc/service_environment.h"
#include "server/tensors/tensor_upload.h"
#include "tensord/v1/tensor_service.pb.h"

namespace tensord {

// What an upload declares, checked, as far as it does not depend on a session.
// Threading: thread-safe.
// Errors: kInvalidArgument with BadRequest or InvalidTensor; kNotFound for the
//   device; kResourceExhausted for max_rank, max_elements or max_upload_bytes;
//   kUnimplemented for strings.
absl::StatusOr<TensorUpload::Header> ReadUploadHeader(
    const v1::UploadTensorHeader& message,
    const ServiceEnvironment& environment);

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_TENSOR_UPLOAD_HEADER_H_
