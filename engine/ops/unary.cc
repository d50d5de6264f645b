// Operators that map each element by itself: the output has the input's dtype
// and shape, and there are no attributes.

#include "engine/graph/status_macros.h"
#include "engine/ops/dtype_sets.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/op_list.h"

namespace tensord {
namespace {

absl::Status SameAsInput(InferContext& context) {
  context.SetOutput(0, context.dtype(0), context.shape(0));
  return absl::OkStatus();
}

absl::Status InferFloat(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kFloatDTypes));
  return SameAsInput(context);
}

absl::Status InferSigned(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kSignedDTypes));
  return SameAsInput(context);
}

absl::Status InferNumeric(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kNumericDTypes));
  return SameAsInput(context);
}

OpDef Unary(OpKind op, absl::Status (*infer)(InferContext&)) {
  return {.op = op, .min_inputs = 1, .max_inputs = 1, .infer = infer};
}

}  // namespace

OpDef AbsDef() { return Unary(OpKind::kAbs, &InferNumeric); }
OpDef ExpDef() { return Unary(OpKind::kExp, &InferFloat); }
OpDef NegDef() { return Unary(OpKind::kNeg, &InferSigned); }
OpDef ReluDef() { return Unary(OpKind::kRelu, &InferSigned); }
OpDef SigmoidDef() { return Unary(OpKind::kSigmoid, &InferFloat); }
OpDef SqrtDef() { return Unary(OpKind::kSqrt, &InferFloat); }
OpDef TanhDef() { return Unary(OpKind::kTanh, &InferFloat); }

}  // namespace tensord
