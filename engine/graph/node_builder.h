#ifndef TENSORD_ENGINE_GRAPH_NODE_BUILDER_H_
#define TENSORD_ENGINE_GRAPH_NODE_BUILDER_H_

#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/graph/graph.h"
#include "engine/graph/graph_def.h"

namespace tensord {

// A node that its operator's OpDef has read.
struct BuiltNode {
  Node node;
  // Inputs that older operator sets had as attributes: (index, value).
  std::vector<std::pair<int, HostTensor>> constant_inputs;
};

// Gives `node` (name, op, operands and bodies are set) its parameters.
//
// Threading and ownership: pure; the attributes are only looked at.
// Errors: kInvalidArgument for operands that the operator does not have or
//   lacks, attributes that it does not know in this operator set, and values
//   that its OpDef refuses; kUnimplemented for what the OpDef names.
absl::StatusOr<BuiltNode> BuildNode(Node node, const Attributes& attributes,
                                    int64_t opset);

// "Conv_12", by operator and position, for each node without a name; unique in
// the graph. kInvalidArgument for two of the same name.
absl::Status NameNodes(std::vector<NodeDef>& nodes);

}  // namespace tensord

#endif  // TENSORD_ENGINE_GRAPH_NODE_BUILDER_H_
