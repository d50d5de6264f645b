#include "engine/compiled/step_builder.h"

#include <utility>

#include "engine/graph/escape.h"

namespace tensord {

Step MakeStep(const Graph& graph, const Schedule& schedule,
              const Placement& placement, NodeId node_id, int32_t launch_index,
              BoundNode bound) {
  const Node& node = graph.nodes[node_id];
  Step step;
  step.node_id = node_id;
  step.workspace_offset = placement.workspaces[launch_index];
  step.workspace_bytes = bound.workspace_bytes;
  if (const Schedule::Cells* cells = schedule.cells_of(node_id);
      cells != nullptr && !cells->extents.empty()) {
    step.extent_cell_index = cells->extents.front().extent_cell_index;
    step.extent_cell_count = static_cast<int32_t>(cells->extents.size());
  }
  const auto add_operand = [&](ValueId value) {
    Operand operand;
    if (value != kNoValue) {
      const size_t index = step.operands.size();
      operand = placement.values[value];
      operand.size_bytes = ByteSize(bound.node.dtypes[index],
                                    bound.layouts[index].shape.element_count());
    }
    step.operands.push_back(operand);
  };
  for (ValueId input : node.inputs) add_operand(input);
  for (ValueId output : node.outputs) add_operand(output);
  step.layouts = std::move(bound.layouts);
  step.host_constants = std::move(bound.host_constants);
  step.node = std::move(bound.node);
  step.node.site.node_index = static_cast<uint32_t>(launch_index);
  return step;
}

absl::Status PrepareStep(const Graph& graph, Device& device,
                         StateBudget& budget, Step& step) {
  const KernelEntry& entry = *step.node.entry;
  if (entry.prepare == nullptr) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<KernelState>> state = entry.prepare(
      SiteOf(step.node, step.layouts, step.host_constants), device);
  if (!state.ok()) {
    return WithNode(state.status(), graph.nodes[step.node_id].name);
  }
  step.node.state = *std::move(state);
  budget.used_bytes += StateFootprintBytes(step);
  if (budget.used_bytes <= budget.max_bytes) return absl::OkStatus();
  return WithNode(
      LimitExceeded("what kernels make of a graph before its runs",
                    static_cast<int64_t>(budget.used_bytes), "bytes",
                    "max_peak_bytes", static_cast<int64_t>(budget.max_bytes)),
      graph.nodes[step.node_id].name);
}

}  // namespace tensord
