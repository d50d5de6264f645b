#include "server/rpc/device_names.h"

#include <vector>

#include "server/errors/error_details.h"

namespace tensord {
namespace {

bool IsUsable(const DeviceStatus& status) {
  return status.health.ok() && !status.is_draining;
}

int64_t Load(const DeviceStatus& status) {
  return status.in_flight + status.queue_depth;
}

}  // namespace

absl::StatusOr<std::optional<DeviceId>> FindDevice(const Engine& engine,
                                                   absl::string_view name) {
  if (name.empty()) return std::optional<DeviceId>();
  const std::vector<DeviceStatus> devices = engine.Devices();
  const DeviceStatus* best = nullptr;
  for (const DeviceStatus& status : devices) {
    if (status.info.id.ToString() == name) return std::optional(status.info.id);
    if (BackendName(status.info.id.backend) != name) continue;
    // A backend whose devices are all ill is still there: the run will say so.
    if (best == nullptr || (IsUsable(status) && !IsUsable(*best)) ||
        (IsUsable(status) == IsUsable(*best) && Load(status) < Load(*best))) {
      best = &status;
    }
  }
  if (best == nullptr) return ResourceNotFound("device", name);
  return std::optional(best->info.id);
}

}  // namespace tensord
