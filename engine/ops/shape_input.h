#ifndef TENSORD_ENGINE_OPS_SHAPE_INPUT_H_
#define TENSORD_ENGINE_OPS_SHAPE_INPUT_H_

#include "absl/status/statusor.h"
#include "engine/graph/dim.h"
#include "engine/ops/infer_context.h"

namespace tensord {

// The shape that input i, an int64 vector, spells out; asks for its value where
// that is not known. kInvalidArgument for an element below 0 or a rank above
// the limit.
// Threading and ownership: pure.
absl::StatusOr<SymbolicShape> ShapeInput(const InferContext& context, int i);

}  // namespace tensord

#endif  // TENSORD_ENGINE_OPS_SHAPE_INPUT_H_
