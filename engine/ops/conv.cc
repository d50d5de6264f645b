// Conv: y[n, m] = bias[m] + sum over c of x[n, c] cross-correlated with w[m,
// c], channels in `group` groups. Inputs x [N, C, D...], w [M, C / group,
// K...], optional bias [M]; output [N, M, O...].

#include <utility>

#include "engine/graph/status_macros.h"
#include "engine/ops/conv_rules.h"
#include "engine/ops/dtype_sets.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

absl::StatusOr<OpParams> Read(NodeReader& node) {
  TENSORD_ASSIGN_OR_RETURN(ConvParams params, ReadConvParams(node));
  return params;
}

absl::Status Infer(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kFloatDTypes));
  TENSORD_RETURN_IF_ERROR(context.CheckSameDType(0, 1));
  if (context.has_input(2)) {
    TENSORD_RETURN_IF_ERROR(context.CheckSameDType(0, 2));
  }
  TENSORD_ASSIGN_OR_RETURN(
      SymbolicShape y,
      InferConvShape(context, context.params<ConvParams>(), {}));
  context.SetOutput(0, context.dtype(0), std::move(y));
  return absl::OkStatus();
}

}  // namespace

OpDef ConvDef() {
  return {.op = OpKind::kConv,
          .min_inputs = 2,
          .max_inputs = 3,
          .read = &Read,
          .infer = &Infer};
}

}  // namespace tensord
