// DepthToSpace and SpaceToDepth: elements moved between the channels of an
// image and square blocks of its pixels.

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

absl::StatusOr<OpParams> Read(NodeReader& node) {
  BlockParams params;
  TENSORD_ASSIGN_OR_RETURN(params.block_size, node.Int("blocksize", 0));
  // Above the bound its square is no extent any more.
  if (params.block_size < 1 || params.block_size > (1 << 24)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "attribute 'blocksize' is ", params.block_size, ", not in [1, 2^24]"));
  }
  return params;
}

absl::StatusOr<OpParams> ReadDepthToSpace(NodeReader& node) {
  TENSORD_ASSIGN_OR_RETURN(OpParams op_params, Read(node));
  if (node.opset() < 11) return op_params;
  TENSORD_ASSIGN_OR_RETURN(const std::string mode, node.String("mode", "DCR"));
  if (mode != "DCR" && mode != "CRD") {
    return absl::InvalidArgumentError("attribute 'mode' is not DCR or CRD");
  }
  std::get<BlockParams>(op_params).depth_is_last = mode == "DCR";
  return op_params;
}

absl::Status CheckMultiple(absl::string_view what, Dim extent, int64_t of) {
  if (!extent.is_known() || extent.extent() % of == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(what, " ", extent.extent(), " is no multiple of ", of));
}

absl::Status InferDepthToSpace(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckRank(0, 4, 4));
  const int64_t size = context.params<BlockParams>().block_size;
  const SymbolicShape& x = context.shape(0);
  SymbolTable& symbols = context.symbols();
  TENSORD_RETURN_IF_ERROR(
      CheckMultiple("number of channels", x[1], size * size));
  context.SetOutput(0, context.dtype(0),
                    {x[0], symbols.FloorDivide(x[1], Dim::Known(size * size)),
                     symbols.Multiply(x[2], Dim::Known(size)),
                     symbols.Multiply(x[3], Dim::Known(size))});
  return absl::OkStatus();
}

absl::Status InferSpaceToDepth(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckRank(0, 4, 4));
  const int64_t size = context.params<BlockParams>().block_size;
  const SymbolicShape& x = context.shape(0);
  SymbolTable& symbols = context.symbols();
  TENSORD_RETURN_IF_ERROR(CheckMultiple("height", x[2], size));
  TENSORD_RETURN_IF_ERROR(CheckMultiple("width", x[3], size));
  context.SetOutput(0, context.dtype(0),
                    {x[0], symbols.Multiply(x[1], Dim::Known(size * size)),
                     symbols.FloorDivide(x[2], Dim::Known(size)),
                     symbols.FloorDivide(x[3], Dim::Known(size))});
  return absl::OkStatus();
}

}  // namespace

OpDef DepthToSpaceDef() {
  return {.op = OpKind::kDepthToSpace,
          .min_inputs = 1,
          .max_inputs = 1,
          .read = &ReadDepthToSpace,
          .infer = &InferDepthToSpace};
}

OpDef SpaceToDepthDef() {
  return {.op = OpKind::kSpaceToDepth,
          .min_inputs = 1,
          .max_inputs = 1,
          .read = &Read,
          .infer = &InferSpaceToDepth};
}

}  // namespace tensord
