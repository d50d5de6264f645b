#ifndef TENSORD_ENGINE_OPS_BROADCAST_H_
#define TENSORD_ENGINE_OPS_BROADCAST_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/graph/dim.h"
#include "engine/ops/infer_context.h"

namespace tensord {

// The shape that both broadcast to, aligned at their last dimensions: an extent
// of 1 repeats, others must be equal. kInvalidArgument with the dimension,
// counted from the end, and both extents.
absl::StatusOr<SymbolicShape> BroadcastShapes(InferContext& context,
                                              const SymbolicShape& a,
                                              const SymbolicShape& b);

// OK where input i broadcasts to `target` without making it larger.
absl::Status CheckBroadcastsTo(InferContext& context, int i,
                               const SymbolicShape& target);

}  // namespace tensord

#endif  // TENSORD_ENGINE_OPS_BROADCAST_H_
