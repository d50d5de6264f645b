#ifndef TENSORD_ENGINE_INPUT_CHECK_H_
#define TENSORD_ENGINE_INPUT_CHECK_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/exec/execution.h"
#include "engine/graph/graph.h"

namespace tensord {

// Whether tensors can be a graph's inputs, as far as that does not need their
// extents: how many, their dtypes and ranks, and that the bytes are as many as
// dtype and shape say. Extents are checked by CheckInputShapes for a key that
// is not compiled yet; for one that is, they are known to fit. Allocates
// nothing unless it refuses.
//
// Threading: pure. Errors: kInvalidArgument with the input's name and the
//   numbers.
absl::Status CheckInputs(const Graph& graph,
                         absl::Span<const HostValue> inputs);

}  // namespace tensord

#endif  // TENSORD_ENGINE_INPUT_CHECK_H_
