#ifndef TENSORD_ENGINE_PASSES_REMOVE_NO_OPS_H_
#define TENSORD_ENGINE_PASSES_REMOVE_NO_OPS_H_

#include "engine/passes/pass_context.h"

namespace tensord {

// Takes nodes out whose result is their input, and makes those that move
// elements move them once:
//
//   - a view, Cast, Expand or Tile to the type that its input has; a Concat,
//   Sum,
//     Mean, Max or Min of one input
//   - a Cast to a dtype that holds every number and back
//   - a Transpose behind another, which become one, or none
//   - a Transpose that moves only dimensions of extent 1, which becomes a
//   Reshape
//
// Whatever makes or is an output of the graph stays. Returns how many nodes
// went or changed.
int RemoveNoOps(PassContext& context);

}  // namespace tensord

#endif  // TENSORD_ENGINE_PASSES_REMOVE_NO_OPS_H_
