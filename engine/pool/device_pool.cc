#include "engine/pool/device_pool.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tensord {
namespace {

// Less work for each lane; the numbers are small.
bool IsLessLoaded(const PooledDevice& a, const PooledDevice& b) {
  return a.load() * b.lane_count() < b.load() * a.lane_count();
}

}  // namespace

absl::StatusOr<std::unique_ptr<DevicePool>> DevicePool::Create(
    std::vector<std::unique_ptr<Device>> devices, const PoolOptions& options,
    PoolServices services) {
  std::unique_ptr<DevicePool> pool(new DevicePool(std::move(services)));
  for (std::unique_ptr<Device>& device : devices) {
    absl::StatusOr<std::unique_ptr<PooledDevice>> pooled =
        PooledDevice::Create(std::move(device), options, pool->services_);
    if (!pooled.ok()) return pooled.status();
    pool->has_computing_device_ |= (*pooled)->info().computes;
    pool->devices_.push_back(*std::move(pooled));
  }
  return pool;
}

absl::StatusOr<PooledDevice*> DevicePool::Choose(
    BackendSet capable, std::optional<DeviceId> wanted) const {
  if (wanted.has_value()) {
    PooledDevice* device = Find(*wanted);
    if (device == nullptr) {
      return absl::NotFoundError(
          absl::StrCat("no device ", wanted->ToString(), " is in the pool"));
    }
    absl::Status status = device->Availability();
    if (!status.ok()) return status;
    return device;
  }
  PooledDevice* best = nullptr;
  for (const auto& device : devices_) {
    if (!capable[static_cast<int>(device->info().id.backend)]) continue;
    if (has_computing_device_ && !device->info().computes) continue;
    if (best != nullptr && !IsLessLoaded(*device, *best)) continue;
    if (device->is_available()) best = device.get();
  }
  if (best == nullptr) return NoneAvailable(capable);
  return best;
}

absl::Status DevicePool::NoneAvailable(BackendSet capable) const {
  std::string reasons;
  for (const auto& device : devices_) {
    if (!capable[static_cast<int>(device->info().id.backend)]) continue;
    const absl::Status status = device->Availability();
    if (status.ok()) continue;
    absl::StrAppend(&reasons, reasons.empty() ? ": " : "; ", status.message());
  }
  return absl::UnavailableError(
      absl::StrCat("no device takes executions of this graph", reasons));
}

PooledDevice* DevicePool::Find(DeviceId id) const {
  for (const auto& device : devices_) {
    if (device->info().id == id) return device.get();
  }
  return nullptr;
}

bool DevicePool::HasBackend(BackendId backend) const {
  for (const auto& device : devices_) {
    if (device->info().id.backend == backend) return true;
  }
  return false;
}

void DevicePool::Close() {
  for (const auto& device : devices_) device->Close();
}

void DevicePool::Join() {
  for (const auto& device : devices_) device->Join();
}

}  // namespace tensord
