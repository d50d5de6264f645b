// EyeLike: ones on the k-th diagonal of a matrix of the input's shape, zeros
// elsewhere.

#include <optional>

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

absl::StatusOr<OpParams> Read(NodeReader& node) {
  EyeLikeParams params;
  TENSORD_ASSIGN_OR_RETURN(params.diagonal, node.Int("k", 0));
  if (!node.Has("dtype")) return params;
  TENSORD_ASSIGN_OR_RETURN(const int64_t number, node.Int("dtype", 0));
  const std::optional<DType> dtype = DTypeFromNumber(number);
  if (!dtype.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("attribute 'dtype' is ", number, ", which is no dtype"));
  }
  params.dtype = *dtype;
  return params;
}

absl::Status Infer(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckRank(0, 2, 2));
  const DType asked = context.params<EyeLikeParams>().dtype;
  context.SetOutput(0, asked == DType::kUndefined ? context.dtype(0) : asked,
                    context.shape(0));
  return absl::OkStatus();
}

}  // namespace

OpDef EyeLikeDef() {
  return {.op = OpKind::kEyeLike,
          .min_inputs = 1,
          .max_inputs = 1,
          .read = &Read,
          .infer = &Infer};
}

}  // namespace tensord
