#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "clients/cpp/durations.h"
#include "clients/cpp/remote_execution.h"
#include "tools/tensordctl/arguments.h"
#include "tools/tensordctl/chrome_trace.h"
#include "tools/tensordctl/command.h"
#include "tools/tensordctl/errors.h"
#include "tools/tensordctl/files.h"
#include "tools/tensordctl/proto_json.h"

namespace tensord::ctl {
namespace {

constexpr char kExamples[] =
    "  id=$(tensordctl start model.onnx --input random --trace --quiet)\n"
    "  tensordctl trace $id --output trace.json   # for ui.perfetto.dev\n"
    "A run that was started without --trace shows its phases alone, and so\n"
    "does one whose result is no longer kept. tensordctl run --trace-file\n"
    "writes the same of a run that it makes itself.\n";

struct TraceCommandOptions {
  std::string id;
  std::string output;
};

absl::StatusOr<ExitCode> Trace(const Context& context,
                               const TraceCommandOptions& options) {
  const auto timeout = ParseTime("--timeout", context.options.timeout);
  if (!timeout.ok()) return timeout.status();
  auto client = context.Connect();
  if (!client.ok()) return client.status();
  v1::WaitExecutionRequest request;
  request.set_execution_id(options.id);
  request.set_omit_outputs(true);
  if (*timeout < absl::InfiniteDuration()) {
    *request.mutable_timeout() = ToProto(*timeout);
  }
  auto answer =
      client->WaitExecution(request, {.timeout = *timeout + absl::Seconds(10)});
  if (!answer.ok()) return answer.status();
  const v1::Execution& execution = answer->execution();
  if (!IsFinal(execution.state())) {
    return absl::DeadlineExceededError(
        absl::StrCat("run ", options.id, " goes on; it is told at its end"));
  }
  RunTrace run{.execution_id = execution.execution_id(),
               .graph_id = execution.graph_id(),
               .trace_id = execution.trace_id(),
               .device = execution.device(),
               .timings = execution.timings(),
               .launches = std::move(*answer->mutable_trace())};
  const std::string text = JsonText(ChromeTrace(run));
  if (options.output.empty()) {
    context.console.out << text << "\n";
    return ExitCode::kOk;
  }
  const absl::Status written = WriteFile(options.output, text);
  if (!written.ok()) return LocalError("--output", written);
  context.console.out << "wrote      " << options.output << ": "
                      << run.launches.rows_size() << " launches\n";
  return ExitCode::kOk;
}

}  // namespace

void AddTraceCommand(CLI::App& app, CommonOptions& common, Command& chosen) {
  const auto options = std::make_shared<TraceCommandOptions>();
  CLI::App& command = AddCommand(
      app, common, chosen, "trace",
      "Show where a run's time went, as a trace for Perfetto", kExamples,
      [options](const Context& context) { return Trace(context, *options); });
  command.add_option("EXECUTION", options->id, "The execution's id")
      ->required();
  command.add_option("-o,--output", options->output,
                     "Write it to this file, and not to standard output");
}

}  // namespace tensord::ctl
