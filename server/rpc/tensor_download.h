#ifndef TENSORD_SERVER_RPC_TENSOR_DOWNLOAD_H_
#define TENSORD_SERVER_RPC_TENSOR_DOWNLOAD_H_

#include "server/rpc/raw_service.h"

namespace tensord {

// TensorService.DownloadTensor. Chunks are slices over the tensor's own bytes.
// Ownership: `method` outlives the handler.
RawService::WriteHandler MakeTensorDownloadHandler(const MethodRecord& method);

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_TENSOR_DOWNLOAD_H_
