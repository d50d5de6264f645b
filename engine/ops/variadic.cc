// Max, Mean, Min, Sum: element by element over one or more inputs, which
// broadcast. Operator sets below 8 want inputs of one shape; others are let
// pass, since no other meaning was ever theirs.

#include "engine/graph/status_macros.h"
#include "engine/ops/broadcast.h"
#include "engine/ops/dtype_sets.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

absl::Status Infer(InferContext& context, absl::Span<const DType> allowed) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, allowed));
  SymbolicShape y = context.shape(0);
  for (int i = 1; i < context.input_count(); ++i) {
    TENSORD_RETURN_IF_ERROR(context.CheckSameDType(0, i));
    TENSORD_ASSIGN_OR_RETURN(y, BroadcastShapes(context, y, context.shape(i)));
  }
  context.SetOutput(0, context.dtype(0), std::move(y));
  return absl::OkStatus();
}

absl::Status InferOrder(InferContext& context) {
  return Infer(context, kNumericDTypes);
}

absl::Status InferSum(InferContext& context) {
  return Infer(context, kFloatDTypes);
}

OpDef Variadic(OpKind op, absl::Status (*infer)(InferContext&)) {
  return {.op = op,
          .min_inputs = 1,
          .max_inputs = OpDef::kVariadic,
          .infer = infer};
}

}  // namespace

OpDef MaxDef() { return Variadic(OpKind::kMax, &InferOrder); }
OpDef MeanDef() { return Variadic(OpKind::kMean, &InferSum); }
OpDef MinDef() { return Variadic(OpKind::kMin, &InferOrder); }
OpDef SumDef() { return Variadic(OpKind::kSum, &InferSum); }

}  // namespace tensord
