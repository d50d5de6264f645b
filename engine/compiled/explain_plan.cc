#include "engine/compiled/explain_plan.h"

#include <utility>

namespace tensord {
namespace {

class Explainer {
 public:
  Explainer(const Graph& graph, const Inference& inference,
            const Schedule& schedule, const Placement& placement,
            const DeviceInfo& device)
      : graph_(graph),
        inference_(inference),
        schedule_(schedule),
        placement_(placement),
        device_(device) {}

  ExplainedNode LaunchRow(const Launch& launch) const {
    ExplainedNode row = Row(launch.node);
    const BoundNode& bound = *launch.bound;
    const KernelIdent ident = *DispatchedKernelIdent(bound.node);
    row.kernel = bound.node.entry->name;
    row.kernel_source = std::string(ident.kernel_source);
    row.revision_hash = ident.kernel_revision_hash;
    row.estimated_ns = bound.node.estimated_ns;
    row.segment_index = schedule_.segment_of(launch.node);
    row.workspace_bytes = bound.workspace_bytes;
    row.declined = bound.declined;
    return row;
  }

  ExplainedNode Row(NodeId id) const {
    const Node& node = graph_.nodes[id];
    ExplainedNode row;
    row.name = node.name;
    row.op = std::string(OpKindName(node.op));
    row.fused_from = node.fused_from;
    row.device = device_.id;
    const ValueId output = node.outputs.empty() ? kNoValue : node.outputs[0];
    if (output == kNoValue) return row;
    const TensorType& type = inference_.types[output];
    row.dtype = type.dtype;
    row.output_shape = inference_.symbols.ToString(*type.shape);
    if (absl::StatusOr<Shape> bound = BoundShape(inference_, output);
        bound.ok()) {
      row.output_bytes = ByteSize(type.dtype, bound->element_count());
    }
    const Operand& operand = placement_.values[output];
    row.output_is_in_arena = operand.place == Operand::Place::kArena;
    row.arena_offset = operand.offset_bytes;
    return row;
  }

 private:
  const Graph& graph_;
  const Inference& inference_;
  const Schedule& schedule_;
  const Placement& placement_;
  const DeviceInfo& device_;
};

}  // namespace

std::vector<ExplainedNode> ExplainNodes(const Graph& graph,
                                        const Inference& inference,
                                        const Schedule& schedule,
                                        const Placement& placement,
                                        absl::Span<const Launch> launches,
                                        const DeviceInfo& device) {
  const Explainer explainer(graph, inference, schedule, placement, device);
  std::vector<ExplainedNode> rows;
  for (const Launch& launch : launches) {
    rows.push_back(explainer.LaunchRow(launch));
  }
  for (NodeId view : schedule.views) rows.push_back(explainer.Row(view));
  return rows;
}

Explanation ExplainFlow(const Graph& graph, const DeviceInfo& device) {
  Explanation explanation;
  explanation.device = device.id;
  for (const Node& node : graph.nodes) {
    ExplainedNode& row = explanation.nodes.emplace_back();
    row.name = node.name;
    row.op = std::string(OpKindName(node.op));
    row.device = device.id;
  }
  explanation.passes.push_back(
      {"stages", "planned while it runs: shapes follow from the data"});
  return explanation;
}

}  // namespace tensord
