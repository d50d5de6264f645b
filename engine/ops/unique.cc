// Unique: the elements of the flattened input, or its slices along an axis,
// each once. Further outputs: where each was first, which of them each input
// is, how often each was there.

#include <utility>

#include "engine/graph/status_macros.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

absl::StatusOr<OpParams> Read(NodeReader& node) {
  UniqueParams params;
  if (node.Has("axis")) {
    TENSORD_ASSIGN_OR_RETURN(params.axis, node.Int("axis", 0));
  }
  TENSORD_ASSIGN_OR_RETURN(params.is_sorted, node.Bool("sorted", true));
  return params;
}

absl::Status Infer(InferContext& context) {
  const auto& params = context.params<UniqueParams>();
  SymbolTable& symbols = context.symbols();
  Dim whole = Dim::Known(1);
  SymbolicShape y = {whole};
  int axis = 0;
  if (params.axis.has_value()) {
    y = context.shape(0);
    TENSORD_ASSIGN_OR_RETURN(
        axis, context.NormalizeAxis(*params.axis, context.rank(0)));
    whole = y[axis];
  } else {
    for (Dim dim : context.shape(0)) whole = symbols.Multiply(whole, dim);
  }
  const Dim count = context.DataDependentDim(symbols.UpperBoundOf(whole));
  y[axis] = count;
  context.SetOutput(0, context.dtype(0), std::move(y));
  const Dim lengths[] = {count, whole, count};
  for (int i = 1; i < context.output_count(); ++i) {
    context.SetOutput(i, DType::kInt64, {lengths[i - 1]});
  }
  return absl::OkStatus();
}

}  // namespace

OpDef UniqueDef() {
  return {.op = OpKind::kUnique,
          .min_inputs = 1,
          .max_inputs = 1,
          .max_outputs = 4,
          .read = &Read,
          .infer = &Infer,
          .has_data_dependent_extents = true};
}

}  // namespace tensord
