#ifndef TENSORD_SERVER_RPC_TENSOR_MESSAGES_H_
#define TENSORD_SERVER_RPC_TENSOR_MESSAGES_H_

#include "server/tensors/resident_tensor.h"
#include "tensord/v1/types.pb.h"

namespace tensord {

// A resident tensor as the API's message. Threading and ownership: pure.
void FillTensorInfo(const ResidentTensor& tensor, v1::TensorInfo& info);

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_TENSOR_MESSAGES_H_
