// Softmax, LogSoftmax. From operator set 13 on they work along one axis;
// before, on the matrix that the input becomes when it is flattened at `axis`.

#include "engine/graph/status_macros.h"
#include "engine/ops/dtype_sets.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

absl::StatusOr<OpParams> Read(NodeReader& node) {
  SoftmaxParams params;
  params.flattens_at_axis = node.opset() < 13;
  TENSORD_ASSIGN_OR_RETURN(params.axis,
                           node.Int("axis", params.flattens_at_axis ? 1 : -1));
  return params;
}

absl::Status Infer(InferContext& context) {
  const SoftmaxParams& params = context.params<SoftmaxParams>();
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kFloatDTypes));
  // Flattening at the rank itself leaves rows of one element, and the old
  // default of 1 must do for a vector.
  const bool is_end = params.flattens_at_axis && params.axis == context.rank(0);
  if (!is_end) {
    TENSORD_RETURN_IF_ERROR(
        context.NormalizeAxis(params.axis, context.rank(0)).status());
  }
  context.SetOutput(0, context.dtype(0), context.shape(0));
  return absl::OkStatus();
}

OpDef Def(OpKind op) {
  return {.op = op,
          .min_inputs = 1,
          .max_inputs = 1,
          .read = &Read,
          .infer = &Infer};
}

}  // namespace

OpDef LogSoftmaxDef() { return Def(OpKind::kLogSoftmax); }
OpDef SoftmaxDef() { return Def(OpKind::kSoftmax); }

}  // namespace tensord
