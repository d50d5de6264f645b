// ReverseSequence: the first elements along the time axis, as many as each
// batch's length says, in the opposite order.

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/constant_values.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

absl::StatusOr<OpParams> Read(NodeReader& node) {
  ReverseSequenceParams params;
  TENSORD_ASSIGN_OR_RETURN(const int64_t batch, node.Int("batch_axis", 1));
  TENSORD_ASSIGN_OR_RETURN(const int64_t time, node.Int("time_axis", 0));
  if (!(batch == 0 && time == 1) && !(batch == 1 && time == 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("batch_axis ", batch, " and time_axis ", time,
                     " are not 0 and 1, in either order"));
  }
  params.is_time_first = time == 0;
  return params;
}

absl::Status Infer(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckRank(0, 2, kMaxRank));
  TENSORD_RETURN_IF_ERROR(context.CheckDType(1, kInt64Only));
  TENSORD_RETURN_IF_ERROR(context.CheckRank(1, 1, 1));
  const bool is_time_first =
      context.params<ReverseSequenceParams>().is_time_first;
  TENSORD_RETURN_IF_ERROR(context.CheckSameDim(
      "number of lengths and of sequences:", context.shape(1)[0],
      context.shape(0)[is_time_first ? 1 : 0]));
  context.SetOutput(0, context.dtype(0), context.shape(0));
  return absl::OkStatus();
}

}  // namespace

OpDef ReverseSequenceDef() {
  return {.op = OpKind::kReverseSequence,
          .min_inputs = 2,
          .max_inputs = 2,
          .read = &Read,
          .infer = &Infer};
}

}  // namespace tensord
