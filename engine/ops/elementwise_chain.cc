// ElementwiseChain: an expression over inputs that broadcast together. A pass
// makes it; no client can send it.

#include "engine/graph/status_macros.h"
#include "engine/ops/broadcast.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/op_list.h"

namespace tensord {
namespace {

absl::Status Infer(InferContext& context) {
  SymbolicShape shape = context.shape(0);
  for (int i = 1; i < context.input_count(); ++i) {
    TENSORD_RETURN_IF_ERROR(context.CheckSameDType(0, i));
    TENSORD_ASSIGN_OR_RETURN(shape,
                             BroadcastShapes(context, shape, context.shape(i)));
  }
  context.SetOutput(0, context.dtype(0), std::move(shape));
  return absl::OkStatus();
}

}  // namespace

OpDef ElementwiseChainDef() {
  return {.op = OpKind::kElementwiseChain,
          .min_inputs = 1,
          .max_inputs = OpDef::kVariadic,
          .infer = &Infer};
}

}  // namespace tensord
