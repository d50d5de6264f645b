// Operators that reduce dimensions to one value each: ReduceSum and its
// siblings. The axes are an attribute at first, input 1 from operator set 13
// (ReduceSum) or 18 (the others) on.

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/constant_values.h"
#include "engine/ops/dtype_sets.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

constexpr DType kOrderedDTypes[] = {
    DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16,
    DType::kInt8,    DType::kInt32,   DType::kInt64,   DType::kUInt8,
    DType::kUInt32,  DType::kUInt64,  DType::kBool};

absl::StatusOr<OpParams> Read(NodeReader& node, int64_t first_input_opset) {
  ReduceParams params;
  TENSORD_ASSIGN_OR_RETURN(params.keep_dims, node.Bool("keepdims", true));
  if (node.opset() >= first_input_opset) {
    TENSORD_ASSIGN_OR_RETURN(params.noop_with_empty_axes,
                             node.Bool("noop_with_empty_axes", false));
    return params;
  }
  if (node.input_count() > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("input 1 (axes) is allowed from operator set ",
                     first_input_opset, " on"));
  }
  TENSORD_RETURN_IF_ERROR(
      MoveIntsToInput(node, "axes", first_input_opset - 1, 1));
  return params;
}

absl::StatusOr<OpParams> ReadSum(NodeReader& node) { return Read(node, 13); }
absl::StatusOr<OpParams> ReadOther(NodeReader& node) { return Read(node, 18); }

// The axes are computed: each extent is 1 or what it was, or, where dimensions
// go, that of one of the dimensions that can end there.
absl::Status InferUnknownAxes(InferContext& context) {
  const SymbolicShape& x = context.shape(0);
  const Dim count = context.shape(1)[0];
  const bool keep_dims = context.params<ReduceParams>().keep_dims;
  if (!keep_dims && !count.is_known()) return context.NeedsValue(1);
  int64_t gone = keep_dims ? 0 : count.extent();
  if (gone == 0 && !keep_dims &&
      !context.params<ReduceParams>().noop_with_empty_axes) {
    gone = context.rank(0);
  }
  if (gone > context.rank(0)) {
    return absl::InvalidArgumentError(
        absl::StrCat(gone, " axes for an input of rank ", context.rank(0)));
  }
  SymbolicShape y;
  for (int64_t d = 0; d < context.rank(0) - gone; ++d) {
    int64_t bound = keep_dims ? 1 : 0;
    for (int64_t from = d; from <= d + gone; ++from) {
      const int64_t extent = context.symbols().UpperBoundOf(x[from]);
      if (extent == SymbolTable::kUnbounded) {
        bound = SymbolTable::kUnbounded;
        break;
      }
      bound = std::max(bound, extent);
    }
    y.push_back(context.DataDependentDim(bound));
  }
  context.SetOutput(0, context.dtype(0), std::move(y));
  return absl::OkStatus();
}

absl::Status InferShape(InferContext& context) {
  const auto& params = context.params<ReduceParams>();
  const int rank = context.rank(0);
  std::vector<int64_t> axes;
  if (context.has_input(1)) {
    TENSORD_RETURN_IF_ERROR(context.CheckDType(1, kInt64Only));
    TENSORD_RETURN_IF_ERROR(context.CheckRank(1, 1, 1));
    if (context.constant(1) == nullptr) return InferUnknownAxes(context);
    axes = ConstantIntegers(context, 1);
  }
  TENSORD_ASSIGN_OR_RETURN(std::vector<bool> goes,
                           MarkAxes(context, axes, rank));
  if (axes.empty()) goes.assign(rank, !params.noop_with_empty_axes);
  SymbolicShape y;
  for (int d = 0; d < rank; ++d) {
    if (!goes[d]) {
      y.push_back(context.shape(0)[d]);
    } else if (params.keep_dims) {
      y.push_back(Dim::Known(1));
    }
  }
  context.SetOutput(0, context.dtype(0), std::move(y));
  return absl::OkStatus();
}

absl::Status InferArithmetic(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kMatMulDTypes));
  return InferShape(context);
}

absl::Status InferOrdered(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kOrderedDTypes));
  return InferShape(context);
}

OpDef Def(OpKind op, absl::Status (*infer)(InferContext&)) {
  return {.op = op,
          .min_inputs = 1,
          .max_inputs = 2,
          .read = op == OpKind::kReduceSum ? &ReadSum : &ReadOther,
          .infer = infer,
          .has_data_dependent_extents = true};
}

}  // namespace

OpDef ReduceL1Def() { return Def(OpKind::kReduceL1, &InferArithmetic); }
OpDef ReduceL2Def() { return Def(OpKind::kReduceL2, &InferArithmetic); }
OpDef ReduceLogSumDef() { return Def(OpKind::kReduceLogSum, &InferArithmetic); }
OpDef ReduceLogSumExpDef() {
  return Def(OpKind::kReduceLogSumExp, &InferArithmetic);
}
OpDef ReduceMaxDef() { return Def(OpKind::kReduceMax, &InferOrdered); }
OpDef ReduceMeanDef() { return Def(OpKind::kReduceMean, &InferArithmetic); }
OpDef ReduceMinDef() { return Def(OpKind::kReduceMin, &InferOrdered); }
OpDef ReduceProdDef() { return Def(OpKind::kReduceProd, &InferArithmetic); }
OpDef ReduceSumDef() { return Def(OpKind::kReduceSum, &InferArithmetic); }
OpDef ReduceSumSquareDef() {
  return Def(OpKind::kReduceSumSquare, &InferArithmetic);
}

}  // namespace tensord
