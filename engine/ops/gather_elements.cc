// GatherElements: one element of x for each index, at the index's own place but
// for one axis. The output's shape is the indices'.

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/constant_values.h"
#include "engine/ops/indexing.h"
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
  const int rank = context.rank(0);
  TENSORD_RETURN_IF_ERROR(context.CheckDType(1, kIndexDTypes));
  TENSORD_RETURN_IF_ERROR(context.CheckRank(1, rank, rank));
  TENSORD_ASSIGN_OR_RETURN(
      const int axis,
      context.NormalizeAxis(context.params<AxisParams>().axis, rank));
  TENSORD_RETURN_IF_ERROR(CheckIndicesFit(context, axis));
  context.SetOutput(0, context.dtype(0), context.shape(1));
  return absl::OkStatus();
}

}  // namespace

OpDef GatherElementsDef() {
  return {.op = OpKind::kGatherElements,
          .min_inputs = 2,
          .max_inputs = 2,
          .read = &Read,
          .infer = &Infer};
}

}  // namespace tensord
