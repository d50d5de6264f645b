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

// When a run that takes `own_ns` there is done. Those whose graph is still
// being compiled are taken for its like.
double DoneNs(const PooledDevice& device, double own_ns) {
  const double open_ns = static_cast<double>(device.open_ns()) +
                         static_cast<double>(device.expected_count()) * own_ns;
  return own_ns + open_ns / device.lane_count();
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
    BackendSet capable, const DeviceWish& wish,
    absl::Span<const DeviceEstimate> estimates) const {
  if (wish.device.has_value()) return FindAvailable(*wish.device);
  if (wish.backend.has_value()) {
    if (!HasBackend(*wish.backend)) {
      return absl::NotFoundError(absl::StrCat("no device of backend '",
                                              BackendName(*wish.backend),
                                              "' is in the pool"));
    }
    capable.reset();
    capable.set(static_cast<int>(*wish.backend));
  }
  PooledDevice* least_loaded = nullptr;
  PooledDevice* first_done = nullptr;
  double first_done_ns = 0;
  for (const auto& device : devices_) {
    const DeviceInfo& info = device->info();
    if (!capable[static_cast<int>(info.id.backend)]) continue;
    if (has_computing_device_ && !info.computes && !wish.backend) continue;
    if (!device->is_available()) continue;
    if (least_loaded == nullptr || IsLessLoaded(*device, *least_loaded)) {
      least_loaded = device.get();
    }
    const DeviceEstimate* estimate = FindEstimate(estimates, info.id);
    if (estimate == nullptr) continue;
    const double done_ns = DoneNs(*device, estimate->ns);
    if (first_done != nullptr && done_ns >= first_done_ns) continue;
    first_done = device.get();
    first_done_ns = done_ns;
  }
  if (first_done != nullptr) return first_done;
  if (least_loaded == nullptr) return NoneAvailable(capable);
  return least_loaded;
}

absl::StatusOr<PooledDevice*> DevicePool::FindAvailable(DeviceId id) const {
  PooledDevice* device = Find(id);
  if (device == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("no device ", id.ToString(), " is in the pool"));
  }
  absl::Status status = device->Availability();
  if (!status.ok()) return status;
  return device;
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
