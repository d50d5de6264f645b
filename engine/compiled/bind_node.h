#ifndef TENSORD_ENGINE_COMPILED_BIND_NODE_H_
#define TENSORD_ENGINE_COMPILED_BIND_NODE_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "engine/compiled/compiled_node.h"
#include "engine/compiled/graph_compiler.h"
#include "engine/graph/graph.h"
#include "engine/infer/infer.h"

namespace tensord {

// A node of a graph with its kernel, before its operands have places.
// Ownership: borrows host constants from the inference.
struct BoundNode {
  CompiledNode node;
  absl::InlinedVector<Layout, 6> layouts;  // inputs, then outputs
  absl::InlinedVector<const std::byte*, 6> host_constants;  // per input
  uint64_t workspace_bytes = 0;
  std::vector<NoBackendForOp::Declined> declined;
  bool runs_on_host = false;  // bound to the host device beside the graph's own
};

// The concrete extents of a value: real ones, or upper bounds while a graph
// with data-dependent extents is planned.
using ShapeOf = absl::FunctionRef<absl::StatusOr<Shape>(ValueId)>;

// What a node's compilation looks at. Borrows everything.
struct BindingScope {
  const Graph& graph;
  const Inference& inference;
  const DeviceInfo& device;
  const CompileOptions& options;
  const CompilerEnvironment& environment;
};

// The dtypes of a node's operands, kUndefined where absent.
DTypeList NodeDTypes(const Inference& inference, const Node& node);

// What a kernel sees of a bound node.
NodeSite SiteOf(const CompiledNode& node, absl::Span<const Layout> layouts,
                absl::Span<const std::byte* const> host_constants);

// Chooses the kernel of a node for the given shapes, among those that need no
// more scratch memory than that. Pure.
// Errors: CompileNode's, with the node's name.
absl::StatusOr<BoundNode> BindNode(
    const BindingScope& scope, NodeId node_id, ShapeOf shape_of,
    uint64_t max_workspace_bytes = std::numeric_limits<uint64_t>::max());

// The same for a graph with a host device, null for none: a node that the
// scope's device has no kernel for is bound there. Where that has none either,
// the error is the device's.
absl::StatusOr<BoundNode> BindNodeOnEither(const BindingScope& scope,
                                           const DeviceInfo* host,
                                           NodeId node_id, ShapeOf shape_of);

}  // namespace tensord

#endif  // TENSORD_ENGINE_COMPILED_BIND_NODE_H_
