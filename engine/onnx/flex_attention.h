#ifndef TENSORD_ENGINE_ONNX_FLEX_ATTENTION_H_
#define TENSORD_ENGINE_ONNX_FLEX_ATTENTION_H_

#include <vector>

#include "absl/status/status.h"
#include "engine/graph/graph_def.h"
#include "engine/onnx/fresh_names.h"

namespace tensord {

// FlexAttention of the domain ai.onnx.preview: attention with graphs that may
// change the scores before the softmax and the probabilities behind it.
inline bool IsFlexAttention(const NodeDef& node) {
  return node.domain == "ai.onnx.preview" && node.op_type == "FlexAttention";
}

// Appends to `nodes` what `node`, a FlexAttention, means: an Attention, or with
// a graph the products and the softmax, and each graph as the body of a Loop
// that goes round once.
//
// Threading and ownership: pure; a graph's tensors are shared.
// Errors: kInvalidArgument for operands, attributes and graphs that the
//   operator does not have.
absl::Status AppendFlexAttention(NodeDef node, FreshNames& fresh,
                                 std::vector<NodeDef>& nodes);

}  // namespace tensord

#endif  // TENSORD_ENGINE_ONNX_FLEX_ATTENTION_H_
