// Concat: the inputs one after the other along an axis; all other extents are
// equal.

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

absl::StatusOr<OpParams> Read(NodeReader& node) {
  if (!node.Has("axis")) {
    return absl::InvalidArgumentError("attribute 'axis' is missing");
  }
  AxisParams params;
  TENSORD_ASSIGN_OR_RETURN(params.axis, node.Int("axis", 0));
  return params;
}

absl::Status Infer(InferContext& context) {
  const int rank = context.rank(0);
  TENSORD_ASSIGN_OR_RETURN(
      const int axis,
      context.NormalizeAxis(context.params<AxisParams>().axis, rank));
  SymbolicShape y = context.shape(0);
  for (int i = 1; i < context.input_count(); ++i) {
    TENSORD_RETURN_IF_ERROR(context.CheckSameDType(0, i));
    TENSORD_RETURN_IF_ERROR(context.CheckRank(i, rank, rank));
    const SymbolicShape& x = context.shape(i);
    for (int d = 0; d < rank; ++d) {
      if (d == axis) {
        y[d] = context.symbols().Add(y[d], x[d]);
        continue;
      }
      TENSORD_RETURN_IF_ERROR(context.CheckSameDim(
          absl::StrCat("dimension ", d, " of the inputs before and of input ",
                       i, ":"),
          y[d], x[d]));
      if (x[d].is_known()) y[d] = x[d];
    }
  }
  context.SetOutput(0, context.dtype(0), std::move(y));
  return absl::OkStatus();
}

}  // namespace

OpDef ConcatDef() {
  return {.op = OpKind::kConcat,
          .min_inputs = 1,
          .max_inputs = OpDef::kVariadic,
          .read = &Read,
          .infer = &Infer};
}

}  // namespace tensord
