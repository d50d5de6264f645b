#include "tools/tensordctl/app.h"

#include <CLI/CLI.hpp>
#include <new>

#include "absl/strings/str_cat.h"
#include "tools/tensordctl/command.h"
#include "tools/tensordctl/errors.h"

namespace tensord::ctl {
namespace {

constexpr char kFooter[] = R"(Exit codes:
  0  done
  1  usage: the command line, or a file that it names, is wrong
  2  refused by the daemon: the same call will be refused again
  3  nobody answers, too late, full or draining: the same call may succeed later
  4  a bug or a device fault on the other side
  5  run --expect: the outputs differ

Examples:
  tensordctl health
  tensordctl run models/digits/model.onnx --input image=sample.npy --top 1
  tensordctl profile
  source <(tensordctl completion bash)
)";

absl::Status UsageError(const CLI::App& app, const CLI::ParseError& error) {
  std::string program = app.get_name();
  for (const CLI::App* command : app.get_subcommands()) {
    absl::StrAppend(&program, " ", command->get_name());
  }
  return LocalError(absl::StrCat(error.what(), "; see ", program, " --help"));
}

// The size of a file may be more than this machine's memory.
absl::StatusOr<ExitCode> Do(const Command& command, const Context& context) {
  try {
    return command(context);
  } catch (const std::bad_alloc&) {
    return LocalError("not enough memory on this machine");
  }
}

}  // namespace

ExitCode RunApp(const std::vector<std::string>& arguments,
                const Console& console) {
  CLI::App app("Talks to tensord, the daemon that runs tensor graphs.",
               "tensordctl");
  app.footer(kFooter);
  app.require_subcommand(1);
  app.set_version_flag("--version", TENSORD_VERSION);

  CommonOptions common;
  Command chosen;
  AddSubmitCommand(app, common, chosen);
  AddRunCommand(app, common, chosen);
  AddStartCommand(app, common, chosen);
  AddWaitCommand(app, common, chosen);
  AddCancelCommand(app, common, chosen);
  AddExecutionsCommand(app, common, chosen);
  AddBenchCommand(app, common, chosen);
  AddExplainCommand(app, common, chosen);
  AddGraphsCommand(app, common, chosen);
  AddSessionsCommand(app, common, chosen);
  AddUploadCommand(app, common, chosen);
  AddDownloadCommand(app, common, chosen);
  AddTensorsCommand(app, common, chosen);
  AddDevicesCommand(app, common, chosen);
  AddKernelsCommand(app, common, chosen);
  AddProfileCommand(app, common, chosen);
  AddTopCommand(app, common, chosen);
  AddTraceCommand(app, common, chosen);
  AddHealthCommand(app, common, chosen);
  AddCompletionCommand(app, common, chosen);
  try {
    // CLI11 takes a vector from its end.
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help, --version
      app.exit(error, console.out, console.err);
      return ExitCode::kOk;
    }
    PrintError(console, UsageError(app, error), common.json);
    return ExitCode::kUsage;
  }
  const auto result = Do(chosen, {common, console});
  if (result.ok()) return *result;
  PrintError(console, result.status(), common.json);
  return IsLocalError(result.status()) ? ExitCode::kUsage
                                       : ExitCodeOf(result.status());
}

}  // namespace tensord::ctl
