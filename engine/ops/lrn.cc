// LRN: y = x / (bias + alpha / size * sum of squares over `size` neighbouring
// channels)^beta, for x [N, C, ...].

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/dtype_sets.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

absl::StatusOr<OpParams> Read(NodeReader& node) {
  LrnParams params;
  TENSORD_ASSIGN_OR_RETURN(params.alpha, node.Float("alpha", 0.0001f));
  TENSORD_ASSIGN_OR_RETURN(params.beta, node.Float("beta", 0.75f));
  TENSORD_ASSIGN_OR_RETURN(params.bias, node.Float("bias", 1.0f));
  if (!node.Has("size")) {
    return absl::InvalidArgumentError("attribute 'size' is missing");
  }
  TENSORD_ASSIGN_OR_RETURN(params.size, node.Int("size", 1));
  if (params.size < 1 || params.size > kMaxElementCount) {
    return absl::InvalidArgumentError(
        absl::StrCat("attribute 'size' is ", params.size, ", outside [1, ",
                     kMaxElementCount, "]"));
  }
  return params;
}

absl::Status Infer(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kFloatDTypes));
  TENSORD_RETURN_IF_ERROR(context.CheckRank(0, 2, kMaxRank));
  context.SetOutput(0, context.dtype(0), context.shape(0));
  return absl::OkStatus();
}

}  // namespace

OpDef LRNDef() {
  return {.op = OpKind::kLRN,
          .min_inputs = 1,
          .max_inputs = 1,
          .read = &Read,
          .infer = &Infer};
}

}  // namespace tensord
