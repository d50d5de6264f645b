#ifndef TENSORD_SERVER_RPC_SHAPE_BINDING_H_
#define TENSORD_SERVER_RPC_SHAPE_BINDING_H_

#include <vector>

#include "absl/status/statusor.h"
#include "backends/api/shape.h"
#include "engine/cache/loaded_graph.h"
#include "tensord/v1/types.pb.h"

namespace tensord {

// The concrete shapes of a graph's inputs, in its order, from symbols, whole
// shapes or both.
//
// Threading: pure.
// Errors: kInvalidArgument when an extent is given by neither, or two ways
//   contradict each other, or a symbol or input is not the graph's.
absl::StatusOr<std::vector<Shape>> ResolveShapes(
    const LoadedGraph& graph, const v1::ShapeBinding& binding);

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_SHAPE_BINDING_H_
