#ifndef TENSORD_ENGINE_ONNX_OLDER_NODES_H_
#define TENSORD_ENGINE_ONNX_OLDER_NODES_H_

#include <vector>

#include "absl/status/status.h"
#include "engine/graph/graph_builder.h"
#include "engine/graph/graph_def.h"
#include "engine/onnx/fresh_names.h"

namespace tensord {

// Operator sets 1 to 6, which files of 2017 use. BuildGraph() takes those from
// kMinOpset on, so that no operator's definition has to know what broadcasting
// was before; nodes of older ones are brought to that form here.
inline bool IsOlderOpset(int64_t opset) {
  return opset >= 1 && opset < kMinOpset;
}

// Appends to `nodes` what `node`, of an older operator set, means: itself with
// other attributes, and before it nodes that align an operand.
//
// Threading and ownership: pure.
// Errors: kUnimplemented, by name, for an operator whose old meaning is not
//   known here, and for training (is_test 0); kInvalidArgument for attributes
//   out of range.
absl::Status AppendOlderNode(NodeDef node, FreshNames& fresh,
                             std::vector<NodeDef>& nodes);

}  // namespace tensord

#endif  // TENSORD_ENGINE_ONNX_OLDER_NODES_H_
