// Operators that move no element: Flatten, Identity.

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

absl::Status InferIdentity(InferContext& context) {
  context.SetOutput(0, context.dtype(0), context.shape(0));
  return absl::OkStatus();
}

absl::StatusOr<OpParams> ReadFlatten(NodeReader& node) {
  AxisParams params;
  TENSORD_ASSIGN_OR_RETURN(params.axis, node.Int("axis", 1));
  if (params.axis < 0 && node.opset() < 11) {
    return absl::InvalidArgumentError(
        absl::StrCat("attribute 'axis' is ", params.axis,
                     "; below 0 is allowed from operator set 11 on"));
  }
  return params;
}

// [prod of the dims before axis, prod of the others]; axis may be the rank.
absl::Status InferFlatten(InferContext& context) {
  const int rank = context.rank(0);
  const int64_t axis = context.params<AxisParams>().axis;
  if (axis < -rank || axis > rank) {
    return absl::InvalidArgumentError(
        absl::StrCat("axis ", axis, " is outside [", -rank, ", ", rank, "]"));
  }
  const int split = static_cast<int>(axis < 0 ? axis + rank : axis);
  SymbolTable& symbols = context.symbols();
  SymbolicShape y = {Dim::Known(1), Dim::Known(1)};
  for (int d = 0; d < rank; ++d) {
    Dim& extent = y[d < split ? 0 : 1];
    extent = symbols.Multiply(extent, context.shape(0)[d]);
  }
  context.SetOutput(0, context.dtype(0), std::move(y));
  return absl::OkStatus();
}

}  // namespace

OpDef FlattenDef() {
  return {.op = OpKind::kFlatten,
          .min_inputs = 1,
          .max_inputs = 1,
          .read = &ReadFlatten,
          .infer = &InferFlatten,
          .is_view = true};
}

OpDef IdentityDef() {
  return {.op = OpKind::kIdentity,
          .min_inputs = 1,
          .max_inputs = 1,
          .infer = &InferIdentity,
          .is_view = true};
}

}  // namespace tensord
