// GatherND: the slices of x that tuples of indices pick.

#include <optional>
#include <utility>

#include "engine/graph/status_macros.h"
#include "engine/ops/constant_values.h"
#include "engine/ops/indexing.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

absl::StatusOr<OpParams> Read(NodeReader& node) {
  GatherNdParams params;
  if (node.opset() >= 12) {
    TENSORD_ASSIGN_OR_RETURN(params.batch_dims, node.Int("batch_dims", 0));
  }
  return params;
}

absl::Status Infer(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(1, kInt64Only));
  TENSORD_ASSIGN_OR_RETURN(
      std::optional<SymbolicShape> y,
      PickedShape(context, context.params<GatherNdParams>().batch_dims));
  // The length of an index decides the rank.
  if (!y.has_value()) return context.NeedsValue(1);
  context.SetOutput(0, context.dtype(0), *std::move(y));
  return absl::OkStatus();
}

}  // namespace

OpDef GatherNDDef() {
  return {.op = OpKind::kGatherND,
          .min_inputs = 2,
          .max_inputs = 2,
          .read = &Read,
          .infer = &Infer};
}

}  // namespace tensord
