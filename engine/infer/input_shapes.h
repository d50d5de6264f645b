#ifndef TENSORD_ENGINE_INFER_INPUT_SHAPES_H_
#define TENSORD_ENGINE_INFER_INPUT_SHAPES_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "backends/api/shape.h"
#include "engine/graph/graph.h"
#include "engine/graph/limits.h"

namespace tensord {

// Whether concrete shapes, in the order of graph.inputs, fit what the client
// declared: as many, of the same rank, equal where an extent was given, and
// equal to each other where a name was. kInvalidArgument names the input, the
// dimension and both numbers.
// Threading and ownership: pure.
absl::Status CheckInputShapes(const Graph& graph,
                              absl::Span<const Shape> shapes,
                              const GraphLimits& limits);

}  // namespace tensord

#endif  // TENSORD_ENGINE_INFER_INPUT_SHAPES_H_
