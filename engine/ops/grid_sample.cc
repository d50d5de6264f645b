// GridSample: x [N, C, D...] read at the places of grid [N, O..., r], whose
// last dimension holds one coordinate for each of x's r spatial dimensions, the
// innermost first; -1 and 1 are x's edges. Output [N, C, O...].

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/graph/escape.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/dtype_sets.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

// One output is made of up to 4 elements along each dimension: 256.
constexpr int kMaxSpatialRank = 4;

absl::Status BadWord(absl::string_view attribute, absl::string_view word,
                     absl::string_view allowed) {
  return absl::InvalidArgumentError(absl::StrCat(
      "attribute '", attribute, "' is ", Quoted(word), ", not ", allowed));
}

// Up to version 16 the words were those of two dimensions.
absl::StatusOr<GridSampleMode> ReadMode(NodeReader& node) {
  const bool is_general = node.opset() >= 20;
  const absl::string_view linear = is_general ? "linear" : "bilinear";
  const absl::string_view cubic = is_general ? "cubic" : "bicubic";
  TENSORD_ASSIGN_OR_RETURN(const std::string mode, node.String("mode", linear));
  if (mode == linear) return GridSampleMode::kLinear;
  if (mode == cubic) return GridSampleMode::kCubic;
  if (mode == "nearest") return GridSampleMode::kNearest;
  return BadWord("mode", mode, absl::StrCat(linear, ", ", cubic, ", nearest"));
}

absl::StatusOr<GridSamplePadding> ReadPadding(NodeReader& node) {
  TENSORD_ASSIGN_OR_RETURN(const std::string mode,
                           node.String("padding_mode", "zeros"));
  if (mode == "zeros") return GridSamplePadding::kZeros;
  if (mode == "border") return GridSamplePadding::kBorder;
  if (mode == "reflection") return GridSamplePadding::kReflection;
  return BadWord("padding_mode", mode, "zeros, border, reflection");
}

absl::StatusOr<OpParams> Read(NodeReader& node) {
  GridSampleParams params;
  TENSORD_ASSIGN_OR_RETURN(params.mode, ReadMode(node));
  TENSORD_ASSIGN_OR_RETURN(params.padding, ReadPadding(node));
  TENSORD_ASSIGN_OR_RETURN(params.aligns_corners,
                           node.Bool("align_corners", false));
  return params;
}

absl::Status Infer(InferContext& context) {
  for (int i : {0, 1}) {
    TENSORD_RETURN_IF_ERROR(context.CheckDType(i, kFloatDTypes));
  }
  TENSORD_RETURN_IF_ERROR(context.CheckRank(0, 3, kMaxRank));
  const int rank = context.rank(0);
  TENSORD_RETURN_IF_ERROR(context.CheckRank(1, rank, rank));
  const int spatial_rank = rank - 2;
  if (spatial_rank > kMaxSpatialRank) {
    return absl::UnimplementedError(
        absl::StrCat("x has ", spatial_rank, " spatial dimensions, more than ",
                     kMaxSpatialRank));
  }
  const SymbolicShape& x = context.shape(0);
  const SymbolicShape& grid = context.shape(1);
  TENSORD_RETURN_IF_ERROR(
      context.CheckSameDim("batches of x and of the grid:", x[0], grid[0]));
  TENSORD_RETURN_IF_ERROR(
      context.CheckSameDim("spatial dimensions vs coordinates in the grid:",
                           Dim::Known(spatial_rank), grid[rank - 1]));
  SymbolicShape y = {x[0], x[1]};
  y.insert(y.end(), grid.begin() + 1, grid.end() - 1);
  context.SetOutput(0, context.dtype(0), std::move(y));
  return absl::OkStatus();
}

}  // namespace

OpDef GridSampleDef() {
  return {.op = OpKind::kGridSample,
          .min_inputs = 2,
          .max_inputs = 2,
          .read = &Read,
          .infer = &Infer};
}

}  // namespace tensord
