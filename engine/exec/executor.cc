#include "engine/exec/executor.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/exec/compiled_run.h"
#include "engine/flow/flow_ops.h"
#include "engine/flow/flow_program.h"
#include "engine/graph/escape.h"

namespace tensord {
namespace {

RunLimits LimitsOf(const Execution& execution) {
  return {.deadline = execution.deadline,
          .is_cancelled = &execution.is_cancelled,
          .is_stopped = &execution.is_stopped};
}

// The execution's inputs become values of the flow, and its outputs come back.
absl::Status RunFlow(LaneSlot& slot, const CompiledGraph& graph,
                     Execution& execution, BufferPool& buffers,
                     bool* lane_is_busy) {
  const op_profile::ExecutionScope accounted(slot.shard(),
                                             execution.trace.get());
  const op_profile::ExecutionScope on_host(slot.host_shard(),
                                           execution.trace.get());
  FlowRun run{.slot = slot,
              .buffers = buffers,
              .limits = LimitsOf(execution),
              .phase_ns = execution.phase_ns,
              .shard = accounted.shard(),
              .host_shard = on_host.shard(),
              .trace = execution.trace.get(),
              .budget = std::make_shared<FlowBudget>(graph.flow->max_bytes()),
              .lane_is_busy = lane_is_busy};
  std::vector<FlowValue> inputs;
  for (HostValue& input : execution.inputs) {
    if (absl::Status s = run.budget->Charge(input.bytes.size()); !s.ok()) {
      return s;
    }
    inputs.push_back({.tensor = run.Keep(std::move(input))});
  }
  absl::StatusOr<std::vector<FlowValue>> outputs =
      graph.flow->Run(run, std::move(inputs));
  if (!outputs.ok()) return outputs.status();
  execution.outputs.clear();
  for (size_t i = 0; i < outputs->size(); ++i) {
    FlowValue& output = (*outputs)[i];
    if (!output.is_tensor()) {
      execution.outputs.clear();
      return absl::UnimplementedError(
          absl::StrCat("output ", Quoted(graph.outputs[i].name), " is ",
                       output.is_sequence() ? "a sequence"
                                            : "an optional "
                                              "without a value",
                       "; only tensors can be returned"));
    }
    if (output.tensor.use_count() > 1) {
      absl::StatusOr<FlowValue> copy =
          WithShape(*output.tensor, output.tensor->shape(), run);
      if (!copy.ok()) return copy.status();
      output = *std::move(copy);
    }
    execution.outputs.push_back(output.tensor->Take());
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RunExecution(LaneSlot& slot, const CompiledGraph& graph,
                          Execution& execution, BufferPool& buffers,
                          PreparationChannel* preparation, bool* lane_is_busy) {
  *lane_is_busy = false;
  if (graph.host_device != nullptr) {
    if (absl::Status s = slot.OpenHost(*graph.host_device); !s.ok()) {
      if (preparation != nullptr) preparation->Detach();
      return s;
    }
  }
  if (graph.flow != nullptr) {
    return RunFlow(slot, graph, execution, buffers, lane_is_busy);
  }
  std::vector<absl::Span<const std::byte>>& inputs = slot.scratch().input_bytes;
  inputs.clear();
  for (const HostValue& input : execution.inputs) {
    inputs.push_back(input.bytes.bytes());
  }
  const op_profile::ExecutionScope accounted(slot.shard(),
                                             execution.trace.get());
  // A graph that launches nothing there does not draw samples there either.
  const op_profile::ExecutionScope on_host(
      graph.host_device != nullptr ? slot.host_shard() : nullptr,
      execution.trace.get());
  const auto take_inputs = [&]() -> std::shared_ptr<const void> {
    return std::make_shared<decltype(execution.inputs)>(
        std::move(execution.inputs));
  };
  const CompiledRun run{.inputs = inputs,
                        .outputs = &execution.outputs,
                        .limits = LimitsOf(execution),
                        .phase_ns = &execution.phase_ns,
                        .shard = accounted.shard(),
                        .host_shard = on_host.shard(),
                        .preparation = preparation,
                        .trace = execution.trace.get(),
                        .take_inputs = take_inputs};
  return RunCompiled(slot, graph, run, buffers, lane_is_busy);
}

}  // namespace tensord
