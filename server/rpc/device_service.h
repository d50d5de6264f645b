#ifndef TENSORD_SERVER_RPC_DEVICE_SERVICE_H_
#define TENSORD_SERVER_RPC_DEVICE_SERVICE_H_

#include <memory>

#include "server/rpc/raw_service.h"

namespace tensord {

// tensord.v1.DeviceService. Whoever may call may drain: there is no
// authorisation in this version.
std::unique_ptr<RawService> MakeDeviceService(
    const ServiceEnvironment& environment);

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_DEVICE_SERVICE_H_
