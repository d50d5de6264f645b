// ScatterElements, ScatterND and the first of them, Scatter: the data with some
// elements replaced by updates, or combined with them.

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/constant_values.h"
#include "engine/ops/dtype_sets.h"
#include "engine/ops/indexing.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

constexpr int kUpdates = 2;

absl::StatusOr<ScatterReduction> ReadReduction(NodeReader& node) {
  if (node.opset() < 16) return ScatterReduction::kNone;
  TENSORD_ASSIGN_OR_RETURN(const std::string name,
                           node.String("reduction", "none"));
  if (name == "none") return ScatterReduction::kNone;
  if (name == "add") return ScatterReduction::kAdd;
  if (name == "mul") return ScatterReduction::kMul;
  if (name == "max" && node.opset() >= 18) return ScatterReduction::kMax;
  if (name == "min" && node.opset() >= 18) return ScatterReduction::kMin;
  return absl::InvalidArgumentError(
      absl::StrCat("attribute 'reduction' is not none, add",
                   node.opset() >= 18 ? ", mul, max or min" : " or mul"));
}

absl::StatusOr<OpParams> ReadElements(NodeReader& node) {
  ScatterParams params;
  TENSORD_ASSIGN_OR_RETURN(params.axis, node.Int("axis", 0));
  TENSORD_ASSIGN_OR_RETURN(params.reduction, ReadReduction(node));
  return params;
}

absl::StatusOr<OpParams> ReadNd(NodeReader& node) {
  ScatterParams params;
  TENSORD_ASSIGN_OR_RETURN(params.reduction, ReadReduction(node));
  return params;
}

absl::Status CheckReduction(const InferContext& context) {
  if (context.params<ScatterParams>().reduction == ScatterReduction::kNone) {
    return absl::OkStatus();
  }
  return context.CheckDType(0, kNumericDTypes);
}

absl::Status CheckUpdates(const InferContext& context,
                          const SymbolicShape& expected) {
  const int rank = static_cast<int>(expected.size());
  TENSORD_RETURN_IF_ERROR(context.CheckSameDType(0, kUpdates));
  TENSORD_RETURN_IF_ERROR(context.CheckRank(kUpdates, rank, rank));
  for (int d = 0; d < rank; ++d) {
    TENSORD_RETURN_IF_ERROR(context.CheckSameDim(
        absl::StrCat("dimension ", d, " of the updates should be"), expected[d],
        context.shape(kUpdates)[d]));
  }
  return absl::OkStatus();
}

absl::Status InferElements(InferContext& context) {
  const int rank = context.rank(0);
  TENSORD_RETURN_IF_ERROR(CheckReduction(context));
  TENSORD_RETURN_IF_ERROR(context.CheckDType(1, kIndexDTypes));
  TENSORD_RETURN_IF_ERROR(context.CheckRank(1, rank, rank));
  TENSORD_ASSIGN_OR_RETURN(
      const int axis,
      context.NormalizeAxis(context.params<ScatterParams>().axis, rank));
  TENSORD_RETURN_IF_ERROR(CheckIndicesFit(context, axis));
  TENSORD_RETURN_IF_ERROR(CheckUpdates(context, context.shape(1)));
  context.SetOutput(0, context.dtype(0), context.shape(0));
  return absl::OkStatus();
}

absl::Status InferNd(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(CheckReduction(context));
  TENSORD_RETURN_IF_ERROR(context.CheckDType(1, kInt64Only));
  TENSORD_ASSIGN_OR_RETURN(const std::optional<SymbolicShape> picked,
                           PickedShape(context, 0));
  if (picked.has_value()) {
    TENSORD_RETURN_IF_ERROR(CheckUpdates(context, *picked));
  }
  context.SetOutput(0, context.dtype(0), context.shape(0));
  return absl::OkStatus();
}

OpDef Elements(OpKind op) {
  return {.op = op,
          .min_inputs = 3,
          .max_inputs = 3,
          .read = &ReadElements,
          .infer = &InferElements};
}

}  // namespace

OpDef ScatterDef() { return Elements(OpKind::kScatter); }
OpDef ScatterElementsDef() { return Elements(OpKind::kScatterElements); }
OpDef ScatterNDDef() {
  return {.op = OpKind::kScatterND,
          .min_inputs = 3,
          .max_inputs = 3,
          .read = &ReadNd,
          .infer = &InferNd};
}

}  // namespace tensord
