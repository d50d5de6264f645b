// Where: elements of input 1 where the condition (input 0) is true, of input 2
// else. All three broadcast.

#include "engine/graph/status_macros.h"
#include "engine/ops/broadcast.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

constexpr DType kBoolOnly[] = {DType::kBool};
constexpr DType kDTypes[] = {
    DType::kFloat32, DType::kFloat64,   DType::kFloat16,   DType::kBFloat16,
    DType::kInt8,    DType::kInt16,     DType::kInt32,     DType::kInt64,
    DType::kUInt8,   DType::kUInt16,    DType::kUInt32,    DType::kUInt64,
    DType::kBool,    DType::kComplex64, DType::kComplex128};

absl::Status Infer(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kBoolOnly));
  if (context.dtype(1) == DType::kString) {
    return absl::UnimplementedError("Where of strings");
  }
  TENSORD_RETURN_IF_ERROR(context.CheckDType(1, kDTypes));
  TENSORD_RETURN_IF_ERROR(context.CheckSameDType(1, 2));
  TENSORD_ASSIGN_OR_RETURN(
      const SymbolicShape choices,
      BroadcastShapes(context, context.shape(1), context.shape(2)));
  TENSORD_ASSIGN_OR_RETURN(SymbolicShape y,
                           BroadcastShapes(context, context.shape(0), choices));
  context.SetOutput(0, context.dtype(1), std::move(y));
  return absl::OkStatus();
}

}  // namespace

OpDef WhereDef() {
  return {
      .op = OpKind::kWhere, .min_inputs = 3, .max_inputs = 3, .infer = &Infer};
}

}  // namespace tensord
