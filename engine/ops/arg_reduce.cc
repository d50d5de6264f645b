// ArgMax, ArgMin: where along an axis the extreme is.

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/dtype_sets.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

absl::StatusOr<OpParams> Read(NodeReader& node) {
  ArgReduceParams params;
  TENSORD_ASSIGN_OR_RETURN(params.axis, node.Int("axis", 0));
  TENSORD_ASSIGN_OR_RETURN(params.keep_dims, node.Bool("keepdims", true));
  if (node.opset() >= 12) {
    TENSORD_ASSIGN_OR_RETURN(params.selects_last,
                             node.Bool("select_last_index", false));
  }
  return params;
}

absl::Status Infer(InferContext& context) {
  const auto& params = context.params<ArgReduceParams>();
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kNumericDTypes));
  TENSORD_ASSIGN_OR_RETURN(const int axis,
                           context.NormalizeAxis(params.axis, context.rank(0)));
  SymbolicShape y = context.shape(0);
  if (y[axis] == Dim::Known(0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("axis ", axis, " has extent 0: nothing to choose from"));
  }
  if (params.keep_dims) {
    y[axis] = Dim::Known(1);
  } else {
    y.erase(y.begin() + axis);
  }
  context.SetOutput(0, DType::kInt64, std::move(y));
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

OpDef ArgMaxDef() { return Def(OpKind::kArgMax); }
OpDef ArgMinDef() { return Def(OpKind::kArgMin); }

}  // namespace tensord
