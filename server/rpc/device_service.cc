#include "server/rpc/device_service.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/api/op_kind.h"
#include "engine/graph/escape.h"
#include "engine/graph/status_macros.h"
#include "server/errors/error_details.h"
#include "server/rpc/device_messages.h"
#include "server/rpc/drain_reasons.h"
#include "server/rpc/page_token.h"
#include "server/rpc/unary_call.h"
#include "tensord/v1/device_service.pb.h"

namespace tensord {
namespace {

// As device_service.proto says.
constexpr int kKernelPageSize = 200;
constexpr int kMaxKernelPageSize = 2000;
constexpr size_t kMaxReasonBytes = 256;

using ListDevices = UnaryCall<v1::ListDevicesRequest, v1::ListDevicesResponse>;
using ListKernels = UnaryCall<v1::ListKernelsRequest, v1::ListKernelsResponse>;
using Drain = UnaryCall<v1::DrainDeviceRequest, v1::Device>;
using Resume = UnaryCall<v1::ResumeDeviceRequest, v1::Device>;

absl::StatusOr<std::optional<BackendId>> ReadBackend(const std::string& name) {
  if (name.empty()) return std::optional<BackendId>();
  const std::optional<BackendId> backend = BackendFromName(name);
  if (!backend.has_value()) {
    return BadField("backend", absl::StrCat(Quoted(name),
                                            " is none; give cpu, cuda, vulkan "
                                            "or null"));
  }
  return backend;
}

absl::Status FillDevices(const ServiceEnvironment& environment,
                         const DrainReasons& reasons,
                         const v1::ListDevicesRequest& request,
                         v1::ListDevicesResponse& response) {
  TENSORD_ASSIGN_OR_RETURN(const std::optional<BackendId> backend,
                           ReadBackend(request.backend()));
  for (const DeviceStatus& status : environment.engine.Devices()) {
    if (backend.has_value() && status.info.id.backend != *backend) continue;
    FillDevice(status, reasons, *response.add_devices());
  }
  for (const auto& [id, reason] : environment.unavailable_backends) {
    v1::UnavailableBackend& unavailable = *response.add_unavailable_backends();
    unavailable.set_backend(std::string(BackendName(id)));
    unavailable.set_reason(reason);
  }
  response.set_instance(environment.config.advertised_name);
  response.set_build(environment.build);
  return absl::OkStatus();
}

absl::StatusOr<KernelFilter> ReadFilter(const v1::ListKernelsRequest& request) {
  KernelFilter filter;
  if (!request.op().empty()) {
    filter.op = OpKindFromName(request.op());
    if (!filter.op.has_value()) {
      return BadField("op",
                      absl::StrCat("tensord knows no ", Quoted(request.op())));
    }
  }
  TENSORD_ASSIGN_OR_RETURN(filter.backend, ReadBackend(request.backend()));
  if (request.dtype() != v1::DTYPE_UNSPECIFIED) {
    const std::optional<DType> dtype = DTypeFromNumber(request.dtype());
    if (!dtype.has_value()) {
      return BadField("dtype", absl::StrCat("there is none of number ",
                                            static_cast<int>(request.dtype())));
    }
    filter.dtype = *dtype;
  }
  return filter;
}

absl::Status FillKernels(const KernelBindingTable& table,
                         const v1::ListKernelsRequest& request,
                         v1::ListKernelsResponse& response) {
  TENSORD_ASSIGN_OR_RETURN(
      const int page_size,
      PageSize(request.page_size(), kKernelPageSize, kMaxKernelPageSize));
  TENSORD_ASSIGN_OR_RETURN(const KernelFilter filter, ReadFilter(request));
  std::vector<v1::Kernel> kernels = ListKernelRows(table, filter);
  const std::string scope =
      absl::StrCat("ListKernels\n", request.op(), "\n", request.backend(), "\n",
                   static_cast<int>(request.dtype()));
  const auto count = static_cast<int64_t>(kernels.size());
  TENSORD_ASSIGN_OR_RETURN(const int64_t first,
                           ReadRowToken(scope, request.page_token(), count));
  const int64_t end = std::min<int64_t>(first + page_size, count);
  for (int64_t i = first; i < end; ++i) {
    *response.add_kernels() = std::move(kernels[i]);
  }
  if (end < count) {
    response.set_next_page_token(MakePageToken(scope, absl::StrCat(end)));
  }
  return absl::OkStatus();
}

absl::StatusOr<DeviceStatus> FindStatus(const Engine& engine,
                                        const std::string& name) {
  for (DeviceStatus& status : engine.Devices()) {
    if (status.info.id.ToString() == name) return std::move(status);
  }
  return ResourceNotFound("device", name);
}

absl::Status DrainDevice(const ServiceEnvironment& environment,
                         DrainReasons& reasons,
                         const v1::DrainDeviceRequest& request,
                         v1::Device& device) {
  if (request.reason().size() > kMaxReasonBytes) {
    return BadField(
        "reason", absl::StrCat(request.reason().size(), " bytes; give at most ",
                               kMaxReasonBytes));
  }
  TENSORD_ASSIGN_OR_RETURN(DeviceStatus status,
                           FindStatus(environment.engine, request.device()));
  const DeviceId id = status.info.id;
  TENSORD_RETURN_IF_ERROR(environment.engine.SetDraining(id, true));
  reasons.Set(id, request.reason());
  const std::vector<Logger::Field> fields = {{"device", id.ToString()},
                                             {"reason", request.reason()}};
  environment.log.Log(LogSeverity::kInfo, "device drained", fields);
  TENSORD_ASSIGN_OR_RETURN(status,
                           FindStatus(environment.engine, request.device()));
  FillDevice(status, reasons, device);
  return absl::OkStatus();
}

absl::Status ResumeDevice(const ServiceEnvironment& environment,
                          DrainReasons& reasons,
                          const v1::ResumeDeviceRequest& request,
                          v1::Device& device) {
  TENSORD_ASSIGN_OR_RETURN(DeviceStatus status,
                           FindStatus(environment.engine, request.device()));
  const DeviceId id = status.info.id;
  if (!status.is_draining && !status.health.ok()) {
    return ErrorWithReason(
        absl::StatusCode::kFailedPrecondition, v1::DEVICE_LOST,
        absl::StrCat("device ", id.ToString(),
                     " is quarantined: ", status.health.message(),
                     "; only a restart brings it back"),
        {{"device", id.ToString()}});
  }
  TENSORD_RETURN_IF_ERROR(environment.engine.SetDraining(id, false));
  reasons.Remove(id);
  const std::vector<Logger::Field> fields = {{"device", id.ToString()}};
  environment.log.Log(LogSeverity::kInfo, "device resumed", fields);
  TENSORD_ASSIGN_OR_RETURN(status,
                           FindStatus(environment.engine, request.device()));
  FillDevice(status, reasons, device);
  return absl::OkStatus();
}

}  // namespace

std::unique_ptr<RawService> MakeDeviceService(
    const ServiceEnvironment& environment) {
  auto service = std::make_unique<RawService>(
      environment, *v1::Device::descriptor()->file()->service(0));
  auto reasons = std::make_shared<DrainReasons>();
  service->SetUnary(
      "ListDevices",
      ListDevices::BindDirect(
          service->record("ListDevices"),
          [&environment, reasons](ListDevices&,
                                  const v1::ListDevicesRequest& request,
                                  v1::ListDevicesResponse& response) {
            return FillDevices(environment, *reasons, request, response);
          }));
  service->SetUnary(
      "ListKernels",
      ListKernels::BindDirect(
          service->record("ListKernels"),
          [&environment](ListKernels&, const v1::ListKernelsRequest& request,
                         v1::ListKernelsResponse& response) {
            return FillKernels(environment.engine.table(), request, response);
          }));
  service->SetUnary(
      "DrainDevice",
      Drain::BindDirect(
          service->record("DrainDevice"),
          [&environment, reasons](Drain&, const v1::DrainDeviceRequest& request,
                                  v1::Device& device) {
            return DrainDevice(environment, *reasons, request, device);
          }));
  service->SetUnary(
      "ResumeDevice",
      Resume::BindDirect(service->record("ResumeDevice"),
                         [&environment, reasons](
                             Resume&, const v1::ResumeDeviceRequest& request,
                             v1::Device& device) {
                           return ResumeDevice(environment, *reasons, request,
                                               device);
                         }));
  return service;
}

}  // namespace tensord
