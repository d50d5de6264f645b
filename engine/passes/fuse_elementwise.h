#ifndef TENSORD_ENGINE_PASSES_FUSE_ELEMENTWISE_H_
#define TENSORD_ENGINE_PASSES_FUSE_ELEMENTWISE_H_

#include "engine/passes/pass_context.h"

namespace tensord {

// Makes one ElementwiseChain of connected element-wise nodes, which walks its
// memory once. Returns how many chains there are.
//
// A chain has one output. It takes in the producer of a value when every reader
// of that value is in the chain already, so nothing is computed twice and no
// cycle can arise; when the value has the output's dtype and shape, so nothing
// is computed more often than before; and when the graph does not return it.
// Scalars that are known become constants of the expression. A view between two
// element-wise nodes moves above the first of them, if all that it reads is as
// large as its result or one element.
//
// The chain's name is its last node's; Node::fused_from lists all, first to
// last. Nodes stay where the device has no kernel for the chain.
int FuseElementwise(PassContext& context);

}  // namespace tensord

#endif  // TENSORD_ENGINE_PASSES_FUSE_ELEMENTWISE_H_
