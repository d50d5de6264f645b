// Equal, Greater, GreaterOrEqual, Less, LessOrEqual, And, Or, Xor: a truth
// value for each pair of elements of two inputs that broadcast.

#include "engine/graph/status_macros.h"
#include "engine/ops/broadcast.h"
#include "engine/ops/dtype_sets.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

constexpr DType kBoolOnly[] = {DType::kBool};

absl::Status Infer(InferContext& context, absl::Span<const DType> allowed) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, allowed));
  TENSORD_RETURN_IF_ERROR(context.CheckSameDType(0, 1));
  TENSORD_ASSIGN_OR_RETURN(
      SymbolicShape y,
      BroadcastShapes(context, context.shape(0), context.shape(1)));
  context.SetOutput(0, DType::kBool, std::move(y));
  return absl::OkStatus();
}

absl::Status InferEqual(InferContext& context) {
  if (context.dtype(0) == DType::kString) {
    return absl::UnimplementedError("Equal of strings");
  }
  return Infer(context, kNumericOrBoolDTypes);
}

absl::Status InferOrder(InferContext& context) {
  return Infer(context, kNumericDTypes);
}

absl::Status InferLogic(InferContext& context) {
  return Infer(context, kBoolOnly);
}

OpDef Comparison(OpKind op, absl::Status (*infer)(InferContext&)) {
  return {.op = op, .min_inputs = 2, .max_inputs = 2, .infer = infer};
}

}  // namespace

OpDef AndDef() { return Comparison(OpKind::kAnd, &InferLogic); }
OpDef EqualDef() { return Comparison(OpKind::kEqual, &InferEqual); }
OpDef GreaterDef() { return Comparison(OpKind::kGreater, &InferOrder); }
OpDef GreaterOrEqualDef() {
  return Comparison(OpKind::kGreaterOrEqual, &InferOrder);
}
OpDef LessDef() { return Comparison(OpKind::kLess, &InferOrder); }
OpDef LessOrEqualDef() { return Comparison(OpKind::kLessOrEqual, &InferOrder); }
OpDef OrDef() { return Comparison(OpKind::kOr, &InferLogic); }
OpDef XorDef() { return Comparison(OpKind::kXor, &InferLogic); }

}  // namespace tensord
