#ifndef TENSORD_ENGINE_GRAPH_CHECK_DEFINITION_H_
#define TENSORD_ENGINE_GRAPH_CHECK_DEFINITION_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "engine/graph/dim.h"
#include "engine/graph/graph_def.h"
#include "engine/graph/limits.h"

namespace tensord {

// The checks of a client's graph that need no names resolved. Nested graphs are
// walked with a stack of their own, so that depth costs no call stack.
// Threading and ownership: pure.

// Counts of nodes, values, operands and attributes, nesting, and every name:
// its length, its characters. Nested graphs count towards the whole.
absl::Status CheckDefinition(const GraphDef& definition,
                             const GraphLimits& limits);

// Rank, extents and elements of one tensor. An extent that is a symbol counts
// as 1: what is refused then could at most be empty. `what` is the noun:
// "input 'x'".
absl::Status CheckTensorSize(absl::string_view what, const SymbolicShape& shape,
                             const GraphLimits& limits);

}  // namespace tensord

#endif  // TENSORD_ENGINE_GRAPH_CHECK_DEFINITION_H_
