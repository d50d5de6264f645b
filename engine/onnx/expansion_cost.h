#ifndef TENSORD_ENGINE_ONNX_EXPANSION_COST_H_
#define TENSORD_ENGINE_ONNX_EXPANSION_COST_H_

#include "absl/status/status.h"
#include "engine/graph/limits.h"
#include "engine/onnx/functions.h"

namespace tensord {

namespace onnx {
class GraphProto;
}

// Whether a graph stays within the limits when its functions are expanded. What
// comes out is counted before any of it is made, each function once, so that a
// chain of functions that each call the next one twice is refused as quickly as
// it is read. A call counts as a node, and its operands as operands, since they
// cost as much even when nothing remains of them.
//
// Threading: pure. Ownership: borrows everything; no recursion.
// Errors: kInvalidArgument for functions that call each other in a circle,
// called
//   or not; kResourceExhausted for max_function_depth, max_nesting_depth,
//   max_nodes, max_values and max_operands.
absl::Status CheckExpansion(const FunctionLibrary& functions,
                            const onnx::GraphProto& graph,
                            const GraphLimits& limits);

}  // namespace tensord

#endif  // TENSORD_ENGINE_ONNX_EXPANSION_COST_H_
