#include "server/rpc/device_names.h"

#include "server/errors/error_details.h"

namespace tensord {

absl::StatusOr<DeviceWish> FindDevice(const Engine& engine,
                                      absl::string_view name) {
  if (name.empty()) return DeviceWish();
  for (const DeviceStatus& status : engine.Devices()) {
    const DeviceId id = status.info.id;
    if (id.ToString() == name) return DeviceWish{.device = id};
    if (BackendName(id.backend) == name) {
      return DeviceWish{.backend = id.backend};
    }
  }
  return ResourceNotFound("device", name);
}

}  // namespace tensord
