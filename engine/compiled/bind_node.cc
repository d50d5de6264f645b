#include "engine/compiled/bind_node.h"

#include <utility>

namespace tensord {
namespace {

absl::Status AppendLayouts(absl::Span<const ValueId> values, ShapeOf shape_of,
                           absl::InlinedVector<Layout, 6>& layouts) {
  for (ValueId value : values) {
    if (value == kNoValue) {
      layouts.emplace_back();
      continue;
    }
    absl::StatusOr<Shape> shape = shape_of(value);
    if (!shape.ok()) return shape.status();
    layouts.push_back(Layout::Contiguous(*std::move(shape)));
  }
  return absl::OkStatus();
}

}  // namespace

DTypeList NodeDTypes(const Inference& inference, const Node& node) {
  DTypeList dtypes;
  const auto append = [&](ValueId value) {
    dtypes.push_back(value == kNoValue ? DType::kUndefined
                                       : inference.types[value].dtype);
  };
  for (ValueId value : node.inputs) append(value);
  for (ValueId value : node.outputs) append(value);
  return dtypes;
}

NodeSite SiteOf(const CompiledNode& node, absl::Span<const Layout> layouts,
                absl::Span<const std::byte* const> host_constants) {
  return NodeSite{.op = node.op,
                  .dtypes = node.dtypes,
                  .input_count = node.input_count,
                  .layouts = layouts,
                  .host_constants = host_constants,
                  .params = node.params,
                  .precision = node.precision};
}

absl::StatusOr<BoundNode> BindNode(const BindingScope& scope, NodeId node_id,
                                   ShapeOf shape_of,
                                   uint64_t max_workspace_bytes) {
  const Node& node = scope.graph.nodes[node_id];
  BoundNode bound;
  for (ValueId input : node.inputs) {
    const bool is_known =
        input != kNoValue && scope.inference.constants[input].is_present();
    bound.host_constants.push_back(
        is_known ? scope.inference.constants[input].bytes().data() : nullptr);
  }
  if (absl::Status status = AppendLayouts(node.inputs, shape_of, bound.layouts);
      !status.ok()) {
    return WithNode(status, node.name);
  }
  if (absl::Status status =
          AppendLayouts(node.outputs, shape_of, bound.layouts);
      !status.ok()) {
    return WithNode(status, node.name);
  }
  const NodeKnowledge knowledge{
      .layouts = bound.layouts,
      .host_constants = bound.host_constants,
      .device = &scope.device,
      .require_deterministic = scope.options.deterministic,
      .precision = scope.options.precision,
      .max_workspace_bytes = max_workspace_bytes,
      .measured = scope.environment.measured,
      .declined = &bound.declined};
  absl::StatusOr<CompiledNode> compiled =
      CompileNode(node.op, NodeDTypes(scope.inference, node),
                  static_cast<int>(node.inputs.size()), scope.device.id.backend,
                  node.params, *scope.environment.table, knowledge);
  if (!compiled.ok()) return WithNode(compiled.status(), node.name);
  bound.node = *std::move(compiled);

  const KernelEntry& entry = *bound.node.entry;
  if (entry.workspace_bytes != nullptr) {
    bound.workspace_bytes = entry.workspace_bytes(
        SiteOf(bound.node, bound.layouts, bound.host_constants));
  }
  if (scope.environment.profile != nullptr) {
    bound.node.site.slot = scope.environment.profile->SlotFor(
        node.op, bound.node.backend, entry.name,
        bound.node.dtypes[node.inputs.size()]);
  }
  return bound;
}

absl::StatusOr<BoundNode> BindNodeOnEither(const BindingScope& scope,
                                           const DeviceInfo* host,
                                           NodeId node_id, ShapeOf shape_of) {
  absl::StatusOr<BoundNode> bound = BindNode(scope, node_id, shape_of);
  if (bound.ok() || host == nullptr ||
      !NoBackendForOp::FromStatus(bound.status()).has_value()) {
    return bound;
  }
  const BindingScope on_host{scope.graph, scope.inference, *host, scope.options,
                             scope.environment};
  absl::StatusOr<BoundNode> other = BindNode(on_host, node_id, shape_of);
  if (!other.ok()) return bound;
  other->runs_on_host = true;
  return other;
}

}  // namespace tensord
