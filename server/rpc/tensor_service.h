#ifndef TENSORD_SERVER_RPC_TENSOR_SERVICE_H_
#define TENSORD_SERVER_RPC_TENSOR_SERVICE_H_

#include <memory>

#include "server/rpc/raw_service.h"

namespace tensord {

// tensord.v1.TensorService. Ownership: borrows the environment.
std::unique_ptr<RawService> MakeTensorService(
    const ServiceEnvironment& environment);

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_TENSOR_SERVICE_H_
