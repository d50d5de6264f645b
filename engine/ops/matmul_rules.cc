#include "engine/ops/matmul_rules.h"

#include "engine/graph/status_macros.h"
#include "engine/ops/broadcast.h"

namespace tensord {

absl::StatusOr<SymbolicShape> InferMatMulShape(InferContext& context, int a,
                                               int b) {
  TENSORD_RETURN_IF_ERROR(context.CheckRank(a, 1, kMaxRank));
  TENSORD_RETURN_IF_ERROR(context.CheckRank(b, 1, kMaxRank));
  SymbolicShape left = context.shape(a);
  SymbolicShape right = context.shape(b);
  const bool is_row = left.size() == 1;
  const bool is_column = right.size() == 1;
  if (is_row) left.insert(left.begin(), Dim::Known(1));
  if (is_column) right.push_back(Dim::Known(1));

  const Dim rows = left[left.size() - 2];
  const Dim columns = right[right.size() - 1];
  TENSORD_RETURN_IF_ERROR(context.CheckSameDim(
      "inner extents", left[left.size() - 1], right[right.size() - 2]));
  left.resize(left.size() - 2);
  right.resize(right.size() - 2);
  TENSORD_ASSIGN_OR_RETURN(SymbolicShape y,
                           BroadcastShapes(context, left, right));
  if (!is_row) y.push_back(rows);
  if (!is_column) y.push_back(columns);
  return y;
}

}  // namespace tensord
