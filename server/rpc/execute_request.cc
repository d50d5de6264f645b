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
#include "server/rpc/time_messages.h"

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

absl::Status CheckSource(const DecodedInput& input) {
  if (input.donate && input.source != InputSource::kTensorId) {
    return WrongInput(input.name, ": donate needs tensor_id");
  }
  switch (input.source) {
    case InputSource::kTensor:
    case InputSource::kTensorId:
      return absl::OkStatus();
    case InputSource::kNone:
      return WrongInput(input.name, " has no tensor");
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
  TENSORD_RETURN_IF_ERROR(
      CheckReceived(request, environment_.config.max_message_bytes));
  segments_.Assign(request);
  absl::Status status =
      Read(WireReader(segments_.segments()), principal, execution);
  segments_.Clear();
  return status;
}

absl::Status ExecuteRequestReader::Read(WireReader reader,
                                        absl::string_view principal,
                                        Execution& execution) {
  plan_.Clear();
  next_input_ = 0;
  TENSORD_RETURN_IF_ERROR(DecodeExecuteHead(reader, head_));
  TENSORD_RETURN_IF_ERROR(FindGraph(principal, execution));
  if (head_.options.has_value()) {
    TENSORD_RETURN_IF_ERROR(ApplyExecuteOptions(
        *head_.options, environment_.engine, environment_.config.max_trace_rows,
        execution, plan_));
  }
  const Graph& graph = *execution.graph->graph();
  TENSORD_RETURN_IF_ERROR(CheckCounts(graph));
  execution.inputs.resize(graph.inputs.size());
  is_given_.assign(graph.inputs.size(), false);
  TENSORD_RETURN_IF_ERROR(decoder_.Decode(
      reader, [&](DecodedOutput& output) { return TakeOutput(graph, output); },
      [&](DecodedInput& input) { return TakeInput(input, execution); }));
  TENSORD_RETURN_IF_ERROR(CheckAllInputs(graph));
  TENSORD_RETURN_IF_ERROR(CheckReuse(graph));
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
  if (!output.keep_on_device &&
      (output.time_to_live.has_value() || !output.reuse_input.empty())) {
    return WrongOutput(output.name,
                       ": time_to_live and reuse_input need keep_on_device");
  }
  OutputWish wish;
  wish.stays = output.keep_on_device;
  const size_t count = graph.outputs.size();
  while (wish.index < count && OutputName(graph, wish.index) != output.name) {
    ++wish.index;
  }
  if (wish.index == count) {
    return BadField("outputs", absl::StrCat("the graph has no output ",
                                            Quoted(output.name)));
  }
  for (const OutputWish& taken : plan_.outputs) {
    if (taken.index == wish.index) {
      return WrongOutput(output.name, " is asked for twice");
    }
  }
  if (output.time_to_live.has_value()) {
    google::protobuf::Duration message;
    if (!message.ParseFromString(*output.time_to_live)) {
      return MalformedMessage("google.protobuf.Duration", 0);
    }
    TENSORD_ASSIGN_OR_RETURN(wish.time_to_live,
                             ReadDuration("outputs.time_to_live", message));
  }
  if (!output.reuse_input.empty()) {
    wish.reuse_input = FindInput(graph, output.reuse_input);
    if (*wish.reuse_input == graph.inputs.size()) {
      return WrongOutput(
          output.name,
          absl::StrCat(" reuses input ", Quoted(output.reuse_input),
                       ", which the graph has not"));
    }
  }
  plan_.outputs.push_back(wish);
  return absl::OkStatus();
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
  if (input.source == InputSource::kTensorId) {
    plan_.handles.push_back({index, input.tensor_id, input.donate});
  } else {
    execution.inputs[index] = std::move(input.value);
  }
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

absl::Status ExecuteRequestReader::CheckReuse(const Graph& graph) const {
  for (const OutputWish& output : plan_.outputs) {
    if (!output.reuse_input.has_value()) continue;
    const size_t input = *output.reuse_input;
    int donated = 0, users = 0;
    for (const RunPlan::Handle& handle : plan_.handles) {
      donated += handle.input == input && handle.donate;
    }
    for (const OutputWish& other : plan_.outputs) {
      users += other.reuse_input == input;
    }
    if (donated == 0 || users > 1) {
      return WrongOutput(
          OutputName(graph, output.index),
          absl::StrCat(" reuses input ", Quoted(InputName(graph, input)),
                       donated == 0 ? ", which is not donated"
                                    : ", as another output does"));
    }
  }
  return absl::OkStatus();
}

}  // namespace tensord
