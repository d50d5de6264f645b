#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "tools/tensordctl/command.h"

namespace tensord::ctl {
namespace {

using grpc::health::v1::HealthCheckResponse;

constexpr char kExamples[] =
    "  tensordctl health                  # exit code 0: it takes requests\n"
    "  tensordctl health tensord.v1.GraphService\n"
    "  until tensordctl health --timeout 1 >/dev/null 2>&1; do sleep 1; done\n";

absl::StatusOr<ExitCode> Health(const Context& context,
                                const std::string& service) {
  auto client = context.Connect();
  if (!client.ok()) return client.status();
  const auto status = client->Health(service);
  if (!status.ok()) return status.status();
  const std::string& name = HealthCheckResponse::ServingStatus_Name(*status);
  if (context.options.json) {
    context.PrintJson({{"status", name}});
  } else {
    context.console.out << name << "\n";
  }
  return *status == HealthCheckResponse::SERVING ? ExitCode::kOk
                                                 : ExitCode::kUnavailable;
}

}  // namespace

void AddHealthCommand(CLI::App& app, CommonOptions& common, Command& chosen) {
  const auto service = std::make_shared<std::string>();
  CLI::App& command = AddCommand(
      app, common, chosen, "health", "Tell whether the daemon takes requests",
      kExamples,
      [service](const Context& context) { return Health(context, *service); });
  command.add_option("SERVICE", *service,
                     "One service's full name. Without: the whole daemon");
}

}  // namespace tensord::ctl
