// Cast: each element converted to another dtype; CastLike: to that of input 1,
// whose elements do not matter. BitCast: the same bits as another dtype.

#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "engine/graph/escape.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

constexpr DType kCastDTypes[] = {
    DType::kFloat32,    DType::kFloat64,        DType::kFloat16,
    DType::kBFloat16,   DType::kInt8,           DType::kInt16,
    DType::kInt32,      DType::kInt64,          DType::kUInt8,
    DType::kUInt16,     DType::kUInt32,         DType::kUInt64,
    DType::kBool,       DType::kFloat8E4M3FN,   DType::kFloat8E4M3FNUZ,
    DType::kFloat8E5M2, DType::kFloat8E5M2FNUZ, DType::kFloat8E8M0,
    DType::kFloat4E2M1, DType::kInt4,           DType::kUInt4,
    DType::kInt2,       DType::kUInt2};

absl::StatusOr<DType> ReadTo(NodeReader& node) {
  if (!node.Has("to")) {
    return absl::InvalidArgumentError("attribute 'to' is missing");
  }
  TENSORD_ASSIGN_OR_RETURN(const int64_t to, node.Int("to", 0));
  const std::optional<DType> dtype = DTypeFromNumber(to);
  if (!dtype.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("attribute 'to' is ", to, ", which is no dtype"));
  }
  if (*dtype == DType::kString) {
    return absl::UnimplementedError("attribute 'to' is 8 (string)");
  }
  return *dtype;
}

absl::StatusOr<PowerRounding> ReadRounding(NodeReader& node) {
  TENSORD_ASSIGN_OR_RETURN(const std::string mode,
                           node.String("round_mode", "up"));
  if (mode == "up") return PowerRounding::kUp;
  if (mode == "down") return PowerRounding::kDown;
  if (mode == "nearest") return PowerRounding::kNearest;
  return absl::InvalidArgumentError(
      absl::StrCat("attribute 'round_mode' is ", Quoted(mode),
                   ", not 'up', 'down' or 'nearest'"));
}

absl::StatusOr<OpParams> ReadLike(NodeReader& node) {
  CastParams params;
  if (node.opset() >= 19) {
    TENSORD_ASSIGN_OR_RETURN(params.saturates, node.Bool("saturate", true));
  }
  if (node.opset() >= 24) {
    TENSORD_ASSIGN_OR_RETURN(params.rounding, ReadRounding(node));
  }
  return params;
}

absl::StatusOr<OpParams> ReadCast(NodeReader& node) {
  TENSORD_ASSIGN_OR_RETURN(const DType to, ReadTo(node));
  TENSORD_ASSIGN_OR_RETURN(OpParams params, ReadLike(node));
  std::get<CastParams>(params).to = to;
  return params;
}

absl::StatusOr<OpParams> ReadBitCast(NodeReader& node) {
  TENSORD_ASSIGN_OR_RETURN(const DType to, ReadTo(node));
  return CastParams{.to = to};
}

absl::Status InferCastTo(InferContext& context, DType to) {
  if (context.dtype(0) == DType::kString || to == DType::kString) {
    return absl::UnimplementedError("a cast from or to strings");
  }
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kCastDTypes));
  if (!absl::c_linear_search(kCastDTypes, to)) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no cast to ", DTypeName(to)));
  }
  context.SetOutput(0, to, context.shape(0));
  return absl::OkStatus();
}

absl::Status InferCast(InferContext& context) {
  return InferCastTo(context, context.params<CastParams>().to);
}

absl::Status InferCastLike(InferContext& context) {
  return InferCastTo(context, context.dtype(1));
}

absl::Status InferBitCast(InferContext& context) {
  const DType from = context.dtype(0);
  const DType to = context.params<CastParams>().to;
  if (from == DType::kString) {
    return absl::InvalidArgumentError("input 0 has dtype string");
  }
  if (BitWidth(from) != BitWidth(to)) {
    return absl::InvalidArgumentError(
        absl::StrCat("bits of ", DTypeName(from), " and of ", DTypeName(to),
                     ": ", BitWidth(from), " vs ", BitWidth(to)));
  }
  context.SetOutput(0, to, context.shape(0));
  return absl::OkStatus();
}

}  // namespace

OpDef BitCastDef() {
  return {.op = OpKind::kBitCast,
          .min_inputs = 1,
          .max_inputs = 1,
          .read = &ReadBitCast,
          .infer = &InferBitCast};
}

OpDef CastDef() {
  return {.op = OpKind::kCast,
          .min_inputs = 1,
          .max_inputs = 1,
          .read = &ReadCast,
          .infer = &InferCast};
}

OpDef CastLikeDef() {
  return {.op = OpKind::kCastLike,
          .min_inputs = 2,
          .max_inputs = 2,
          .read = &ReadLike,
          .infer = &InferCastLike};
}

}  // namespace tensord
