// MaxUnpool: puts the elements of x [N, C, D...] where their indices (of x's
// shape) say, in an output of 0 that is what MaxPool with these attributes
// would have pooled. The optional output_shape may have more rows, columns and
// so on, which stay 0: the indices count elements of what the attributes give.
//
// Runtimes differ in that last point; this is what the standard's reference and
// its cases have. Where the indices were meant to count elements of
// output_shape, the last of them are past the end and refused by the kernel.

#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/constant_values.h"
#include "engine/ops/dtype_sets.h"
#include "engine/ops/op_def.h"
#include "engine/ops/shape_input.h"
#include "engine/ops/window_rules.h"

namespace tensord {
namespace {

absl::StatusOr<OpParams> Read(NodeReader& node) {
  PoolParams params;
  TENSORD_ASSIGN_OR_RETURN(params.kernel_shape,
                           ReadWindowNumbers(node, "kernel_shape", 1));
  TENSORD_ASSIGN_OR_RETURN(params.strides,
                           ReadWindowNumbers(node, "strides", 1));
  TENSORD_ASSIGN_OR_RETURN(params.pads, ReadWindowNumbers(node, "pads", 0));
  if (params.kernel_shape.empty()) {
    return absl::InvalidArgumentError("attribute 'kernel_shape' is missing");
  }
  return params;
}

// What the attributes say.
absl::StatusOr<SymbolicShape> FromAttributes(InferContext& context) {
  const PoolParams& params = context.params<PoolParams>();
  SymbolTable& symbols = context.symbols();
  const SymbolicShape& x = context.shape(0);
  const int spatial_rank = context.rank(0) - 2;
  SymbolicShape y = {x[0], x[1]};
  for (int axis = 0; axis < spatial_rank; ++axis) {
    const WindowAxis window =
        ResolveWindowAxis(params, axis, spatial_rank, /*input_extent=*/1);
    const Dim output =
        symbols.Add(symbols.Multiply(x[2 + axis], Dim::Known(window.stride)),
                    Dim::Known(window.kernel - window.stride -
                               window.pad_begin - window.pad_end));
    if (output.is_known() && output.extent() < 1) {
      return absl::InvalidArgumentError(absl::StrCat(
          "spatial dimension ", axis, ": extent ", x[2 + axis].extent(),
          " at stride ", window.stride, " with a window over ", window.kernel,
          " elements and pads ", window.pad_begin, " and ", window.pad_end,
          " leaves ", output.extent(), " outputs"));
    }
    y.push_back(output);
  }
  return y;
}

// output_shape, which must hold `y`, what the attributes give.
absl::StatusOr<SymbolicShape> FromInput(InferContext& context,
                                        const SymbolicShape& y) {
  TENSORD_RETURN_IF_ERROR(context.CheckRank(2, 1, 1));
  const auto rank = static_cast<int64_t>(y.size());
  TENSORD_RETURN_IF_ERROR(context.CheckSameDim(
      "extents of output_shape vs rank:", context.shape(2)[0],
      Dim::Known(rank)));
  TENSORD_ASSIGN_OR_RETURN(SymbolicShape stated, ShapeInput(context, 2));
  for (int64_t i = 0; i < rank; ++i) {
    if (!y[i].is_known()) continue;
    const bool fits =
        i < 2 ? stated[i] == y[i] : stated[i].extent() >= y[i].extent();
    if (fits) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("output_shape has ", stated[i].extent(), " in dimension ",
                     i, ", where the attributes give ", y[i].extent()));
  }
  return stated;
}

absl::Status Infer(InferContext& context) {
  const PoolParams& params = context.params<PoolParams>();
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kFloatDTypes));
  TENSORD_RETURN_IF_ERROR(context.CheckDType(1, kInt64Only));
  TENSORD_RETURN_IF_ERROR(context.CheckRank(0, 3, kMaxRank));
  const int rank = context.rank(0);
  TENSORD_RETURN_IF_ERROR(context.CheckRank(1, rank, rank));
  for (int i = 0; i < rank; ++i) {
    TENSORD_RETURN_IF_ERROR(
        context.CheckSameDim(absl::StrCat("x vs indices: dimension ", i, ":"),
                             context.shape(0)[i], context.shape(1)[i]));
  }
  TENSORD_RETURN_IF_ERROR(CheckWindowRank(params.kernel_shape, params.strides,
                                          /*dilations=*/{}, params.pads,
                                          rank - 2));
  TENSORD_ASSIGN_OR_RETURN(SymbolicShape y, FromAttributes(context));
  if (context.has_input(2)) {
    TENSORD_ASSIGN_OR_RETURN(y, FromInput(context, y));
  }
  context.SetOutput(0, context.dtype(0), std::move(y));
  return absl::OkStatus();
}

}  // namespace

OpDef MaxUnpoolDef() {
  return {.op = OpKind::kMaxUnpool,
          .min_inputs = 2,
          .max_inputs = 3,
          .read = &Read,
          .infer = &Infer};
}

}  // namespace tensord
