// Dropout at inference, which drops nothing: the output is the input. Training,
// and the mask that it gives, are refused.

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/dtype_sets.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_list.h"

namespace tensord {
namespace {

constexpr DType kBoolOnly[] = {DType::kBool};

absl::StatusOr<OpParams> Read(NodeReader& node) {
  if (node.output_count() > 1) {
    return absl::UnimplementedError("output 1 (mask) is not supported");
  }
  // How much training would drop, and by which random numbers.
  node.Ignore(node.opset() < 12 ? "ratio" : "seed");
  if (node.opset() < 12 && node.input_count() > 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        node.input_count(), " inputs; up to operator set 11 there is 1"));
  }
  return NoParams{};
}

absl::Status Infer(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kFloatDTypes));
  if (context.has_input(1)) {
    TENSORD_RETURN_IF_ERROR(context.CheckDType(1, kFloatDTypes));
  }
  if (context.has_input(2)) {
    TENSORD_RETURN_IF_ERROR(context.CheckDType(2, kBoolOnly));
    const HostTensor* is_training = context.constant(2);
    if (is_training == nullptr || is_training->size_bytes() != 1 ||
        is_training->bytes()[0] != std::byte{0}) {
      return absl::UnimplementedError(
          "input 2 (training_mode) is not the constant false");
    }
  }
  context.SetOutput(0, context.dtype(0), context.shape(0));
  return absl::OkStatus();
}

}  // namespace

OpDef DropoutDef() {
  return {.op = OpKind::kDropout,
          .min_inputs = 1,
          .max_inputs = 3,
          .max_outputs = 2,
          .read = &Read,
          .infer = &Infer,
          .is_view = true};
}

}  // namespace tensord
