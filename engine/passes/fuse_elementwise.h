#ifndef TENSORD_ENGINE_PASSES_FUSE_ELEMENTWISE_H_
#define TENSORD_ENGINE_PASSES_FUSE_ELEMENTWISE_H_

#include "absl/functional/function_ref.h"
#include "engine/graph/graph.h"
#include "engine/infer/infer.h"

namespace tensord {

// A copy of the graph in which connected element-wise nodes are one
// ElementwiseChain each, which walks its memory once. Values keep their ids and
// types, so `inference` stays right for those that are left; nodes get new ids.
//
// A chain has one output. It takes in the producer of a value when every reader
// of that value is in the chain already, so nothing is computed twice and no
// cycle can arise; when the value has the output's dtype and shape, so nothing
// is computed more often than before; and when the graph does not return it.
// Scalars that are known become constants of the expression.
//
// The chain's name is its last node's; Node::fused_from lists all, first to
// last.
//
// `has_kernel` says for which dtypes the device runs chains; others stay nodes.
//
// Threading: pure. Ownership: shares constant bytes.
Graph FuseElementwise(const Graph& graph, const Inference& inference,
                      absl::FunctionRef<bool(DType)> has_kernel);

}  // namespace tensord

#endif  // TENSORD_ENGINE_PASSES_FUSE_ELEMENTWISE_H_
