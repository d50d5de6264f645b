// NegativeLogLikelihoodLoss, SoftmaxCrossEntropyLoss: how far scores
// [N, C, d1, ...] are from the target classes [N, d1, ...], each weighted by
// its class; of every sample, or their sum or mean.

#include <string>

#include "absl/strings/str_cat.h"
#include "engine/graph/escape.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/constant_values.h"
#include "engine/ops/dtype_sets.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

constexpr int kScores = 0;
constexpr int kTargets = 1;
constexpr int kWeights = 2;

absl::StatusOr<LossReduction> ReadReduction(NodeReader& node) {
  TENSORD_ASSIGN_OR_RETURN(const std::string name,
                           node.String("reduction", "mean"));
  if (name == "none") return LossReduction::kNone;
  if (name == "mean") return LossReduction::kMean;
  if (name == "sum") return LossReduction::kSum;
  return absl::InvalidArgumentError(absl::StrCat(
      "attribute 'reduction' is ", Quoted(name), ", not none, mean or sum"));
}

absl::StatusOr<OpParams> Read(NodeReader& node) {
  LossParams params;
  TENSORD_ASSIGN_OR_RETURN(params.reduction, ReadReduction(node));
  if (node.Has("ignore_index")) {
    TENSORD_ASSIGN_OR_RETURN(params.ignore_index, node.Int("ignore_index", 0));
  }
  return params;
}

// The targets' shape, which is the scores' without their classes.
absl::StatusOr<SymbolicShape> InferSamples(const InferContext& context) {
  const SymbolicShape& scores = context.shape(kScores);
  const int rank = context.rank(kScores) - 1;
  TENSORD_RETURN_IF_ERROR(context.CheckDType(kTargets, kIndexDTypes));
  TENSORD_RETURN_IF_ERROR(context.CheckRank(kTargets, rank, rank));
  SymbolicShape samples = context.shape(kTargets);
  for (int d = 0; d < rank; ++d) {
    const Dim expected = scores[d == 0 ? 0 : d + 1];
    TENSORD_RETURN_IF_ERROR(context.CheckSameDim(
        absl::StrCat("dimension ", d, " of the targets should be"), expected,
        samples[d]));
    if (!samples[d].is_known()) samples[d] = expected;
  }
  return samples;
}

absl::Status Infer(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(kScores, kFloatDTypes));
  TENSORD_RETURN_IF_ERROR(context.CheckRank(kScores, 2, kMaxRank));
  TENSORD_ASSIGN_OR_RETURN(SymbolicShape samples, InferSamples(context));
  if (context.has_input(kWeights)) {
    TENSORD_RETURN_IF_ERROR(context.CheckSameDType(kScores, kWeights));
    TENSORD_RETURN_IF_ERROR(context.CheckRank(kWeights, 1, 1));
    TENSORD_RETURN_IF_ERROR(context.CheckSameDim(
        "classes of the scores vs of the weights:", context.shape(kScores)[1],
        context.shape(kWeights)[0]));
  }
  const bool is_of_samples =
      context.params<LossParams>().reduction == LossReduction::kNone;
  context.SetOutput(0, context.dtype(kScores),
                    is_of_samples ? std::move(samples) : SymbolicShape());
  if (context.output_count() > 1) {
    context.SetOutput(1, context.dtype(kScores), context.shape(kScores));
  }
  return absl::OkStatus();
}

}  // namespace

OpDef NegativeLogLikelihoodLossDef() {
  return {.op = OpKind::kNegativeLogLikelihoodLoss,
          .min_inputs = 2,
          .max_inputs = 3,
          .read = &Read,
          .infer = &Infer};
}

OpDef SoftmaxCrossEntropyLossDef() {
  return {.op = OpKind::kSoftmaxCrossEntropyLoss,
          .min_inputs = 2,
          .max_inputs = 3,
          .max_outputs = 2,
          .read = &Read,
          .infer = &Infer};
}

}  // namespace tensord
