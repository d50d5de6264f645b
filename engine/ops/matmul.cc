// MatMul, as numpy.matmul: matrices in the last two dimensions, the others
// broadcast; a 1-D input is a row on the left and a column on the right, and
// its dimension is not in the output.

#include <utility>

#include "engine/graph/status_macros.h"
#include "engine/ops/dtype_sets.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/matmul_rules.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

absl::Status Infer(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kMatMulDTypes));
  TENSORD_RETURN_IF_ERROR(context.CheckSameDType(0, 1));
  TENSORD_ASSIGN_OR_RETURN(SymbolicShape y, InferMatMulShape(context, 0, 1));
  context.SetOutput(0, context.dtype(0), std::move(y));
  return absl::OkStatus();
}

}  // namespace

OpDef MatMulDef() {
  return {
      .op = OpKind::kMatMul, .min_inputs = 2, .max_inputs = 2, .infer = &Infer};
}

}  // namespace tensord
