#ifndef TENSORD_ENGINE_GRAPH_NODE_ERROR_H_
#define TENSORD_ENGINE_GRAPH_NODE_ERROR_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "engine/graph/graph.h"

namespace tensord {

// Errors that say where in a graph they belong, in the text and, for
// kInvalidArgument, in InvalidGraphDetails. Payloads stay, OK stays OK, strings
// are escaped. Threading and ownership: pure.

// "node 'proj' (MatMul): " in front of the message.
absl::Status AtNode(absl::string_view name, absl::string_view op,
                    const absl::Status& status);
absl::Status AtNode(const Node& node, const absl::Status& status);

// "input 'x': " in front, or whatever the noun for this value is.
absl::Status AtValue(absl::string_view noun, absl::string_view name,
                     const absl::Status& status);

// "attribute 'axis': " in front.
absl::Status AtAttribute(absl::string_view name, const absl::Status& status);

// Nothing in front: the error is of the graph as a whole, or says its place.
absl::Status AtGraph(const absl::Status& status);

// kUnimplemented: no OpDef describes this operator. The one place where such an
// error is made.
absl::Status UnknownOperator(absl::string_view node_name,
                             absl::string_view domain,
                             absl::string_view op_type);

}  // namespace tensord

#endif  // TENSORD_ENGINE_GRAPH_NODE_ERROR_H_
