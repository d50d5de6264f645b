// CausalConvWithState: a convolution of each channel [batch, channels, length]
// with a kernel of its own that looks at the current element and those before
// it; the last of them come in as one state and go out as the next.

#include <string>

#include "absl/strings/str_cat.h"
#include "engine/graph/escape.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

constexpr int kInput = 0;
constexpr int kWeight = 1;
constexpr int kBias = 2;
constexpr int kPastState = 3;

constexpr DType kStateDTypes[] = {DType::kFloat32, DType::kFloat16,
                                  DType::kBFloat16};

absl::StatusOr<OpParams> Read(NodeReader& node) {
  TENSORD_ASSIGN_OR_RETURN(const std::string activation,
                           node.String("activation", "none"));
  // Two names of x * sigmoid(x).
  const bool is_silu = activation == "silu" || activation == "swish";
  if (!is_silu && activation != "none") {
    return absl::InvalidArgumentError(
        absl::StrCat("attribute 'activation' is ", Quoted(activation),
                     ", not none, silu or swish"));
  }
  return CausalConvParams{.is_silu = is_silu};
}

absl::Status CheckWeight(const InferContext& context, Dim channels) {
  TENSORD_RETURN_IF_ERROR(context.CheckSameDType(kInput, kWeight));
  TENSORD_RETURN_IF_ERROR(context.CheckRank(kWeight, 3, 3));
  const SymbolicShape& weight = context.shape(kWeight);
  TENSORD_RETURN_IF_ERROR(context.CheckSameDim(
      "channels of the input vs of the weights:", channels, weight[0]));
  TENSORD_RETURN_IF_ERROR(context.CheckSameDim(
      "dimension 1 of the weights should be", Dim::Known(1), weight[1]));
  if (weight[2] == Dim::Known(0)) {
    return absl::InvalidArgumentError("the kernel has 0 elements");
  }
  return absl::OkStatus();
}

absl::Status Infer(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(kInput, kStateDTypes));
  TENSORD_RETURN_IF_ERROR(context.CheckRank(kInput, 3, 3));
  const SymbolicShape& input = context.shape(kInput);
  TENSORD_RETURN_IF_ERROR(CheckWeight(context, input[1]));
  if (context.has_input(kBias)) {
    TENSORD_RETURN_IF_ERROR(context.CheckSameDType(kInput, kBias));
    TENSORD_RETURN_IF_ERROR(context.CheckRank(kBias, 1, 1));
    TENSORD_RETURN_IF_ERROR(
        context.CheckSameDim("channels of the input vs of the bias:", input[1],
                             context.shape(kBias)[0]));
  }
  const Dim before =
      context.symbols().Subtract(context.shape(kWeight)[2], Dim::Known(1));
  const SymbolicShape state = {input[0], input[1], before};
  if (context.has_input(kPastState)) {
    TENSORD_RETURN_IF_ERROR(context.CheckSameDType(kInput, kPastState));
    TENSORD_RETURN_IF_ERROR(context.CheckRank(kPastState, 3, 3));
    for (int d = 0; d < 3; ++d) {
      TENSORD_RETURN_IF_ERROR(context.CheckSameDim(
          absl::StrCat("dimension ", d, " of the past state should be"),
          state[d], context.shape(kPastState)[d]));
    }
  }
  context.SetOutput(0, context.dtype(kInput), input);
  context.SetOutput(1, context.dtype(kInput), state);
  return absl::OkStatus();
}

}  // namespace

OpDef CausalConvWithStateDef() {
  return {.op = OpKind::kCausalConvWithState,
          .min_inputs = 2,
          .max_inputs = 4,
          .min_outputs = 2,
          .max_outputs = 2,
          .read = &Read,
          .infer = &Infer};
}

}  // namespace tensord
