// CumSum, CumProd: sums and products of the elements up to each one along the
// axis that input 1 says.

#include "engine/graph/status_macros.h"
#include "engine/ops/constant_values.h"
#include "engine/ops/dtype_sets.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

absl::StatusOr<OpParams> Read(NodeReader& node) {
  CumSumParams params;
  TENSORD_ASSIGN_OR_RETURN(params.is_exclusive, node.Bool("exclusive", false));
  TENSORD_ASSIGN_OR_RETURN(params.is_reverse, node.Bool("reverse", false));
  return params;
}

absl::Status Infer(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kMatMulDTypes));
  TENSORD_RETURN_IF_ERROR(context.CheckRank(0, 1, kMaxRank));
  TENSORD_RETURN_IF_ERROR(context.CheckDType(1, kIndexDTypes));
  TENSORD_RETURN_IF_ERROR(context.CheckOneElement(1));
  if (context.constant(1) != nullptr) {
    TENSORD_RETURN_IF_ERROR(
        context.NormalizeAxis(ConstantIntegers(context, 1)[0], context.rank(0))
            .status());
  }
  context.SetOutput(0, context.dtype(0), context.shape(0));
  return absl::OkStatus();
}

OpDef Def(OpKind op) {
  return {.op = op,
          .min_inputs = 2,
          .max_inputs = 2,
          .read = &Read,
          .infer = &Infer};
}

}  // namespace

OpDef CumProdDef() { return Def(OpKind::kCumProd); }
OpDef CumSumDef() { return Def(OpKind::kCumSum); }

}  // namespace tensord
