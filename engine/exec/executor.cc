#include "engine/exec/executor.h"

#include <memory>
#include <utility>
#include <vector>

#include "engine/exec/compiled_run.h"

namespace tensord {

absl::Status RunExecution(LaneSlot& slot, const CompiledGraph& graph,
                          Execution& execution, BufferPool& buffers,
                          PreparationChannel* preparation, bool* lane_is_busy) {
  std::vector<absl::Span<const std::byte>>& inputs = slot.scratch().input_bytes;
  inputs.clear();
  for (const HostValue& input : execution.inputs) {
    inputs.push_back(input.bytes.bytes());
  }
  const op_profile::ExecutionScope accounted(slot.shard(),
                                             execution.trace.get());
  const auto take_inputs = [&]() -> std::shared_ptr<const void> {
    return std::make_shared<decltype(execution.inputs)>(
        std::move(execution.inputs));
  };
  const CompiledRun run{.inputs = inputs,
                        .outputs = &execution.outputs,
                        .limits = {execution.deadline, &execution.is_cancelled},
                        .phase_ns = &execution.phase_ns,
                        .shard = accounted.shard(),
                        .preparation = preparation,
                        .take_inputs = take_inputs};
  return RunCompiled(slot, graph, run, buffers, lane_is_busy);
}

}  // namespace tensord
