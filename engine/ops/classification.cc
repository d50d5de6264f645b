// IsInf, IsNaN: a bool for each element. IsInf looks for infinities of the
// signs that its attributes ask for.

#include "engine/graph/status_macros.h"
#include "engine/ops/element_map.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

// With the 8-bit ones of operator set 20.
constexpr DType kFloatDTypesOf20[] = {
    DType::kFloat32,    DType::kFloat64,       DType::kFloat16,
    DType::kBFloat16,   DType::kFloat8E4M3FN,  DType::kFloat8E4M3FNUZ,
    DType::kFloat8E5M2, DType::kFloat8E5M2FNUZ};

absl::StatusOr<OpParams> ReadIsInf(NodeReader& node) {
  IsInfParams params;
  TENSORD_ASSIGN_OR_RETURN(params.detects_negative,
                           node.Bool("detect_negative", true));
  TENSORD_ASSIGN_OR_RETURN(params.detects_positive,
                           node.Bool("detect_positive", true));
  return params;
}

absl::Status Infer(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kFloatDTypesOf20));
  context.SetOutput(0, DType::kBool, context.shape(0));
  return absl::OkStatus();
}

}  // namespace

OpDef IsInfDef() { return ElementMapDef(OpKind::kIsInf, &Infer, &ReadIsInf); }
OpDef IsNaNDef() { return ElementMapDef(OpKind::kIsNaN, &Infer); }

}  // namespace tensord
