#ifndef TENSORD_TOOLS_TENSORDCTL_COMMAND_H_
#define TENSORD_TOOLS_TENSORDCTL_COMMAND_H_

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "clients/cpp/client.h"
#include "tools/tensordctl/console.h"
#include "tools/tensordctl/exit_code.h"

namespace CLI {
class App;
}

namespace tensord::ctl {

// The options that every subcommand has.
struct CommonOptions {
  // Empty: the variable TENSORD_ADDRESS, then kDefaultAddress.
  std::string address;
  std::string timeout = "60s";
  bool json = false;
  bool verbose = false;
};

// What a subcommand runs with.
//
// Ownership: borrows the options and the console.
struct Context {
  const CommonOptions& options;
  const Console& console;

  // A client by the options. LocalError() for an address or a timeout that
  // makes no sense; that nobody answers there is the first call's error.
  absl::StatusOr<Client> Connect() const;

  // Answers with one line of JSON.
  void PrintJson(const nlohmann::ordered_json& json) const;
};

// A subcommand's work, once the command line is parsed. An error is shown by
// the caller, which also takes the exit code from it.
using Command = std::function<absl::StatusOr<ExitCode>(const Context&)>;

// Each of these adds one subcommand to `app`; when the command line names it,
// `chosen` becomes its work. All three live until that work is done.
void AddSubmitCommand(CLI::App& app, CommonOptions& common, Command& chosen);
void AddRunCommand(CLI::App& app, CommonOptions& common, Command& chosen);
void AddStartCommand(CLI::App& app, CommonOptions& common, Command& chosen);
void AddWaitCommand(CLI::App& app, CommonOptions& common, Command& chosen);
void AddCancelCommand(CLI::App& app, CommonOptions& common, Command& chosen);
void AddExecutionsCommand(CLI::App& app, CommonOptions& common,
                          Command& chosen);
void AddBenchCommand(CLI::App& app, CommonOptions& common, Command& chosen);
void AddExplainCommand(CLI::App& app, CommonOptions& common, Command& chosen);
void AddGraphsCommand(CLI::App& app, CommonOptions& common, Command& chosen);
void AddSessionsCommand(CLI::App& app, CommonOptions& common, Command& chosen);
void AddUploadCommand(CLI::App& app, CommonOptions& common, Command& chosen);
void AddDownloadCommand(CLI::App& app, CommonOptions& common, Command& chosen);
void AddTensorsCommand(CLI::App& app, CommonOptions& common, Command& chosen);
void AddDevicesCommand(CLI::App& app, CommonOptions& common, Command& chosen);
void AddKernelsCommand(CLI::App& app, CommonOptions& common, Command& chosen);
void AddProfileCommand(CLI::App& app, CommonOptions& common, Command& chosen);
void AddTopCommand(CLI::App& app, CommonOptions& common, Command& chosen);
void AddTraceCommand(CLI::App& app, CommonOptions& common, Command& chosen);
void AddHealthCommand(CLI::App& app, CommonOptions& common, Command& chosen);
void AddCompletionCommand(CLI::App& app, CommonOptions& common,
                          Command& chosen);

// A subcommand with the common options, which runs `work`.
CLI::App& AddCommand(CLI::App& app, CommonOptions& common, Command& chosen,
                     const std::string& name, const std::string& description,
                     const std::string& examples, Command work);

}  // namespace tensord::ctl

#endif  // TENSORD_TOOLS_TENSORDCTL_COMMAND_H_
