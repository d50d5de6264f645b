// Gather: slices of x along an axis, picked by indices. The output's shape is
// x's with the axis replaced by the indices' shape.

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/constant_values.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

absl::StatusOr<OpParams> Read(NodeReader& node) {
  AxisParams params;
  TENSORD_ASSIGN_OR_RETURN(params.axis, node.Int("axis", 0));
  return params;
}

absl::Status Infer(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckRank(0, 1, kMaxRank));
  TENSORD_RETURN_IF_ERROR(context.CheckDType(1, kIndexDTypes));
  TENSORD_ASSIGN_OR_RETURN(
      const int axis, context.NormalizeAxis(context.params<AxisParams>().axis,
                                            context.rank(0)));
  const SymbolicShape& x = context.shape(0);
  const SymbolicShape& indices = context.shape(1);
  SymbolicShape y(x.begin(), x.begin() + axis);
  y.insert(y.end(), indices.begin(), indices.end());
  y.insert(y.end(), x.begin() + axis + 1, x.end());
  if (y.size() > kMaxRank) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the output's rank ", y.size(), " is above the limit of ", kMaxRank));
  }
  context.SetOutput(0, context.dtype(0), std::move(y));
  return absl::OkStatus();
}

}  // namespace

OpDef GatherDef() {
  return {.op = OpKind::kGather,
          .min_inputs = 2,
          .max_inputs = 2,
          .read = &Read,
          .infer = &Infer};
}

}  // namespace tensord
