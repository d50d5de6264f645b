#ifndef TENSORD_TESTS_FUZZ_CHECK_GRAPH_H_
#define TENSORD_TESTS_FUZZ_CHECK_GRAPH_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/graph/graph_def.h"
#include "engine/graph/limits.h"

namespace tensord {

// Limits under which any graph is dealt with in milliseconds.
GraphLimits FuzzLimits();

// Builds, infers (with symbols, then with an extent of 2 for each of them),
// folds and removes dead nodes. Aborts when a promise of these is broken: ids
// in range, producers first, and a message that can be printed with every
// error. Returns the error that ended it, if any.
absl::Status CheckGraph(absl::StatusOr<GraphDef> definition);

}  // namespace tensord

#endif  // TENSORD_TESTS_FUZZ_CHECK_GRAPH_H_
