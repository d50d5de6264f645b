// Operators that map each element by itself and have no parameters: the output
// has the input's dtype and shape.

#include "engine/graph/status_macros.h"
#include "engine/ops/element_map.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

constexpr DType kBoolOnly[] = {DType::kBool};
constexpr DType kIntegerDTypes[] = {
    DType::kInt8,  DType::kInt16,  DType::kInt32,  DType::kInt64,
    DType::kUInt8, DType::kUInt16, DType::kUInt32, DType::kUInt64};

absl::Status InferNot(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kBoolOnly));
  context.SetOutput(0, DType::kBool, context.shape(0));
  return absl::OkStatus();
}

absl::Status InferBitwiseNot(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kIntegerDTypes));
  context.SetOutput(0, context.dtype(0), context.shape(0));
  return absl::OkStatus();
}

// Of floating types.
OpDef FloatMapDef(OpKind op) { return ElementMapDef(op, &InferFloatMap); }

// The same, for operators that are older than operator set 6.
OpDef OldFloatMapDef(OpKind op) {
  return ElementMapDef(op, &InferFloatMap, &ReadConsumedInputs);
}

}  // namespace

OpDef AbsDef() {
  return ElementMapDef(OpKind::kAbs, &InferNumericMap, &ReadConsumedInputs);
}
OpDef AcosDef() { return FloatMapDef(OpKind::kAcos); }
OpDef AcoshDef() { return FloatMapDef(OpKind::kAcosh); }
OpDef AsinDef() { return FloatMapDef(OpKind::kAsin); }
OpDef AsinhDef() { return FloatMapDef(OpKind::kAsinh); }
OpDef AtanDef() { return FloatMapDef(OpKind::kAtan); }
OpDef AtanhDef() { return FloatMapDef(OpKind::kAtanh); }
OpDef BitwiseNotDef() {
  return ElementMapDef(OpKind::kBitwiseNot, &InferBitwiseNot);
}
OpDef CeilDef() { return OldFloatMapDef(OpKind::kCeil); }
OpDef CosDef() { return FloatMapDef(OpKind::kCos); }
OpDef CoshDef() { return FloatMapDef(OpKind::kCosh); }
// Operator sets 9 to 12 have it for integers as well, without saying how the
// result is rounded; no kernel takes them.
OpDef ErfDef() { return ElementMapDef(OpKind::kErf, &InferNumericMap); }
OpDef ExpDef() { return OldFloatMapDef(OpKind::kExp); }
OpDef FloorDef() { return OldFloatMapDef(OpKind::kFloor); }
OpDef HardSwishDef() { return FloatMapDef(OpKind::kHardSwish); }
OpDef LogDef() { return OldFloatMapDef(OpKind::kLog); }
OpDef MishDef() { return FloatMapDef(OpKind::kMish); }
OpDef NegDef() {
  return ElementMapDef(OpKind::kNeg, &InferSignedMap, &ReadConsumedInputs);
}
OpDef NotDef() { return ElementMapDef(OpKind::kNot, &InferNot); }
OpDef ReciprocalDef() { return OldFloatMapDef(OpKind::kReciprocal); }
OpDef ReluDef() {
  return ElementMapDef(OpKind::kRelu, &InferSignedMap, &ReadConsumedInputs);
}
OpDef RoundDef() { return FloatMapDef(OpKind::kRound); }
OpDef SigmoidDef() { return OldFloatMapDef(OpKind::kSigmoid); }
OpDef SignDef() { return ElementMapDef(OpKind::kSign, &InferNumericMap); }
OpDef SinDef() { return FloatMapDef(OpKind::kSin); }
OpDef SinhDef() { return FloatMapDef(OpKind::kSinh); }
OpDef SoftplusDef() { return FloatMapDef(OpKind::kSoftplus); }
OpDef SoftsignDef() { return FloatMapDef(OpKind::kSoftsign); }
OpDef SqrtDef() { return OldFloatMapDef(OpKind::kSqrt); }
OpDef TanDef() { return FloatMapDef(OpKind::kTan); }
OpDef TanhDef() { return OldFloatMapDef(OpKind::kTanh); }

}  // namespace tensord
