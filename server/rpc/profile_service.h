#ifndef TENSORD_SERVER_RPC_PROFILE_SERVICE_H_
#define TENSORD_SERVER_RPC_PROFILE_SERVICE_H_

#include <memory>

#include "server/rpc/raw_service.h"

namespace tensord {

// tensord.v1.ProfileService.
std::unique_ptr<RawService> MakeProfileService(
    const ServiceEnvironment& environment);

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_PROFILE_SERVICE_H_
