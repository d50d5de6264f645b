// Gemm: y = alpha * a' * b' + beta * c, where a' and b' are a and b or their
// transposes, and c broadcasts to y. y is [M, N].

#include "engine/graph/status_macros.h"
#include "engine/ops/broadcast.h"
#include "engine/ops/dtype_sets.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

absl::StatusOr<OpParams> Read(NodeReader& node) {
  GemmParams params;
  TENSORD_ASSIGN_OR_RETURN(params.alpha, node.Float("alpha", 1.0f));
  TENSORD_ASSIGN_OR_RETURN(params.beta, node.Float("beta", 1.0f));
  TENSORD_ASSIGN_OR_RETURN(params.transpose_a, node.Bool("transA", false));
  TENSORD_ASSIGN_OR_RETURN(params.transpose_b, node.Bool("transB", false));
  // Whether C may be smaller than y; later it always may.
  if (node.opset() < 7) node.Ignore("broadcast");
  if (node.opset() < 11 && node.input_count() < 3) {
    return absl::InvalidArgumentError(
        "input 2 (C) is missing; it is optional from operator set 11 on");
  }
  return params;
}

absl::Status Infer(InferContext& context) {
  const GemmParams& params = context.params<GemmParams>();
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kMatMulDTypes));
  TENSORD_RETURN_IF_ERROR(context.CheckSameDType(0, 1));
  TENSORD_RETURN_IF_ERROR(context.CheckRank(0, 2, 2));
  TENSORD_RETURN_IF_ERROR(context.CheckRank(1, 2, 2));
  const SymbolicShape& a = context.shape(0);
  const SymbolicShape& b = context.shape(1);
  TENSORD_RETURN_IF_ERROR(context.CheckSameDim("inner extents",
                                               a[params.transpose_a ? 0 : 1],
                                               b[params.transpose_b ? 1 : 0]));
  const SymbolicShape y = {a[params.transpose_a ? 1 : 0],
                           b[params.transpose_b ? 0 : 1]};
  if (context.has_input(2)) {
    TENSORD_RETURN_IF_ERROR(context.CheckSameDType(0, 2));
    TENSORD_RETURN_IF_ERROR(context.CheckRank(2, 0, 2));
    const SymbolicShape& c = context.shape(2);
    TENSORD_ASSIGN_OR_RETURN(SymbolicShape both,
                             BroadcastShapes(context, y, c));
    // One way only: c must not make y larger.
    for (int i = 0; i < 2; ++i) {
      TENSORD_RETURN_IF_ERROR(context.CheckSameDim(
          i == 0 ? "rows of y and C:" : "columns of y and C:", y[i], both[i]));
    }
  }
  context.SetOutput(0, context.dtype(0), y);
  return absl::OkStatus();
}

}  // namespace

OpDef GemmDef() {
  return {.op = OpKind::kGemm,
          .min_inputs = 2,
          .max_inputs = 3,
          .read = &Read,
          .infer = &Infer};
}

}  // namespace tensord
