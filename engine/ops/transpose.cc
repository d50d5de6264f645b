// Transpose: y[i0, i1, ...] = x with its dimensions in another order;
// dimension d of y is dimension permutation[d] of x. By default reversed.

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

absl::StatusOr<OpParams> Read(NodeReader& node) {
  TENSORD_ASSIGN_OR_RETURN(const std::vector<int64_t> permutation,
                           node.Ints("perm"));
  std::vector<bool> seen(permutation.size(), false);
  for (int64_t d : permutation) {
    if (d < 0 || d >= static_cast<int64_t>(seen.size()) || seen[d]) {
      return absl::InvalidArgumentError(absl::StrCat(
          "attribute 'perm' is no permutation of the dimensions [0, ",
          seen.size(), "): [", absl::StrJoin(permutation, ", "), "]"));
    }
    seen[d] = true;
  }
  return TransposeParams{Dims(permutation.begin(), permutation.end())};
}

absl::Status Infer(InferContext& context) {
  const Dims& permutation = context.params<TransposeParams>().permutation;
  const SymbolicShape& x = context.shape(0);
  SymbolicShape y;
  if (permutation.empty()) {
    y.assign(x.rbegin(), x.rend());
  } else if (permutation.size() != x.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("attribute 'perm' has ", permutation.size(),
                     " elements for an input of rank ", x.size()));
  }
  for (int64_t d : permutation) y.push_back(x[d]);
  context.SetOutput(0, context.dtype(0), std::move(y));
  return absl::OkStatus();
}

}  // namespace

OpDef TransposeDef() {
  return {.op = OpKind::kTranspose,
          .min_inputs = 1,
          .max_inputs = 1,
          .read = &Read,
          .infer = &Infer};
}

}  // namespace tensord
