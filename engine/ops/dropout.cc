// Dropout at inference, which drops nothing: the output is the input, and the
// mask is true everywhere. So it is in training with a ratio of 0; with another
// one training is refused.

#include "absl/strings/str_cat.h"
#include "backends/api/float16.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/dtype_sets.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

constexpr DType kBoolOnly[] = {DType::kBool};

absl::StatusOr<OpParams> Read(NodeReader& node) {
  if (node.opset() < 7) {
    if (node.opset() < 6) node.Ignore("consumed_inputs");
    TENSORD_ASSIGN_OR_RETURN(const int64_t is_test, node.Int("is_test", 0));
    if (is_test == 0) {
      return absl::UnimplementedError("attribute 'is_test' is 0 (training)");
    }
  }
  // How much training would drop, and by which random numbers.
  node.Ignore(node.opset() < 12 ? "ratio" : "seed");
  if (node.opset() < 12 && node.input_count() > 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        node.input_count(), " inputs; up to operator set 11 there is 1"));
  }
  return NoParams{};
}

// The one element of input i, which is known.
template <typename T>
double ElementOf(const InferContext& context, int i) {
  return static_cast<double>(context.constant(i)->values<T>()[0]);
}

double RatioOf(const InferContext& context) {
  switch (context.dtype(1)) {
    case DType::kFloat64:
      return ElementOf<double>(context, 1);
    case DType::kFloat16:
      return ElementOf<Float16>(context, 1);
    case DType::kBFloat16:
      return ElementOf<BFloat16>(context, 1);
    default:
      return ElementOf<float>(context, 1);
  }
}

// Refuses what would drop something.
absl::Status CheckTraining(InferContext& context) {
  if (!context.has_input(2)) return absl::OkStatus();
  TENSORD_RETURN_IF_ERROR(context.CheckDType(2, kBoolOnly));
  TENSORD_RETURN_IF_ERROR(context.CheckOneElement(2));
  if (context.constant(2) == nullptr) return context.NeedsValue(2);
  if (context.constant(2)->bytes()[0] == std::byte{0}) return absl::OkStatus();
  if (!context.has_input(1)) {
    return absl::UnimplementedError(
        "input 2 (training_mode) is true, with the ratio 0.5 of its absence");
  }
  if (context.constant(1) == nullptr) return context.NeedsValue(1);
  if (const double ratio = RatioOf(context); ratio != 0) {
    return absl::UnimplementedError(absl::StrCat(
        "input 2 (training_mode) is true, with a ratio of ", ratio));
  }
  return absl::OkStatus();
}

absl::Status Infer(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kFloatDTypes));
  if (context.has_input(1)) {
    TENSORD_RETURN_IF_ERROR(context.CheckDType(1, kFloatDTypes));
    TENSORD_RETURN_IF_ERROR(context.CheckOneElement(1));
  }
  TENSORD_RETURN_IF_ERROR(CheckTraining(context));
  context.SetOutput(0, context.dtype(0), context.shape(0));
  if (context.output_count() > 1) {
    context.SetOutput(1, DType::kBool, context.shape(0));
  }
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
