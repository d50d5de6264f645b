#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "tools/tensordctl/command.h"
#include "tools/tensordctl/device_table.h"
#include "tools/tensordctl/proto_json.h"

namespace tensord::ctl {
namespace {

constexpr char kExamples[] =
    "  tensordctl devices\n"
    "  tensordctl devices --backend cuda\n"
    "  tensordctl devices --json | jq '.devices[].name'\n";

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
  PrintDeviceTable(context.console, *response);
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
