// Normalizations, reductions and pools: what works along some dimensions, and
// for each index of the others alone.

#include "absl/strings/str_cat.h"
#include "engine/batch/row_rules.h"
#include "engine/graph/status_macros.h"

namespace tensord {
namespace {

// Input 0 along one axis; other inputs are the same for all.
absl::Status AlongAxis(const NodeRows& rows, int64_t axis) {
  TENSORD_RETURN_IF_ERROR(rows.ExpectStacked(0));
  TENSORD_RETURN_IF_ERROR(rows.ExpectFixedFrom(1));
  return rows.ExpectBehindBatch(axis, 0);
}

// Those that see a matrix have the dimensions before the axis as its rows.
absl::Status SoftmaxRows(const NodeRows& rows) {
  return AlongAxis(rows, rows.params<SoftmaxParams>().axis);
}

absl::Status ArgReduceRows(const NodeRows& rows) {
  return AlongAxis(rows, rows.params<ArgReduceParams>().axis);
}

absl::Status TopKRows(const NodeRows& rows) {
  return AlongAxis(rows, rows.params<TopKParams>().axis);
}

absl::Status LpNormalizationRows(const NodeRows& rows) {
  return AlongAxis(rows, rows.params<LpNormalizationParams>().axis);
}

// The scale and the bias broadcast to the dimensions from the axis on.
absl::Status LayerNormalizationRows(const NodeRows& rows) {
  TENSORD_RETURN_IF_ERROR(
      AlongAxis(rows, rows.params<NormalizationParams>().axis));
  for (int i = 1; i < rows.input_count(); ++i) {
    TENSORD_RETURN_IF_ERROR(rows.ExpectRepeats(i));
  }
  return absl::OkStatus();
}

// The axes, known before the run, are behind the batch.
absl::Status ExpectAxesBehindBatch(const NodeRows& rows, int i) {
  const std::optional<NodeRows::Ints> axes = rows.KnownInts(i);
  if (!axes.has_value()) return NotProven("its axes are not known");
  for (const Dims& at_size : *axes) {
    for (int64_t axis : at_size) {
      TENSORD_RETURN_IF_ERROR(rows.ExpectBehindBatch(axis, 0));
    }
  }
  return absl::OkStatus();
}

absl::Status ReduceRows(const NodeRows& rows) {
  TENSORD_RETURN_IF_ERROR(rows.ExpectStacked(0));
  TENSORD_RETURN_IF_ERROR(rows.ExpectFixed(1));
  if (rows.has_input(1) && rows.element_count(1) > 0) {
    return ExpectAxesBehindBatch(rows, 1);
  }
  if (rows.params<ReduceParams>().noop_with_empty_axes) return absl::OkStatus();
  return NotProven("it works along all dimensions, the batch among them");
}

absl::Status CumulativeRows(const NodeRows& rows) {
  TENSORD_RETURN_IF_ERROR(rows.ExpectStacked(0));
  TENSORD_RETURN_IF_ERROR(rows.ExpectFixed(1));
  return ExpectAxesBehindBatch(rows, 1);
}

absl::Status MeanVarianceRows(const NodeRows& rows) {
  TENSORD_RETURN_IF_ERROR(rows.ExpectStacked(0));
  const Dims& axes = rows.params<AxesParams>().axes;
  if (axes.empty()) return NotProven("it names no axes");
  for (int64_t axis : axes) {
    TENSORD_RETURN_IF_ERROR(rows.ExpectBehindBatch(axis, 0));
  }
  return absl::OkStatus();
}

// Images one by one: [batch, channels, ...], all else the same for all.
absl::Status ImageRows(const NodeRows& rows) {
  TENSORD_RETURN_IF_ERROR(rows.ExpectStacked(0, 2));
  return rows.ExpectFixedFrom(1);
}

absl::Status MaxPoolRows(const NodeRows& rows) {
  if (!rows.has_output(1)) return ImageRows(rows);
  return NotProven("its indices count through the whole batch");
}

// A scale for each index of an axis, or one for all.
absl::Status QuantizeRows(const NodeRows& rows) {
  TENSORD_RETURN_IF_ERROR(rows.ExpectStacked(0));
  TENSORD_RETURN_IF_ERROR(rows.ExpectFixedFrom(1));
  if (rows.element_count(1) == 1) return absl::OkStatus();
  const auto& params = rows.params<QuantizeParams>();
  TENSORD_RETURN_IF_ERROR(rows.ExpectBehindBatch(params.axis, 0));
  // Blocks have a scale for each row, which cannot be the same for any batch.
  return rows.rank(1) == 1 ? absl::OkStatus() : rows.ExpectRepeats(1);
}

constexpr RowRuleEntry kRules[] = {
    {OpKind::kSoftmax, &SoftmaxRows},
    {OpKind::kLogSoftmax, &SoftmaxRows},
    {OpKind::kHardmax, &SoftmaxRows},
    {OpKind::kArgMax, &ArgReduceRows},
    {OpKind::kArgMin, &ArgReduceRows},
    {OpKind::kTopK, &TopKRows},
    {OpKind::kLpNormalization, &LpNormalizationRows},
    {OpKind::kLayerNormalization, &LayerNormalizationRows},
    {OpKind::kRMSNormalization, &LayerNormalizationRows},
    {OpKind::kReduceL1, &ReduceRows},
    {OpKind::kReduceL2, &ReduceRows},
    {OpKind::kReduceLogSum, &ReduceRows},
    {OpKind::kReduceLogSumExp, &ReduceRows},
    {OpKind::kReduceMax, &ReduceRows},
    {OpKind::kReduceMean, &ReduceRows},
    {OpKind::kReduceMin, &ReduceRows},
    {OpKind::kReduceProd, &ReduceRows},
    {OpKind::kReduceSum, &ReduceRows},
    {OpKind::kReduceSumSquare, &ReduceRows},
    {OpKind::kCumSum, &CumulativeRows},
    {OpKind::kCumProd, &CumulativeRows},
    {OpKind::kMeanVarianceNormalization, &MeanVarianceRows},
    {OpKind::kBatchNormalization, &ImageRows},
    {OpKind::kInstanceNormalization, &ImageRows},
    {OpKind::kGroupNormalization, &ImageRows},
    {OpKind::kLRN, &ImageRows},
    {OpKind::kMaxPool, &MaxPoolRows},
    {OpKind::kAveragePool, &ImageRows},
    {OpKind::kLpPool, &ImageRows},
    {OpKind::kGlobalAveragePool, &ImageRows},
    {OpKind::kGlobalMaxPool, &ImageRows},
    {OpKind::kGlobalLpPool, &ImageRows},
    {OpKind::kQuantizeLinear, &QuantizeRows},
    {OpKind::kDequantizeLinear, &QuantizeRows},
};

}  // namespace

absl::Span<const RowRuleEntry> NormalizationRowRules() { return kRules; }

}  // namespace tensord
