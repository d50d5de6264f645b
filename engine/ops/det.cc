// Det: the determinants of the matrices in the last two dimensions.

#include "engine/graph/status_macros.h"
#include "engine/ops/dtype_sets.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

absl::Status Infer(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kFloatDTypes));
  TENSORD_RETURN_IF_ERROR(context.CheckRank(0, 2, kMaxRank));
  const SymbolicShape& x = context.shape(0);
  TENSORD_RETURN_IF_ERROR(context.CheckSameDim(
      "rows and columns of a matrix:", x[x.size() - 2], x.back()));
  context.SetOutput(0, context.dtype(0), SymbolicShape(x.begin(), x.end() - 2));
  return absl::OkStatus();
}

}  // namespace

OpDef DetDef() {
  return {
      .op = OpKind::kDet, .min_inputs = 1, .max_inputs = 1, .infer = &Infer};
}

}  // namespace tensord
