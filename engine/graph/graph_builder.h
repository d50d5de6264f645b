#ifndef TENSORD_ENGINE_GRAPH_GRAPH_BUILDER_H_
#define TENSORD_ENGINE_GRAPH_GRAPH_BUILDER_H_

#include "absl/status/statusor.h"
#include "engine/graph/graph.h"
#include "engine/graph/graph_def.h"
#include "engine/graph/limits.h"

namespace tensord {

// Checks a client's graph and resolves its names: limits, duplicate and
// undefined names, cycles (found without recursion), operators and their
// versions, the number of operands, attributes (each read into OpParams by its
// OpDef, unknown ones refused), constants, declared shapes and dtypes.
//
// Threading: pure. Ownership: takes the definition apart; tensors are shared.
// Errors: kInvalidArgument with the node's or value's name and the numbers;
//   kResourceExhausted for a limit, with its name, its value and what was
//   asked; kUnimplemented for an operator that no OpDef describes
//   (NoBackendForOp's details are attached, see
//   engine/compiled/no_backend_for_op.h) and for an operator set version
//   outside [kMinOpset, kMaxOpset].
absl::StatusOr<Graph> BuildGraph(GraphDef definition,
                                 const GraphLimits& limits);

inline constexpr int64_t kMinOpset = 7;
inline constexpr int64_t kMaxOpset = 27;

}  // namespace tensord

#endif  // TENSORD_ENGINE_GRAPH_GRAPH_BUILDER_H_
