#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "tools/tensordctl/command.h"
#include "tools/tensordctl/proto_json.h"
#include "tools/tensordctl/table.h"
#include "tools/tensordctl/units.h"

namespace tensord::ctl {
namespace {

constexpr char kExamples[] =
    "  tensordctl devices\n"
    "  tensordctl devices --backend cuda\n"
    "  tensordctl devices --json | jq '.devices[].name'\n";

std::string HealthText(v1::DeviceHealth health) {
  const std::string& name = v1::DeviceHealth_Name(health);
  return absl::AsciiStrToLower(
      absl::StripPrefix(absl::string_view(name), "DEVICE_HEALTH_"));
}

Tone ToneOf(v1::DeviceHealth health) {
  switch (health) {
    case v1::DEVICE_HEALTH_HEALTHY:
      return Tone::kPlain;
    case v1::DEVICE_HEALTH_DRAINING:
    case v1::DEVICE_HEALTH_DRAINED:
      return Tone::kDim;
    default:
      return Tone::kBad;
  }
}

absl::StatusOr<ExitCode> Devices(const Context& context,
                                 const v1::ListDevicesRequest& request) {
  auto client = context.Connect();
  if (!client.ok()) return client.status();
  const auto response = client->ListDevices(request);
  if (!response.ok()) return response.status();
  if (context.options.json) {
    context.PrintJson(JsonOfMessage(*response));
    return ExitCode::kOk;
  }
  Table table({{"DEVICE"},
               {"HEALTH"},
               {"LANES", Align::kRight},
               {"IN FLIGHT", Align::kRight},
               {"QUEUED", Align::kRight},
               {"MEMORY", Align::kRight},
               {"LIMIT", Align::kRight},
               {"DONE", Align::kRight},
               {"FAILED", Align::kRight},
               {"DESCRIPTION", Align::kLeft, true}});
  for (const v1::Device& device : response->devices()) {
    table.AddRow({device.name(), HealthText(device.health()),
                  absl::StrCat(device.lane_count()),
                  absl::StrCat(device.in_flight_count()),
                  absl::StrCat(device.queue_depth()),
                  FormatBytes(device.memory_used_bytes()),
                  FormatBytes(device.memory_limit_bytes()),
                  absl::StrCat(device.completed_count()),
                  absl::StrCat(device.failed_count()),
                  device.health_reason().empty() ? device.description()
                                                 : device.health_reason()},
                 ToneOf(device.health()));
  }
  table.Print(context.console);
  for (const v1::UnavailableBackend& backend :
       response->unavailable_backends()) {
    context.console.out << "no " << Printable(backend.backend()) << ": "
                        << Printable(backend.reason()) << "\n";
  }
  if (context.options.verbose) {
    context.console.out << "instance " << Printable(response->instance())
                        << ", build " << Printable(response->build()) << "\n";
  }
  return ExitCode::kOk;
}

}  // namespace

void AddDevicesCommand(CLI::App& app, CommonOptions& common, Command& chosen) {
  const auto backend = std::make_shared<std::string>();
  CLI::App& command = AddCommand(app, common, chosen, "devices",
                                 "List the devices, their health and load",
                                 kExamples, [backend](const Context& context) {
                                   v1::ListDevicesRequest request;
                                   request.set_backend(*backend);
                                   return Devices(context, request);
                                 });
  command.add_option("--backend", *backend, "Only this backend's");
}

}  // namespace tensord::ctl
