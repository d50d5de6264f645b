#ifndef TENSORD_ENGINE_PLACE_DEVICE_RATES_H_
#define TENSORD_ENGINE_PLACE_DEVICE_RATES_H_

#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "backends/api/backend.h"
#include "backends/api/device_id.h"

namespace tensord {

// What estimates are made with: each device's description, with the rates that
// calibration measured in place of those that the device supposes.
//
// Threading: Set() before it is shared; immutable afterwards.
// Ownership: owns its copies.
class DeviceRates {
 public:
  void Set(DeviceInfo info) {
    const DeviceId id = info.id;
    infos_[id] = std::make_unique<const DeviceInfo>(std::move(info));
  }

  // The device's own description where it was not calibrated.
  const DeviceInfo& Of(const Device& device) const {
    const auto found = infos_.find(device.info().id);
    return found == infos_.end() ? device.info() : *found->second;
  }

 private:
  absl::flat_hash_map<DeviceId, std::unique_ptr<const DeviceInfo>> infos_;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_PLACE_DEVICE_RATES_H_
