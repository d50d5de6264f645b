#ifndef TENSORD_SERVER_RPC_TENSOR_UPLOAD_CALL_H_
#define TENSORD_SERVER_RPC_TENSOR_UPLOAD_CALL_H_

#include "server/rpc/raw_service.h"

namespace tensord {

// TensorService.UploadTensor. A chunk is copied once, from where gRPC received
// it to its place in the tensor.
// Ownership: `method` outlives the handler.
RawService::ReadHandler MakeTensorUploadHandler(const MethodRecord& method);

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_TENSOR_UPLOAD_CALL_H_
