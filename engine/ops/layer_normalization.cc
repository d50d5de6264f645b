// LayerNormalization, RMSNormalization: over the dimensions from `axis` on,
// then scaled by an input that broadcasts to x (and, LayerNormalization, moved
// by another).

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/broadcast.h"
#include "engine/ops/dtype_sets.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/normalization_rules.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

absl::StatusOr<NormalizationParams> ReadAxis(NodeReader& node) {
  NormalizationParams params;
  TENSORD_ASSIGN_OR_RETURN(params.epsilon, ReadEpsilon(node));
  TENSORD_ASSIGN_OR_RETURN(params.axis, node.Int("axis", -1));
  return params;
}

absl::StatusOr<OpParams> ReadLayer(NodeReader& node) {
  TENSORD_ASSIGN_OR_RETURN(NormalizationParams params, ReadAxis(node));
  TENSORD_ASSIGN_OR_RETURN(const int64_t stash_type, node.Int("stash_type", 1));
  params.statistics_dtype =
      DTypeFromNumber(stash_type).value_or(DType::kUndefined);
  if (params.statistics_dtype != DType::kFloat32 &&
      params.statistics_dtype != DType::kBFloat16) {
    return absl::InvalidArgumentError(
        absl::StrCat("attribute 'stash_type' is ", stash_type,
                     ", not 1 (float32) or 16 (bfloat16)"));
  }
  return params;
}

absl::StatusOr<OpParams> ReadRms(NodeReader& node) {
  TENSORD_ASSIGN_OR_RETURN(const NormalizationParams params, ReadAxis(node));
  TENSORD_RETURN_IF_ERROR(CheckStashType(node));
  return params;
}

absl::Status InferLayer(InferContext& context) {
  const auto& params = context.params<NormalizationParams>();
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kFloatDTypes));
  const SymbolicShape& x = context.shape(0);
  TENSORD_ASSIGN_OR_RETURN(const int axis,
                           context.NormalizeAxis(params.axis, context.rank(0)));
  for (int i = 1; i <= 2; ++i) {
    if (!context.has_input(i)) continue;
    TENSORD_RETURN_IF_ERROR(context.CheckSameDType(0, i));
    TENSORD_RETURN_IF_ERROR(CheckBroadcastsTo(context, i, x));
  }
  if (params.has_skip) {
    TENSORD_RETURN_IF_ERROR(context.CheckSameDType(0, 3));
    TENSORD_RETURN_IF_ERROR(
        context.CheckRank(3, context.rank(0), context.rank(0)));
    for (size_t d = 0; d < x.size(); ++d) {
      TENSORD_RETURN_IF_ERROR(context.CheckSameDim(
          "extents of inputs 0 and 3:", x[d], context.shape(3)[d]));
    }
  }
  context.SetOutput(0, context.dtype(0), x);
  SymbolicShape statistics = x;
  for (size_t d = axis; d < x.size(); ++d) statistics[d] = Dim::Known(1);
  for (int i = 1; i < context.output_count(); ++i) {
    context.SetOutput(i, params.statistics_dtype, statistics);
  }
  return absl::OkStatus();
}

// The output is of the scale's dtype.
absl::Status InferRms(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kFloatDTypes));
  TENSORD_RETURN_IF_ERROR(context.CheckDType(1, kFloatDTypes));
  const SymbolicShape& x = context.shape(0);
  TENSORD_RETURN_IF_ERROR(
      context
          .NormalizeAxis(context.params<NormalizationParams>().axis,
                         context.rank(0))
          .status());
  TENSORD_RETURN_IF_ERROR(CheckBroadcastsTo(context, 1, x));
  context.SetOutput(0, context.dtype(1), x);
  return absl::OkStatus();
}

}  // namespace

OpDef LayerNormalizationDef() {
  return {.op = OpKind::kLayerNormalization,
          .min_inputs = 2,
          .max_inputs = 3,
          .max_outputs = 3,
          .read = &ReadLayer,
          .infer = &InferLayer};
}

OpDef RMSNormalizationDef() {
  return {.op = OpKind::kRMSNormalization,
          .min_inputs = 2,
          .max_inputs = 2,
          .read = &ReadRms,
          .infer = &InferRms};
}

}  // namespace tensord
