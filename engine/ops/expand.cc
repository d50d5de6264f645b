// Expand: the input broadcast with the shape that input 1 says.

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/broadcast.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/op_def.h"
#include "engine/ops/shape_input.h"

namespace tensord {
namespace {

absl::Status Infer(InferContext& context) {
  TENSORD_ASSIGN_OR_RETURN(const SymbolicShape wanted, ShapeInput(context, 1));
  TENSORD_ASSIGN_OR_RETURN(SymbolicShape y,
                           BroadcastShapes(context, context.shape(0), wanted));
  context.SetOutput(0, context.dtype(0), std::move(y));
  return absl::OkStatus();
}

}  // namespace

OpDef ExpandDef() {
  return {
      .op = OpKind::kExpand, .min_inputs = 2, .max_inputs = 2, .infer = &Infer};
}

}  // namespace tensord
