// Add, Sub, Mul, Div, Pow: element by element over two inputs that broadcast.

#include "engine/graph/status_macros.h"
#include "engine/ops/broadcast.h"
#include "engine/ops/dtype_sets.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

// Pow's bases: no narrow and no unsigned integers.
constexpr DType kBaseDTypes[] = {DType::kFloat32, DType::kFloat64,
                                 DType::kFloat16, DType::kBFloat16,
                                 DType::kInt32,   DType::kInt64};

absl::Status InferArithmetic(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kNumericDTypes));
  TENSORD_RETURN_IF_ERROR(context.CheckSameDType(0, 1));
  TENSORD_ASSIGN_OR_RETURN(
      SymbolicShape y,
      BroadcastShapes(context, context.shape(0), context.shape(1)));
  context.SetOutput(0, context.dtype(0), std::move(y));
  return absl::OkStatus();
}

// The exponent may have a dtype of its own; the result has the base's.
absl::Status InferPow(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kBaseDTypes));
  TENSORD_RETURN_IF_ERROR(context.CheckDType(1, kNumericDTypes));
  TENSORD_ASSIGN_OR_RETURN(
      SymbolicShape y,
      BroadcastShapes(context, context.shape(0), context.shape(1)));
  context.SetOutput(0, context.dtype(0), std::move(y));
  return absl::OkStatus();
}

OpDef Binary(OpKind op, absl::Status (*infer)(InferContext&)) {
  return {.op = op, .min_inputs = 2, .max_inputs = 2, .infer = infer};
}

}  // namespace

OpDef AddDef() { return Binary(OpKind::kAdd, &InferArithmetic); }
OpDef DivDef() { return Binary(OpKind::kDiv, &InferArithmetic); }
OpDef MulDef() { return Binary(OpKind::kMul, &InferArithmetic); }
OpDef PowDef() { return Binary(OpKind::kPow, &InferPow); }
OpDef SubDef() { return Binary(OpKind::kSub, &InferArithmetic); }

}  // namespace tensord
