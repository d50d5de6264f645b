// MatMul, as numpy.matmul: matrices in the last two dimensions, the others
// broadcast; a 1-D input is a row on the left and a column on the right, and
// its dimension is not in the output.

#include "engine/graph/status_macros.h"
#include "engine/ops/broadcast.h"
#include "engine/ops/dtype_sets.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/op_list.h"

namespace tensord {
namespace {

absl::Status Infer(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kMatMulDTypes));
  TENSORD_RETURN_IF_ERROR(context.CheckSameDType(0, 1));
  TENSORD_RETURN_IF_ERROR(context.CheckRank(0, 1, kMaxRank));
  TENSORD_RETURN_IF_ERROR(context.CheckRank(1, 1, kMaxRank));
  SymbolicShape a = context.shape(0);
  SymbolicShape b = context.shape(1);
  const bool a_is_row = a.size() == 1;
  const bool b_is_column = b.size() == 1;
  if (a_is_row) a.insert(a.begin(), Dim::Known(1));
  if (b_is_column) b.push_back(Dim::Known(1));

  const Dim rows = a[a.size() - 2];
  const Dim columns = b[b.size() - 1];
  TENSORD_RETURN_IF_ERROR(
      context.CheckSameDim("inner extents", a[a.size() - 1], b[b.size() - 2]));
  a.resize(a.size() - 2);
  b.resize(b.size() - 2);
  TENSORD_ASSIGN_OR_RETURN(SymbolicShape y, BroadcastShapes(context, a, b));
  if (!a_is_row) y.push_back(rows);
  if (!b_is_column) y.push_back(columns);
  context.SetOutput(0, context.dtype(0), std::move(y));
  return absl::OkStatus();
}

}  // namespace

OpDef MatMulDef() {
  return {
      .op = OpKind::kMatMul, .min_inputs = 2, .max_inputs = 2, .infer = &Infer};
}

}  // namespace tensord
