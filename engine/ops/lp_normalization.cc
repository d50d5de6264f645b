// LpNormalization: the input over its norm along an axis.

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/dtype_sets.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

absl::StatusOr<OpParams> Read(NodeReader& node) {
  LpNormalizationParams params;
  TENSORD_ASSIGN_OR_RETURN(params.axis, node.Int("axis", -1));
  TENSORD_ASSIGN_OR_RETURN(params.p, node.Int("p", 2));
  if (params.p != 1 && params.p != 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("attribute 'p' is ", params.p, ", not 1 or 2"));
  }
  return params;
}

absl::Status Infer(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kFloatDTypes));
  TENSORD_RETURN_IF_ERROR(
      context
          .NormalizeAxis(context.params<LpNormalizationParams>().axis,
                         context.rank(0))
          .status());
  context.SetOutput(0, context.dtype(0), context.shape(0));
  return absl::OkStatus();
}

}  // namespace

OpDef LpNormalizationDef() {
  return {.op = OpKind::kLpNormalization,
          .min_inputs = 1,
          .max_inputs = 1,
          .read = &Read,
          .infer = &Infer};
}

}  // namespace tensord
