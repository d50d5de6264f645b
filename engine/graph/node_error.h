#ifndef TENSORD_ENGINE_GRAPH_NODE_ERROR_H_
#define TENSORD_ENGINE_GRAPH_NODE_ERROR_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "engine/graph/graph.h"

namespace tensord {

// Errors that say which node they are about. Threading and ownership: pure.

// `status` with "node 'proj' (MatMul): " in front of its message; its payloads
// stay. OK stays OK. Strings are escaped.
absl::Status AtNode(absl::string_view name, absl::string_view op,
                    const absl::Status& status);
absl::Status AtNode(const Node& node, const absl::Status& status);

// The same with "input 'x': " in front, or whatever the noun is.
absl::Status At(absl::string_view noun, absl::string_view name,
                const absl::Status& status);

// kUnimplemented: no OpDef describes this operator. The one place where such an
// error is made.
absl::Status UnknownOperator(absl::string_view node_name,
                             absl::string_view domain,
                             absl::string_view op_type);

}  // namespace tensord

#endif  // TENSORD_ENGINE_GRAPH_NODE_ERROR_H_
