#include "tools/tensordctl/request_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "clients/cpp/durations.h"
#include "tools/tensordctl/arguments.h"
#include "tools/tensordctl/errors.h"
#include "tools/tensordctl/run_inputs.h"
#include "tools/tensordctl/shapes.h"

namespace tensord::ctl {
namespace {

// The launches that a trace may have; above it, the daemon's limit and the
// table's readers give up alike.
constexpr int kMaxTraceRows = 10'000;

}  // namespace

void AskForTrace(v1::ExecuteRequest& request) {
  v1::TraceOptions& trace = *request.mutable_options()->mutable_trace();
  trace.set_max_rows(kMaxTraceRows);
  trace.set_device_times(true);
}

CLI::Option* AddRequestOptions(CLI::App& command, RequestOptions& options) {
  CLI::Option* const input =
      command
          .add_option("--input", options.inputs,
                      "NAME=FILE (.npy, .pb, .json), NAME=random[:1x3x8x8], "
                      "NAME=tensor:ID, NAME=donate:ID, or random")
          ->allow_extra_args(false);
  command
      .add_option("--set", options.symbols,
                  "Extent of a symbol, for random inputs: N=5")
      ->allow_extra_args(false);
  command.add_option("--seed", options.seed, "Of the random inputs' generator")
      ->capture_default_str();
  command
      .add_option("--keep", options.kept_outputs,
                  "Leave this output on the device, and tell its handle")
      ->allow_extra_args(false);
  command.add_option("--device", options.device,
                     "On this device or backend: cpu:0, cpu");
  command.add_option("--session", options.session,
                     "Owns the run and what it leaves (sessions create)");
  command
      .add_option("--priority", options.priority, "Who goes first in a queue")
      ->check(CLI::IsMember({"low", "normal", "high"}))
      ->capture_default_str();
  command.add_option("--queue-timeout", options.queue_timeout,
                     "How long it may wait for a lane: 50ms, 2s");
  command.add_option("--execution-timeout", options.execution_timeout,
                     "How long it may then hold the lane");
  return input;
}

namespace {

absl::Status FillTimeout(
    absl::string_view option, const std::string& text,
    google::protobuf::Duration* (v1::ExecuteOptions::*timeout)(),
    v1::ExecuteOptions& how) {
  if (text.empty()) return absl::OkStatus();
  const auto time = ParseTime(option, text);
  if (!time.ok()) return time.status();
  *(how.*timeout)() = ToProto(*time);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<v1::ExecuteRequest> RequestFor(const v1::GraphInfo& graph,
                                              const RequestOptions& options) {
  v1::ExecuteRequest request;
  request.set_graph_id(graph.graph_id());
  v1::ExecuteOptions& how = *request.mutable_options();
  how.set_device(options.device);
  how.set_session_id(options.session);
  // The daemon's default is the same, and an older one knows no other.
  if (options.priority != "normal") {
    v1::Priority priority = v1::PRIORITY_UNSPECIFIED;
    v1::Priority_Parse(
        absl::StrCat("PRIORITY_", absl::AsciiStrToUpper(options.priority)),
        &priority);
    how.set_priority(priority);
  }
  absl::Status status =
      FillTimeout("--queue-timeout", options.queue_timeout,
                  &v1::ExecuteOptions::mutable_queue_timeout, how);
  if (!status.ok()) return status;
  status = FillTimeout("--execution-timeout", options.execution_timeout,
                       &v1::ExecuteOptions::mutable_execution_timeout, how);
  if (!status.ok()) return status;
  if (options.kept_outputs.empty()) return request;
  // Outputs that are asked for are all that come, so the others are named too.
  std::vector<std::string> kept = options.kept_outputs;
  for (const v1::ValueInfo& output : graph.outputs()) {
    v1::RequestedOutput& wanted = *request.add_outputs();
    wanted.set_name(output.name());
    const auto found = std::find(kept.begin(), kept.end(), output.name());
    wanted.set_keep_on_device(found != kept.end());
    if (found != kept.end()) kept.erase(found);
  }
  if (!kept.empty()) {
    return LocalError(absl::StrCat("--keep ", kept.front(),
                                   ": the graph has no output of that name"));
  }
  return request;
}

absl::StatusOr<v1::ExecuteRequest> RequestWithInputs(
    const v1::GraphInfo& graph, const RequestOptions& options) {
  const auto symbols = ParseSymbols(options.symbols);
  if (!symbols.ok()) return symbols.status();
  const absl::Status status = CheckSymbols(*symbols, graph);
  if (!status.ok()) return status;
  auto inputs = MakeInputs(
      {.inputs = options.inputs, .symbols = *symbols, .seed = options.seed},
      graph);
  if (!inputs.ok()) return inputs.status();
  auto request = RequestFor(graph, options);
  if (!request.ok()) return request;
  for (v1::ExecuteInput& input : *inputs) {
    *request->add_inputs() = std::move(input);
  }
  return request;
}

}  // namespace tensord::ctl
