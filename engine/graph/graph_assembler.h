#ifndef TENSORD_ENGINE_GRAPH_GRAPH_ASSEMBLER_H_
#define TENSORD_ENGINE_GRAPH_GRAPH_ASSEMBLER_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/api/op_kind.h"
#include "engine/graph/graph.h"
#include "engine/graph/graph_def.h"
#include "engine/graph/limits.h"
#include "engine/graph/value_table.h"

namespace tensord {

// BuildGraph() at work on one graph, or on a body within one. The borders
// (initializers, inputs, outputs) are in graph_assembler.cc, nodes and bodies
// in assemble_nodes.cc.
//
// Threading: one thread. Ownership: owns the definition that it takes apart;
//   borrows the limits and the assembler around it.
// Errors: those of BuildGraph().
class GraphAssembler {
 public:
  // `outer` is that of the graph around a body, null for the whole.
  GraphAssembler(GraphDef definition, const GraphLimits& limits,
                 GraphAssembler* outer = nullptr);

  absl::StatusOr<Graph> Build();

  // What the body took from the graph around it: ids there, in the order of the
  // last inputs of the built graph.
  std::vector<ValueId> captured_from_outer() const;

 private:
  struct Captured {
    ValueId id;
    ValueId outer_id;
  };
  // A node of the definition on its way into the graph.
  struct PendingNode {
    NodeDef* def;
    std::string name;
    OpKind op;
    std::vector<ValueId> outputs;
    std::vector<Body> bodies;
  };

  absl::Status AddInitializers();
  absl::Status AddInputs();
  absl::Status AddOutputs();

  // The version of the default domain that the node means; checked.
  absl::StatusOr<int64_t> OpsetOf(const NodeDef& def) const;
  // Defines what the nodes make, so that the order of the nodes does not matter
  // when their inputs are resolved. Constant nodes end here.
  absl::Status AddNodeOutputs();
  absl::Status AddConstantNode(const NodeDef& def);
  // The value of that name here or, for a body, around it.
  absl::StatusOr<ValueId> Resolve(absl::string_view name);
  absl::StatusOr<ValueId> Capture(absl::string_view name);
  // The bodies in a node's attributes, with what they capture behind the node's
  // own inputs.
  absl::Status AddBodies(PendingNode& node, std::vector<ValueId>& inputs);
  absl::Status AddNodes();
  absl::Status AddNode(PendingNode pending, std::vector<ValueId> inputs);
  // Values for the outputs that the node leaves out before one that it names.
  absl::Status AddUnreadOutputs(Node& node);
  // What older operator sets had as an attribute.
  absl::Status AddConstantInput(Node& node, int index,
                                const HostTensor& tensor);

  GraphDef definition_;
  const GraphLimits& limits_;
  GraphAssembler* const outer_;
  std::vector<Captured> captured_;
  // By all graphs within this one, each of which has a value for it.
  int64_t captured_count_ = 0;
  Graph graph_;
  ValueTable values_;
  std::vector<PendingNode> pending_;
  absl::flat_hash_map<ValueId, int32_t> producer_of_;  // index into pending_
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_GRAPH_GRAPH_ASSEMBLER_H_
