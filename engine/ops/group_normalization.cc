// GroupNormalization, InstanceNormalization: over groups of neighbouring
// channels (dimension 1 of x [N, C, D...]) of each sample, then scaled and
// moved by a vector with an entry for each channel; up to operator set 20,
// GroupNormalization's have one for each group.

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/dtype_sets.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/normalization_rules.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

absl::StatusOr<OpParams> ReadGroup(NodeReader& node) {
  NormalizationParams params;
  TENSORD_ASSIGN_OR_RETURN(params.epsilon, ReadEpsilon(node));
  if (!node.Has("num_groups")) {
    return absl::InvalidArgumentError("attribute 'num_groups' is missing");
  }
  TENSORD_ASSIGN_OR_RETURN(params.group_count, node.Int("num_groups", 1));
  if (params.group_count < 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "attribute 'num_groups' is ", params.group_count, ", not at least 1"));
  }
  params.scales_groups = node.opset() < 21;
  if (node.opset() >= 21) {
    TENSORD_RETURN_IF_ERROR(CheckStashType(node));
  }
  return params;
}

absl::StatusOr<OpParams> ReadInstance(NodeReader& node) {
  NormalizationParams params;
  TENSORD_ASSIGN_OR_RETURN(params.epsilon, ReadEpsilon(node));
  if (node.opset() < 6) node.Ignore("consumed_inputs");
  return params;
}

// x, and scale and bias of `extent` entries.
absl::Status InferScaled(InferContext& context, absl::string_view what,
                         Dim extent) {
  constexpr absl::string_view kNames[] = {"scale", "bias"};
  for (int i = 1; i <= 2; ++i) {
    TENSORD_RETURN_IF_ERROR(context.CheckSameDType(0, i));
    TENSORD_RETURN_IF_ERROR(context.CheckRank(i, 1, 1));
    TENSORD_RETURN_IF_ERROR(context.CheckSameDim(
        absl::StrCat(what, " vs extent of the ", kNames[i - 1], ":"), extent,
        context.shape(i)[0]));
  }
  context.SetOutput(0, context.dtype(0), context.shape(0));
  return absl::OkStatus();
}

absl::Status InferInstance(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kFloatDTypes));
  TENSORD_RETURN_IF_ERROR(context.CheckRank(0, 2, kMaxRank));
  return InferScaled(context, "channels", context.shape(0)[1]);
}

absl::Status InferGroup(InferContext& context) {
  const auto& params = context.params<NormalizationParams>();
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kFloatDTypes));
  TENSORD_RETURN_IF_ERROR(context.CheckRank(0, 2, kMaxRank));
  const Dim channels = context.shape(0)[1];
  if (channels.is_known() && channels.extent() % params.group_count != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(channels.extent(), " channels do not make ",
                     params.group_count, " equal groups"));
  }
  if (params.scales_groups) {
    return InferScaled(context, "groups", Dim::Known(params.group_count));
  }
  return InferScaled(context, "channels", channels);
}

}  // namespace

OpDef GroupNormalizationDef() {
  return {.op = OpKind::kGroupNormalization,
          .min_inputs = 3,
          .max_inputs = 3,
          .read = &ReadGroup,
          .infer = &InferGroup};
}

OpDef InstanceNormalizationDef() {
  return {.op = OpKind::kInstanceNormalization,
          .min_inputs = 3,
          .max_inputs = 3,
          .read = &ReadInstance,
          .infer = &InferInstance};
}

}  // namespace tensord
