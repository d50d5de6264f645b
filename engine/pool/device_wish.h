#ifndef TENSORD_ENGINE_POOL_DEVICE_WISH_H_
#define TENSORD_ENGINE_POOL_DEVICE_WISH_H_

#include <optional>

#include "backends/api/device_id.h"

namespace tensord {

// Where a client wants its run: on one device, on any of one backend, or
// wherever the pool likes. At most one of them is there.
// Threading and ownership: a plain value.
struct DeviceWish {
  std::optional<DeviceId> device;
  std::optional<BackendId> backend;

  bool Allows(DeviceId id) const {
    return device.value_or(id) == id &&
           backend.value_or(id.backend) == id.backend;
  }
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_POOL_DEVICE_WISH_H_
