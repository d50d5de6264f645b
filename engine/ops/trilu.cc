// Trilu: the triangle of each matrix on one side of its k-th diagonal, zeros on
// the other.

#include "engine/graph/status_macros.h"
#include "engine/ops/constant_values.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

absl::StatusOr<OpParams> Read(NodeReader& node) {
  TriluParams params;
  TENSORD_ASSIGN_OR_RETURN(params.is_upper, node.Bool("upper", true));
  return params;
}

absl::Status Infer(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckRank(0, 2, kMaxRank));
  if (context.has_input(1)) {
    TENSORD_RETURN_IF_ERROR(context.CheckDType(1, kInt64Only));
    TENSORD_RETURN_IF_ERROR(context.CheckOneElement(1));
  }
  context.SetOutput(0, context.dtype(0), context.shape(0));
  return absl::OkStatus();
}

}  // namespace

OpDef TriluDef() {
  return {.op = OpKind::kTrilu,
          .min_inputs = 1,
          .max_inputs = 2,
          .read = &Read,
          .infer = &Infer};
}

}  // namespace tensord
