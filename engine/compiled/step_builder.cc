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
  step.runs_on_host = bound.runs_on_host;
  const std::vector<Operand>& places = placement.at(bound.runs_on_host).values;
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
      operand = places[value];
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

absl::StatusOr<std::vector<Stretch>> MakeStretches(const Inference& inference,
                                                   const SidePlan& sides,
                                                   const Placement& placement,
                                                   int index) {
  std::vector<Stretch> stretches;
  int32_t first_step = 0;
  for (const SidePlan::PlannedStretch& planned : sides.StretchesOf(index)) {
    Stretch& stretch = stretches.emplace_back(
        Stretch{.runs_on_host = planned.runs_on_host,
                .first_step = first_step,
                .step_count = planned.launch_count,
                .first_time_mark = planned.first_time_mark});
    first_step += planned.launch_count;
    for (ValueId root : planned.transfers) {
      absl::StatusOr<Shape> shape = BoundShape(inference, root);
      if (!shape.ok()) return shape.status();
      Transfer transfer{placement.at(!planned.runs_on_host).values[root],
                        placement.at(planned.runs_on_host).values[root]};
      transfer.source.size_bytes = transfer.target.size_bytes =
          ByteSize(inference.types[root].dtype, shape->element_count());
      stretch.transfers.push_back(transfer);
    }
  }
  return stretches;
}

absl::Status PrepareStep(const Graph& graph, Device& device, Device* host,
                         StateBudget& budget, Step& step) {
  const KernelEntry& entry = *step.node.entry;
  if (entry.prepare == nullptr) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<KernelState>> state =
      entry.prepare(SiteOf(step.node, step.layouts, step.host_constants),
                    step.runs_on_host ? *host : device);
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
