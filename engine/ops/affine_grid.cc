// AffineGrid: for each element of an image, where a matrix takes its place.
// Inputs: theta [N, r, r + 1] for r = 2 or 3, size (N, C, O...) of the image.
// Output [N, O..., r].

#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/dtype_sets.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"
#include "engine/ops/shape_input.h"

namespace tensord {
namespace {

absl::StatusOr<OpParams> Read(NodeReader& node) {
  AffineGridParams params;
  TENSORD_ASSIGN_OR_RETURN(params.align_corners,
                           node.Bool("align_corners", false));
  return params;
}

absl::Status Infer(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kFloatDTypes));
  TENSORD_RETURN_IF_ERROR(context.CheckRank(0, 3, 3));
  TENSORD_ASSIGN_OR_RETURN(const SymbolicShape size, ShapeInput(context, 1));
  const int spatial_rank = static_cast<int>(size.size()) - 2;
  if (spatial_rank != 2 && spatial_rank != 3) {
    return absl::InvalidArgumentError(
        absl::StrCat("the size has ", size.size(), " extents, not 4 or 5"));
  }
  const SymbolicShape& theta = context.shape(0);
  TENSORD_RETURN_IF_ERROR(context.CheckSameDim(
      "batches of theta and of the size:", theta[0], size[0]));
  TENSORD_RETURN_IF_ERROR(
      context.CheckSameDim("spatial dimensions of the size vs rows of theta:",
                           Dim::Known(spatial_rank), theta[1]));
  TENSORD_RETURN_IF_ERROR(context.CheckSameDim(
      "columns of theta should be", Dim::Known(spatial_rank + 1), theta[2]));
  SymbolicShape grid = {size[0]};
  grid.insert(grid.end(), size.begin() + 2, size.end());
  grid.push_back(Dim::Known(spatial_rank));
  context.SetOutput(0, context.dtype(0), std::move(grid));
  return absl::OkStatus();
}

}  // namespace

OpDef AffineGridDef() {
  return {.op = OpKind::kAffineGrid,
          .min_inputs = 2,
          .max_inputs = 2,
          .read = &Read,
          .infer = &Infer};
}

}  // namespace tensord
