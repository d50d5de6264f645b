// Compress: the slices along an axis, or the elements of the flattened input,
// for which the condition is true.

#include <algorithm>
#include <utility>

#include "engine/graph/status_macros.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

constexpr DType kBoolOnly[] = {DType::kBool};

absl::StatusOr<OpParams> Read(NodeReader& node) {
  OptionalAxisParams params;
  if (node.Has("axis")) {
    TENSORD_ASSIGN_OR_RETURN(params.axis, node.Int("axis", 0));
  }
  return params;
}

absl::Status Infer(InferContext& context) {
  const auto& params = context.params<OptionalAxisParams>();
  TENSORD_RETURN_IF_ERROR(context.CheckRank(0, 1, kMaxRank));
  TENSORD_RETURN_IF_ERROR(context.CheckDType(1, kBoolOnly));
  TENSORD_RETURN_IF_ERROR(context.CheckRank(1, 1, 1));
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
  // As many as are true, and there.
  int64_t bound = symbols.UpperBoundOf(whole);
  const int64_t conditions = symbols.UpperBoundOf(context.shape(1)[0]);
  if (bound == SymbolTable::kUnbounded) {
    bound = conditions;
  } else if (conditions != SymbolTable::kUnbounded) {
    bound = std::min(bound, conditions);
  }
  y[axis] = context.DataDependentDim(bound);
  context.SetOutput(0, context.dtype(0), std::move(y));
  return absl::OkStatus();
}

}  // namespace

OpDef CompressDef() {
  return {.op = OpKind::kCompress,
          .min_inputs = 2,
          .max_inputs = 2,
          .read = &Read,
          .infer = &Infer,
          .has_data_dependent_extents = true};
}

}  // namespace tensord
