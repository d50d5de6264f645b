// BitwiseAnd, BitwiseOr, BitwiseXor, BitShift: integers as bits, two inputs
// that broadcast.

#include <string>

#include "absl/strings/str_cat.h"
#include "engine/graph/escape.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/broadcast.h"
#include "engine/ops/dtype_sets.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

constexpr DType kUnsignedDTypes[] = {DType::kUInt8, DType::kUInt16,
                                     DType::kUInt32, DType::kUInt64};

absl::Status Infer(InferContext& context, absl::Span<const DType> allowed) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, allowed));
  TENSORD_RETURN_IF_ERROR(context.CheckSameDType(0, 1));
  TENSORD_ASSIGN_OR_RETURN(
      SymbolicShape y,
      BroadcastShapes(context, context.shape(0), context.shape(1)));
  context.SetOutput(0, context.dtype(0), std::move(y));
  return absl::OkStatus();
}

absl::Status InferBitwise(InferContext& context) {
  return Infer(context, kIntegerDTypes);
}

absl::StatusOr<OpParams> ReadShift(NodeReader& node) {
  TENSORD_ASSIGN_OR_RETURN(const std::string direction,
                           node.String("direction", ""));
  if (direction != "LEFT" && direction != "RIGHT") {
    return absl::InvalidArgumentError(absl::StrCat("attribute 'direction' is ",
                                                   Quoted(direction),
                                                   ", not 'LEFT' or 'RIGHT'"));
  }
  return BitShiftParams{.is_left = direction == "LEFT"};
}

absl::Status InferShift(InferContext& context) {
  return Infer(context, kUnsignedDTypes);
}

OpDef Bitwise(OpKind op) {
  return {.op = op, .min_inputs = 2, .max_inputs = 2, .infer = &InferBitwise};
}

}  // namespace

OpDef BitShiftDef() {
  return {.op = OpKind::kBitShift,
          .min_inputs = 2,
          .max_inputs = 2,
          .read = &ReadShift,
          .infer = &InferShift};
}
OpDef BitwiseAndDef() { return Bitwise(OpKind::kBitwiseAnd); }
OpDef BitwiseOrDef() { return Bitwise(OpKind::kBitwiseOr); }
OpDef BitwiseXorDef() { return Bitwise(OpKind::kBitwiseXor); }

}  // namespace tensord
