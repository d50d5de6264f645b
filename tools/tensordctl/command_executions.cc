#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "clients/cpp/durations.h"
#include "clients/cpp/error_details.h"
#include "clients/cpp/remote_execution.h"
#include "tools/tensordctl/arguments.h"
#include "tools/tensordctl/command.h"
#include "tools/tensordctl/errors.h"
#include "tools/tensordctl/graph_name.h"
#include "tools/tensordctl/proto_json.h"
#include "tools/tensordctl/request_options.h"
#include "tools/tensordctl/run_report.h"
#include "tools/tensordctl/table.h"
#include "tools/tensordctl/units.h"

namespace tensord::ctl {
namespace {

constexpr char kStartExamples[] =
    "  tensordctl start model.onnx --input random --set N=8\n"
    "  id=$(tensordctl start model.onnx --input x=x.npy --quiet)\n"
    "  tensordctl wait $id --output-dir out\n";
constexpr char kWaitExamples[] =
    "  tensordctl wait ID                 # until it has ended\n"
    "  tensordctl wait ID --timeout 10s   # exit code 3 if it still runs then\n"
    "  tensordctl wait ID --output-dir out\n";
constexpr char kCancelExamples[] = "  tensordctl cancel ID\n";
constexpr char kExecutionsExamples[] =
    "  tensordctl executions\n"
    "  tensordctl executions --state queued --state running\n"
    "  tensordctl executions get ID\n";

std::string StateText(v1::ExecutionState state) {
  const std::string& name = v1::ExecutionState_Name(state);
  return absl::AsciiStrToLower(
      absl::StripPrefix(absl::string_view(name), "EXECUTION_STATE_"));
}

Tone ToneOf(v1::ExecutionState state) {
  switch (state) {
    case v1::EXECUTION_STATE_FAILED:
    case v1::EXECUTION_STATE_EXPIRED:
      return Tone::kBad;
    case v1::EXECUTION_STATE_CANCELLED:
      return Tone::kDim;
    default:
      return Tone::kPlain;
  }
}

// "stage      run at 1.2 ms for 340 us": from the first one's beginning.
std::string StageText(const v1::ExecutionStage& stage,
                      const v1::ExecutionStage& first) {
  const absl::Duration start =
      FromProto(stage.start_time()) - FromProto(first.start_time());
  return absl::StrCat("stage      ", stage.phase(), " at ",
                      FormatNs(absl::ToDoubleNanoseconds(start)), " for ",
                      FormatNs(static_cast<double>(stage.duration_ns())));
}

void PrintExecution(const Context& context, const v1::Execution& execution) {
  if (context.options.json) {
    context.PrintJson(JsonOfMessage(execution));
    return;
  }
  std::ostream& out = context.console.out;
  out << "execution  " << execution.execution_id() << "\n"
      << "state      " << StateText(execution.state());
  if (!execution.device().empty()) out << " on " << execution.device();
  out << "\n";
  if (!execution.trace_id().empty()) {
    out << "trace id   " << execution.trace_id() << "\n";
  }
  for (const v1::ExecutionStage& stage : execution.stages()) {
    out << StageText(stage, execution.stages(0)) << "\n";
  }
  if (execution.has_error()) {
    out << "error      " << ErrorLine(StatusFromProto(execution.error()))
        << "\n";
  }
}

struct StartOptions {
  std::string graph;
  RequestOptions request;
  std::string request_id;
  std::string keep_result;
  bool trace = false;
  bool quiet = false;
};

absl::StatusOr<ExitCode> Start(const Context& context,
                               const StartOptions& options) {
  absl::Duration keep_result;
  if (!options.keep_result.empty()) {
    const auto time = ParseTime("--keep-result", options.keep_result);
    if (!time.ok()) return time.status();
    keep_result = *time;
  }
  auto client = context.Connect();
  if (!client.ok()) return client.status();
  const auto graph = FindGraph(*client, options.graph, {});
  if (!graph.ok()) return graph.status();
  auto request = RequestWithInputs(*graph, options.request);
  if (!request.ok()) return request.status();
  v1::ExecuteOptions& how = *request->mutable_options();
  how.set_request_id(options.request_id);
  if (options.trace) AskForTrace(*request);
  if (keep_result > absl::ZeroDuration()) {
    *how.mutable_keep_result() = ToProto(keep_result);
  }
  const auto execution = client->StartExecution(*request);
  if (!execution.ok()) return execution.status();
  if (options.quiet && !context.options.json) {
    context.console.out << execution->execution_id() << "\n";
  } else {
    PrintExecution(context, *execution);
  }
  return ExitCode::kOk;
}

struct WaitOptions {
  std::string id;
  std::string output_dir;
};

absl::StatusOr<ExitCode> Wait(const Context& context,
                              const WaitOptions& options) {
  const auto timeout = ParseTime("--timeout", context.options.timeout);
  if (!timeout.ok()) return timeout.status();
  auto client = context.Connect();
  if (!client.ok()) return client.status();
  auto end = RemoteExecution(*client, options.id).Wait(*timeout);
  if (!end.ok()) return end.status();
  v1::ExecuteResponse response;
  *response.mutable_outputs() = std::move(*end->mutable_outputs());
  std::vector<std::string> written;
  if (!options.output_dir.empty()) {
    const absl::Status status =
        WriteOutputs(response, options.output_dir, written);
    if (!status.ok()) return status;
  }
  if (context.options.json) {
    auto json = JsonOfMessage(end->execution());
    json["outputs"] = JsonOfMessage(response)["outputs"];
    if (!written.empty()) json["written"] = written;
    context.PrintJson(json);
    return ExitCode::kOk;
  }
  PrintExecution(context, end->execution());
  PrintOutputs(context.console, response);
  for (const std::string& path : written) {
    context.console.out << "wrote      " << path << "\n";
  }
  return ExitCode::kOk;
}

absl::StatusOr<ExitCode> Cancel(const Context& context, const std::string& id) {
  auto client = context.Connect();
  if (!client.ok()) return client.status();
  const auto execution = client->CancelExecution(id);
  if (!execution.ok()) return execution.status();
  PrintExecution(context, *execution);
  return ExitCode::kOk;
}

struct ExecutionsOptions {
  std::string action = "list";
  std::string id;
  std::vector<std::string> states;
  v1::ListExecutionsRequest filter;
};

absl::StatusOr<ExitCode> List(const Context& context, Client& client,
                              const ExecutionsOptions& options) {
  v1::ListExecutionsRequest filter = options.filter;
  for (const std::string& text : options.states) {
    v1::ExecutionState state = v1::EXECUTION_STATE_UNSPECIFIED;
    v1::ExecutionState_Parse(
        absl::StrCat("EXECUTION_STATE_", absl::AsciiStrToUpper(text)), &state);
    filter.add_states(state);
  }
  const auto executions = client.ListExecutions(std::move(filter));
  if (!executions.ok()) return executions.status();
  if (context.options.json) {
    auto json = nlohmann::ordered_json::array();
    for (const v1::Execution& execution : *executions) {
      json.push_back(JsonOfMessage(execution));
    }
    context.PrintJson({{"executions", std::move(json)}});
    return ExitCode::kOk;
  }
  Table table({{"EXECUTION"},
               {"STATE"},
               {"GRAPH"},
               {"DEVICE"},
               {"SESSION", Align::kLeft, true}});
  for (const v1::Execution& execution : *executions) {
    table.AddRow({execution.execution_id(), StateText(execution.state()),
                  ShortId(execution.graph_id()), execution.device(),
                  execution.session_id()},
                 ToneOf(execution.state()));
  }
  table.Print(context.console);
  return ExitCode::kOk;
}

absl::StatusOr<ExitCode> Executions(const Context& context,
                                    const ExecutionsOptions& options) {
  if ((options.action == "list") != options.id.empty()) {
    return LocalError(options.id.empty()
                          ? options.action + " needs an execution id"
                          : "list takes no execution id");
  }
  auto client = context.Connect();
  if (!client.ok()) return client.status();
  if (options.action == "list") return List(context, *client, options);
  const auto execution = client->GetExecution(options.id);
  if (!execution.ok()) return execution.status();
  PrintExecution(context, *execution);
  return ExitCode::kOk;
}

}  // namespace

void AddStartCommand(CLI::App& app, CommonOptions& common, Command& chosen) {
  const auto options = std::make_shared<StartOptions>();
  CLI::App& command = AddCommand(
      app, common, chosen, "start",
      "Start a run and tell its id; it goes on by itself", kStartExamples,
      [options](const Context& context) { return Start(context, *options); });
  command
      .add_option("GRAPH", options->graph,
                  "An ONNX file, or a graph id or its beginning")
      ->required();
  AddRequestOptions(command, options->request);
  command.add_option("--request-id", options->request_id,
                     "The same id again is the same run, not a second one");
  command.add_option("--keep-result", options->keep_result,
                     "Keep its outputs so long after its end: 10m");
  command.add_flag("--trace", options->trace,
                   "Keep its launches with its result, for `trace`");
  command.add_flag("-q,--quiet", options->quiet,
                   "Print the execution id alone");
}

void AddWaitCommand(CLI::App& app, CommonOptions& common, Command& chosen) {
  const auto options = std::make_shared<WaitOptions>();
  CLI::App& command = AddCommand(
      app, common, chosen, "wait", "Wait for a run's end, and show its outputs",
      kWaitExamples,
      [options](const Context& context) { return Wait(context, *options); });
  command.add_option("EXECUTION", options->id, "The execution's id")
      ->required();
  command.add_option("--output-dir", options->output_dir,
                     "Write each output to NAME.npy in this folder");
}

void AddCancelCommand(CLI::App& app, CommonOptions& common, Command& chosen) {
  const auto id = std::make_shared<std::string>();
  CLI::App& command = AddCommand(
      app, common, chosen, "cancel", "Ask for a run's end", kCancelExamples,
      [id](const Context& context) { return Cancel(context, *id); });
  command.add_option("EXECUTION", *id, "The execution's id")->required();
}

void AddExecutionsCommand(CLI::App& app, CommonOptions& common,
                          Command& chosen) {
  const auto options = std::make_shared<ExecutionsOptions>();
  CLI::App& command =
      AddCommand(app, common, chosen, "executions", "List or show your runs",
                 kExecutionsExamples, [options](const Context& context) {
                   return Executions(context, *options);
                 });
  command.add_option("ACTION", options->action, "list or get")
      ->check(CLI::IsMember({"list", "get"}))
      ->capture_default_str();
  command.add_option("EXECUTION", options->id, "An execution id");
  command.add_option("--session", *options->filter.mutable_session_id(),
                     "list: only this session's");
  command.add_option("--state", options->states, "list: only in these states")
      ->check(CLI::IsMember(
          {"queued", "running", "succeeded", "failed", "cancelled", "expired"}))
      ->allow_extra_args(false);
}

}  // namespace tensord::ctl
