#include "server/rpc/readiness.h"

#include <algorithm>
#include <utility>

namespace tensord {
namespace {

constexpr absl::Duration kPeriod = absl::Milliseconds(200);

bool HasUsableDevice(const Engine& engine) {
  const std::vector<DeviceStatus> devices = engine.Devices();
  return std::any_of(devices.begin(), devices.end(),
                     [](const DeviceStatus& device) {
                       return device.health.ok() && !device.is_draining;
                     });
}

bool IsAccelerator(const DeviceStatus& device) {
  const BackendId backend = device.info.id.backend;
  return backend == BackendId::kCuda || backend == BackendId::kVulkan;
}

// Whether the kind of device that the daemon is there for still has one.
bool HasDeviceToGoOnWith(const Engine& engine) {
  const std::vector<DeviceStatus> devices = engine.Devices();
  const bool has_accelerator =
      std::any_of(devices.begin(), devices.end(), IsAccelerator);
  return std::any_of(devices.begin(), devices.end(),
                     [has_accelerator](const DeviceStatus& device) {
                       return device.health.ok() &&
                              IsAccelerator(device) == has_accelerator;
                     });
}

}  // namespace

Readiness::Readiness(const Engine& engine, ServerLogger& log,
                     grpc::HealthCheckServiceInterface& health,
                     std::vector<std::string> service_names)
    : engine_(engine),
      log_(log),
      health_(health),
      service_names_(std::move(service_names)) {
  {
    absl::MutexLock lock(&mu_);
    // A name is unknown until it is set, whatever it is set to.
    for (const std::string& name : service_names_) {
      health_.SetServingStatus(name, false);
    }
    health_.SetServingStatus(kLivenessName, true);
    Update();
  }
  thread_ = std::thread([this] { Run(); });
}

Readiness::~Readiness() {
  {
    absl::MutexLock lock(&mu_);
    is_over_ = true;
  }
  thread_.join();
}

void Readiness::StopServing() {
  absl::MutexLock lock(&mu_);
  is_draining_ = true;
  Update();
}

void Readiness::Run() {
  absl::MutexLock lock(&mu_);
  while (!mu_.AwaitWithTimeout(absl::Condition(&is_over_), kPeriod)) Update();
}

void Readiness::UpdateLiveness() {
  const bool is_alive = HasDeviceToGoOnWith(engine_);
  if (is_alive == is_alive_) return;
  is_alive_ = is_alive;
  health_.SetServingStatus(kLivenessName, is_alive);
  const std::vector<Logger::Field> fields = {
      {"why", "every device that was configured for it is lost"}};
  log_.Log(LogSeverity::kError, "to be restarted", fields);
}

void Readiness::Update() {
  UpdateLiveness();
  const bool is_serving = !is_draining_ && HasUsableDevice(engine_);
  if (is_serving == is_serving_) return;
  is_serving_ = is_serving;
  for (const std::string& name : service_names_) {
    health_.SetServingStatus(name, is_serving);
  }
  const std::vector<Logger::Field> fields = {
      {"why", is_draining_ ? "draining"
                           : (is_serving ? "a device is in use"
                                         : "no device is healthy and in use")}};
  log_.Log(
      is_serving || is_draining_ ? LogSeverity::kInfo : LogSeverity::kError,
      is_serving ? "ready" : "not ready", fields);
}

}  // namespace tensord
