#include "server/rpc/execute_request.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "engine/graph/escape.h"
#include "engine/graph/status_macros.h"
#include "server/errors/error_details.h"
#include "server/rpc/execute_options.h"
#include "server/rpc/graph_id.h"

namespace tensord {
namespace {

ExecuteLimits LimitsOf(const ServerConfig& config) {
  const GraphLimits& limits = config.engine.limits;
  return {limits.max_rank, limits.max_elements, limits.max_name_bytes};
}

const std::string& InputName(const Graph& graph, size_t index) {
  return graph.value(graph.inputs[index]).name;
}

const std::string& OutputName(const Graph& graph, size_t index) {
  return graph.value(graph.outputs[index]).name;
}

absl::Status WrongInput(absl::string_view name, absl::string_view what) {
  return BadField("inputs", absl::StrCat("input ", Quoted(name), what));
}

absl::Status WrongOutput(absl::string_view name, absl::string_view what) {
  return BadField("outputs", absl::StrCat("output ", Quoted(name), what));
}

// What an input that is no tensor by value is missing.
absl::Status CheckSource(const DecodedInput& input) {
  switch (input.source) {
    case InputSource::kTensor:
      return input.donate ? WrongInput(input.name, ": donate needs tensor_id")
                          : absl::OkStatus();
    case InputSource::kNone:
      return WrongInput(input.name, " has no tensor");
    case InputSource::kTensorId:
      return FeatureOff("ExecuteInput.tensor_id");
    case InputSource::kAbsent:
      return FeatureOff("ExecuteInput.is_absent");
    case InputSource::kSequence:
      return FeatureOff("ExecuteInput.sequence");
  }
  return absl::OkStatus();
}

}  // namespace

ExecuteRequestReader::ExecuteRequestReader(
    const ServiceEnvironment& environment, GraphFactsTable& facts)
    : environment_(environment),
      facts_(facts),
      decoder_(LimitsOf(environment.config), environment.engine.buffers()) {}

absl::Status ExecuteRequestReader::Read(const grpc::ByteBuffer& request,
                                        absl::string_view principal,
                                        Execution& execution) {
  wanted_.clear();
  next_input_ = 0;
  TENSORD_RETURN_IF_ERROR(
      CheckReceived(request, environment_.config.max_message_bytes));
  segments_.Assign(request);
  absl::Status status = ReadMessage(principal, execution);
  segments_.Clear();
  return status;
}

absl::Status ExecuteRequestReader::ReadMessage(absl::string_view principal,
                                               Execution& execution) {
  const WireReader reader(segments_.segments());
  TENSORD_RETURN_IF_ERROR(DecodeExecuteHead(reader, head_));
  TENSORD_RETURN_IF_ERROR(FindGraph(principal, execution));
  if (head_.options.has_value()) {
    TENSORD_RETURN_IF_ERROR(
        ApplyExecuteOptions(*head_.options, environment_.engine,
                            environment_.config.max_trace_rows, execution));
  }
  const Graph& graph = *execution.graph->graph();
  TENSORD_RETURN_IF_ERROR(CheckCounts(graph));
  execution.inputs.resize(graph.inputs.size());
  is_given_.assign(graph.inputs.size(), false);
  TENSORD_RETURN_IF_ERROR(decoder_.Decode(
      reader, [&](DecodedOutput& output) { return TakeOutput(graph, output); },
      [&](DecodedInput& input) { return TakeInput(input, execution); }));
  TENSORD_RETURN_IF_ERROR(CheckAllInputs(graph));
  NoteUse();
  return absl::OkStatus();
}

absl::Status ExecuteRequestReader::FindGraph(absl::string_view principal,
                                             Execution& execution) {
  auto graph = environment_.engine.FindGraph(head_.graph_id, principal);
  if (!graph.ok()) {
    if (!IsGraphId(head_.graph_id)) {
      return BadField("graph_id",
                      absl::StrCat(Quoted(head_.graph_id), " is no graph id"));
    }
    return absl::IsNotFound(graph.status())
               ? ResourceNotFound("graph", head_.graph_id)
               : graph.status();
  }
  execution.graph = *std::move(graph);
  return absl::OkStatus();
}

void ExecuteRequestReader::NoteUse() const {
  const std::shared_ptr<GraphFacts> facts = facts_.Find(head_.graph_id);
  if (facts == nullptr) return;
  facts->execution_count.fetch_add(1, std::memory_order_relaxed);
  facts->NoteUse(absl::GetCurrentTimeNanos());
}

absl::Status ExecuteRequestReader::CheckCounts(const Graph& graph) const {
  if (head_.input_count > graph.inputs.size()) {
    return BadField(
        "inputs", absl::StrCat("the graph has ", graph.inputs.size(), ", and ",
                               head_.input_count, " are given"));
  }
  if (head_.output_count > graph.outputs.size()) {
    return BadField(
        "outputs",
        absl::StrCat("the graph has ", graph.outputs.size(), ", and ",
                     head_.output_count, " are asked for"));
  }
  return absl::OkStatus();
}

absl::Status ExecuteRequestReader::TakeOutput(const Graph& graph,
                                              const DecodedOutput& output) {
  if (output.keep_on_device) {
    return FeatureOff("RequestedOutput.keep_on_device");
  }
  if (output.has_other_fields) {
    return WrongOutput(output.name,
                       ": time_to_live and reuse_input need keep_on_device");
  }
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    if (OutputName(graph, i) != output.name) continue;
    for (const size_t taken : wanted_) {
      if (taken == i) return WrongOutput(output.name, " is asked for twice");
    }
    wanted_.push_back(i);
    return absl::OkStatus();
  }
  return BadField(
      "outputs", absl::StrCat("the graph has no output ", Quoted(output.name)));
}

absl::Status ExecuteRequestReader::TakeInput(DecodedInput& input,
                                             Execution& execution) {
  TENSORD_RETURN_IF_ERROR(CheckSource(input));
  const Graph& graph = *execution.graph->graph();
  const size_t index = FindInput(graph, input.name);
  if (index == graph.inputs.size()) {
    return BadField(
        "inputs", absl::StrCat("the graph has no input ", Quoted(input.name)));
  }
  if (is_given_[index]) return WrongInput(input.name, " is given twice");
  is_given_[index] = true;
  execution.inputs[index] = std::move(input.value);
  return absl::OkStatus();
}

// Most clients give inputs in the graph's order, so the next one is tried
// first.
size_t ExecuteRequestReader::FindInput(const Graph& graph,
                                       absl::string_view name) {
  const size_t count = graph.inputs.size();
  for (size_t tried = 0; tried < count; ++tried) {
    const size_t index = (next_input_ + tried) % count;
    if (InputName(graph, index) == name) {
      next_input_ = index + 1;
      return index;
    }
  }
  return count;
}

absl::Status ExecuteRequestReader::CheckAllInputs(const Graph& graph) const {
  for (size_t i = 0; i < is_given_.size(); ++i) {
    if (!is_given_[i]) return WrongInput(InputName(graph, i), " is missing");
  }
  return absl::OkStatus();
}

}  // namespace tensord
