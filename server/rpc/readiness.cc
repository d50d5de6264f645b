#include "server/rpc/readiness.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"

namespace tensord {
namespace {

constexpr absl::Duration kPeriod = absl::Milliseconds(200);

// One probe may be late or under way; with two missing something is wrong.
constexpr int kMissedProbes = 3;

// A device that has nothing to do answers probes; of one at work its queue
// tells whether it moves.
bool Answers(const DeviceStatus& device, absl::Duration probe_interval) {
  if (device.is_stalled) return false;
  if (device.in_flight > 0 || probe_interval <= absl::ZeroDuration()) {
    return true;
  }
  return absl::Now() - device.last_answer <= kMissedProbes * probe_interval;
}

bool HasUsableDevice(const Engine& engine) {
  const std::vector<DeviceStatus> devices = engine.Devices();
  const absl::Duration probe_interval = engine.options().probe_interval;
  return std::any_of(devices.begin(), devices.end(),
                     [probe_interval](const DeviceStatus& device) {
                       return device.health.ok() && !device.is_draining &&
                              Answers(device, probe_interval);
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
                                         : "no device is healthy, in use, and "
                                           "moves its queue")}};
  log_.Log(
      is_serving || is_draining_ ? LogSeverity::kInfo : LogSeverity::kError,
      is_serving ? "ready" : "not ready", fields);
}

}  // namespace tensord
