#include "engine/engine.h"

#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "engine/engine_impl.h"
#include "engine/graph/status_macros.h"

namespace tensord {
namespace {

absl::StatusOr<std::unique_ptr<Device>> OpenDevice(
    DeviceId id, absl::Span<Backend* const> backends) {
  for (Backend* backend : backends) {
    if (backend->id() == id.backend) return backend->OpenDevice(id.ordinal);
  }
  return absl::NotFoundError(absl::StrCat("device ", id.ToString(),
                                          ": this daemon has no backend '",
                                          BackendName(id.backend), "'"));
}

absl::StatusOr<std::vector<std::unique_ptr<Device>>> OpenDevices(
    absl::Span<const DeviceId> ids, absl::Span<Backend* const> backends) {
  if (ids.empty()) return absl::InvalidArgumentError("no device is named");
  absl::flat_hash_set<DeviceId> named;
  std::vector<std::unique_ptr<Device>> devices;
  for (DeviceId id : ids) {
    if (!named.insert(id).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("device ", id.ToString(), " is named twice"));
    }
    TENSORD_ASSIGN_OR_RETURN(std::unique_ptr<Device> device,
                             OpenDevice(id, backends));
    devices.push_back(std::move(device));
  }
  return devices;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Engine>> Engine::Create(
    EngineOptions options, absl::Span<Backend* const> backends,
    absl::Span<const DeviceId> devices, op_profile::OpProfile& profile,
    op_profile::PhaseProfile* phases, HostServices services) {
  auto table = std::make_unique<KernelBindingTable>();
  for (Backend* backend : backends) {
    TENSORD_RETURN_IF_ERROR(table->AddBackend(*backend));
  }
  TENSORD_ASSIGN_OR_RETURN(std::vector<std::unique_ptr<Device>> opened,
                           OpenDevices(devices, backends));
  auto engine = std::make_unique<EngineImpl>(std::move(options),
                                             std::move(table), phases);
  TENSORD_RETURN_IF_ERROR(
      engine->Open(std::move(opened), profile, services, backends));
  return engine;
}

}  // namespace tensord
