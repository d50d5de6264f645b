// BatchNormalization at inference: y = (x - mean[c]) / sqrt(var[c] + epsilon)
// * scale[c] + bias[c] for channel c, dimension 1 of x [N, C, D...].

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/dtype_sets.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/normalization_rules.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

absl::StatusOr<OpParams> Read(NodeReader& node) {
  node.Ignore("momentum");
  if (node.opset() < 7) {
    if (node.opset() < 6) node.Ignore("consumed_inputs");
    TENSORD_ASSIGN_OR_RETURN(const int64_t is_test, node.Int("is_test", 0));
    if (is_test == 0) {
      return absl::UnimplementedError("attribute 'is_test' is 0 (training)");
    }
  }
  if (node.opset() < 9) {
    TENSORD_ASSIGN_OR_RETURN(const bool is_spatial, node.Bool("spatial", true));
    if (!is_spatial) {
      return absl::UnimplementedError(
          "attribute 'spatial' is 0 (statistics per element)");
    }
  }
  if (node.opset() >= 14) {
    TENSORD_ASSIGN_OR_RETURN(const bool is_training,
                             node.Bool("training_mode", false));
    if (is_training) {
      return absl::UnimplementedError("attribute 'training_mode' is 1");
    }
  }
  if (node.output_count() > 1) {
    return absl::UnimplementedError(absl::StrCat(
        node.output_count(), " outputs: those past the first are training's"));
  }
  BatchNormalizationParams params;
  TENSORD_ASSIGN_OR_RETURN(params.epsilon, ReadEpsilon(node));
  return params;
}

absl::Status Infer(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kFloatDTypes));
  TENSORD_RETURN_IF_ERROR(context.CheckRank(0, 1, kMaxRank));
  // A vector has the one channel that its statistics say.
  const SymbolicShape& x = context.shape(0);
  const Dim channels = x.size() > 1 ? x[1] : Dim::Known(1);
  constexpr absl::string_view kNames[] = {"", "scale", "bias", "mean",
                                          "variance"};
  for (int i = 1; i <= 4; ++i) {
    TENSORD_RETURN_IF_ERROR(context.CheckDType(i, kFloatDTypes));
    TENSORD_RETURN_IF_ERROR(context.CheckRank(i, 1, 1));
    TENSORD_RETURN_IF_ERROR(context.CheckSameDim(
        absl::StrCat("channels vs extent of the ", kNames[i], ":"), channels,
        context.shape(i)[0]));
  }
  context.SetOutput(0, context.dtype(0), x);
  return absl::OkStatus();
}

}  // namespace

OpDef BatchNormalizationDef() {
  return {.op = OpKind::kBatchNormalization,
          .min_inputs = 5,
          .max_inputs = 5,
          .max_outputs = 5,
          .read = &Read,
          .infer = &Infer};
}

}  // namespace tensord
