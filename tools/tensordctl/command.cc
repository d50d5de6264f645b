#include "tools/tensordctl/command.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/tensordctl/arguments.h"
#include "tools/tensordctl/errors.h"
#include "tools/tensordctl/proto_json.h"

namespace tensord::ctl {
absl::StatusOr<Client> Context::Connect() const {
  const auto timeout = ParseTime("--timeout", options.timeout);
  if (!timeout.ok()) return timeout.status();
  std::string address = options.address;
  const char* const variable = std::getenv("TENSORD_ADDRESS");
  if (address.empty() && variable != nullptr) address = variable;
  if (address.empty()) address = kDefaultAddress;
  // Whoever types a command wants to know at once that nobody answers; scripts
  // see by the exit code that they may try again.
  ClientOptions client_options{.timeout = *timeout,
                               .retry = {.max_attempts = 1}};
  // As other command lines do it that take part in a trace.
  const char* const traceparent = std::getenv("TRACEPARENT");
  if (traceparent != nullptr) {
    client_options.traceparent = [text = std::string(traceparent)] {
      return text;
    };
  }
  auto client = Client::Connect(address, std::move(client_options));
  if (!client.ok()) return LocalError("--address", client.status());
  return client;
}

void Context::PrintJson(const nlohmann::ordered_json& json) const {
  console.out << JsonText(json) << "\n";
}

CLI::App& AddCommand(CLI::App& app, CommonOptions& common, Command& chosen,
                     const std::string& name, const std::string& description,
                     const std::string& examples, Command work) {
  CLI::App& command = *app.add_subcommand(name, description);
  command.footer("Examples:\n" + examples);
  const std::string group = "Common options";
  command
      .add_option(
          "--address", common.address,
          absl::StrCat("host:port or unix:/path of the daemon (default: "
                       "$TENSORD_ADDRESS, else ",
                       kDefaultAddress, ")"))
      ->group(group);
  command
      .add_option("--timeout", common.timeout,
                  "Of each call: seconds, or as in 500ms, 2m, inf")
      ->capture_default_str()
      ->group(group);
  command
      .add_flag("--json", common.json, "Answer and errors as one line of JSON")
      ->group(group);
  command.add_flag("-v,--verbose", common.verbose, "Tell more")->group(group);
  command.callback([&chosen, work = std::move(work)] { chosen = work; });
  return command;
}

}  // namespace tensord::ctl
