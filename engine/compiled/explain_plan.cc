#include "engine/compiled/explain_plan.h"

#include <utility>

namespace tensord {
namespace {

class Explainer {
 public:
  explicit Explainer(const PlanToExplain& plan)
      : graph_(plan.graph), inference_(plan.inference), plan_(plan) {}

  ExplainedNode LaunchRow(const Launch& launch) const {
    const BoundNode& bound = *launch.bound;
    ExplainedNode row = Row(launch.node, bound.runs_on_host);
    const KernelIdent ident = *DispatchedKernelIdent(bound.node);
    row.kernel = bound.node.entry->name;
    row.kernel_source = std::string(ident.kernel_source);
    row.revision_hash = ident.kernel_revision_hash;
    row.estimated_ns = bound.node.estimated_ns;
    row.segment_index = plan_.schedule.segment_of(launch.node);
    row.workspace_bytes = bound.workspace_bytes;
    row.declined = bound.declined;
    return row;
  }

  // A view is where its input is.
  ExplainedNode ViewRow(NodeId id) const {
    const ValueId root = plan_.schedule.roots[graph_.nodes[id].outputs[0]];
    return Row(id, plan_.sides.has_two && !plan_.sides.is_on_device[root]);
  }

  ExplainedTransfer TransferRow(ValueId root, bool is_to_host,
                                int32_t before_launch) const {
    TransferTotals one;
    one.Add(BytesOf(root));
    return {.value = graph_.values[root].name,
            .is_to_host = is_to_host,
            .size_bytes = one.bytes,
            .estimated_ns = one.EstimateNs(plan_.device),
            .before_launch = before_launch};
  }

 private:
  // Upper bounds; 0 where there is none.
  uint64_t BytesOf(ValueId value) const {
    const absl::StatusOr<Shape> bound = BoundShape(inference_, value);
    return bound.ok()
               ? ByteSize(inference_.types[value].dtype, bound->element_count())
               : 0;
  }

  ExplainedNode Row(NodeId id, bool is_on_host) const {
    const Node& node = graph_.nodes[id];
    ExplainedNode row;
    row.name = node.name;
    row.op = std::string(OpKindName(node.op));
    row.fused_from = node.fused_from;
    row.device =
        is_on_host && plan_.host != nullptr ? plan_.host->id : plan_.device.id;
    const ValueId output = node.outputs.empty() ? kNoValue : node.outputs[0];
    if (output == kNoValue) return row;
    const TensorType& type = inference_.types[output];
    row.dtype = type.dtype;
    row.output_shape = inference_.symbols.ToString(*type.shape);
    row.output_bytes = BytesOf(output);
    const Operand& operand = plan_.placement.at(is_on_host).values[output];
    row.output_is_in_arena = operand.place == Operand::Place::kArena;
    row.arena_offset = operand.offset_bytes;
    return row;
  }

  const Graph& graph_;
  const Inference& inference_;
  const PlanToExplain& plan_;
};

}  // namespace

std::vector<ExplainedNode> ExplainNodes(const PlanToExplain& plan) {
  const Explainer explainer(plan);
  std::vector<ExplainedNode> rows;
  for (const Launch& launch : plan.launches) {
    rows.push_back(explainer.LaunchRow(launch));
  }
  for (NodeId view : plan.schedule.views) {
    rows.push_back(explainer.ViewRow(view));
  }
  return rows;
}

std::vector<ExplainedTransfer> ExplainTransfers(const PlanToExplain& plan) {
  const Explainer explainer(plan);
  std::vector<ExplainedTransfer> rows;
  if (!plan.sides.has_two) return rows;
  ForEachTransfer(
      plan.graph, plan.schedule, plan.sides,
      [&](ValueId root, bool is_to_host, int32_t before_launch) {
        rows.push_back(explainer.TransferRow(root, is_to_host, before_launch));
      });
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
