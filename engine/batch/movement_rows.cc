// What moves elements: rows stay whole, and in their order.

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "engine/batch/row_rules.h"
#include "engine/graph/status_macros.h"

namespace tensord {
namespace {

// The elements in the same order under another shape. Whether that leaves each
// request as many rows of dimension 0, the output's check tells; what spells
// the shape out may follow from the batch.
absl::Status ViewRows(const NodeRows& rows) { return rows.ExpectStacked(0); }

absl::Status TransposeRows(const NodeRows& rows) {
  TENSORD_RETURN_IF_ERROR(rows.ExpectStacked(0));
  const Dims& permutation = rows.params<TransposeParams>().permutation;
  const int64_t first =
      permutation.empty() ? rows.rank(0) - 1 : permutation.front();
  if (first == 0) return absl::OkStatus();
  return NotProven("it moves dimension 0, which is the batch");
}

absl::Status ConcatRows(const NodeRows& rows) {
  for (int i = 0; i < rows.input_count(); ++i) {
    TENSORD_RETURN_IF_ERROR(rows.ExpectSameRows(0, i));
  }
  return rows.ExpectBehindBatch(rows.params<AxisParams>().axis, 0);
}

absl::Status SplitRows(const NodeRows& rows) {
  TENSORD_RETURN_IF_ERROR(rows.ExpectStacked(0));
  TENSORD_RETURN_IF_ERROR(rows.ExpectFixedFrom(1));
  return rows.ExpectBehindBatch(rows.params<SplitParams>().axis, 0);
}

// Elements of each row, or rows of a table that each picks for itself.
absl::Status GatherRows(const NodeRows& rows) {
  const int64_t axis = rows.Axis(rows.params<AxisParams>().axis, 0);
  if (rows.is_stacked(0)) {
    TENSORD_RETURN_IF_ERROR(rows.ExpectFixed(1));
    return rows.ExpectBehindBatch(axis, 0);
  }
  TENSORD_RETURN_IF_ERROR(rows.ExpectFixed(0));
  TENSORD_RETURN_IF_ERROR(rows.ExpectStacked(1));
  if (axis == 0) return absl::OkStatus();
  return NotProven("what the indices pick is behind other dimensions");
}

absl::Status GatherElementsRows(const NodeRows& rows) {
  TENSORD_RETURN_IF_ERROR(rows.ExpectSameRows(0, 1));
  return rows.ExpectBehindBatch(rows.params<AxisParams>().axis, 0);
}

absl::Status GatherNdRows(const NodeRows& rows) {
  const int64_t batch_dims = rows.params<GatherNdParams>().batch_dims;
  if (batch_dims > 0) return rows.ExpectSameRows(0, 1);
  TENSORD_RETURN_IF_ERROR(rows.ExpectFixed(0));
  return rows.ExpectStacked(1, 2);
}

absl::Status ScatterElementsRows(const NodeRows& rows) {
  for (int i : {1, 2}) TENSORD_RETURN_IF_ERROR(rows.ExpectSameRows(0, i));
  return rows.ExpectBehindBatch(rows.params<ScatterParams>().axis, 0);
}

// data, starts, ends, axes, steps. Dimension 0 is taken whole or not named; of
// the others, the same part is taken whatever the batch.
absl::Status SliceRows(const NodeRows& rows) {
  TENSORD_RETURN_IF_ERROR(rows.ExpectOutputRows(0));
  const auto starts = rows.KnownInts(1);
  const auto ends = rows.KnownInts(2);
  if (!starts.has_value() || !ends.has_value()) {
    return NotProven("its range is not known");
  }
  for (int i : {3, 4}) TENSORD_RETURN_IF_ERROR(rows.ExpectFixed(i));
  const auto axes = rows.KnownInts(3);
  const auto steps = rows.KnownInts(4);
  for (size_t i = 0; i < (*starts)[0].size(); ++i) {
    const int64_t axis = axes.has_value() ? rows.Axis((*axes)[0][i], 0)
                                          : static_cast<int64_t>(i);
    if (axis > 0) {
      if ((*starts)[0][i] == (*starts)[1][i] &&
          (*ends)[0][i] == (*ends)[1][i]) {
        continue;
      }
      return NotProven(
          absl::StrCat("its range of dimension ", axis, " is the batch's"));
    }
    // As many rows, forwards: all of them.
    if (!steps.has_value() || (*steps)[0][i] == 1) continue;
    return NotProven("it takes the batch, dimension 0, in another order");
  }
  return absl::OkStatus();
}

// data, pads, value, axes.
absl::Status PadRows(const NodeRows& rows) {
  TENSORD_RETURN_IF_ERROR(rows.ExpectStacked(0));
  TENSORD_RETURN_IF_ERROR(rows.ExpectFixedFrom(1));
  const auto pads = rows.KnownInts(1);
  if (!pads.has_value()) return NotProven("its pads are not known");
  const auto axes = rows.KnownInts(3);
  const size_t count = (*pads)[0].size() / 2;
  for (size_t i = 0; i < count; ++i) {
    const int64_t axis = axes.has_value() ? rows.Axis((*axes)[0][i], 0)
                                          : static_cast<int64_t>(i);
    if (axis > 0) continue;
    if ((*pads)[0][i] != 0 || (*pads)[0][i + count] != 0) {
      return NotProven("it pads dimension 0, which is the batch");
    }
  }
  return absl::OkStatus();
}

// Each row repeated in place, or something fixed as often as there are rows.
absl::Status ExpandRows(const NodeRows& rows) {
  if (rows.is_stacked(0)) return rows.ExpectOutputRows(0);
  return rows.ExpectRepeats(0);
}

absl::Status TileRows(const NodeRows& rows) {
  if (!rows.is_stacked(0)) return rows.ExpectFixed(0);
  TENSORD_RETURN_IF_ERROR(rows.ExpectFixed(1));
  return rows.ExpectOutputRows(0);
}

// One value everywhere.
absl::Status ConstantOfShapeRows(const NodeRows&) { return absl::OkStatus(); }

// The sizes of the dimensions behind the batch are the same for any batch.
absl::Status ExpectFixedSizes(const NodeRows& rows, int input) {
  const auto sizes = rows.KnownInts(input);
  if (!sizes.has_value()) return NotProven("its sizes are not known");
  for (size_t d = 1; d < (*sizes)[0].size(); ++d) {
    if ((*sizes)[0][d] == (*sizes)[1][d]) continue;
    return NotProven(
        absl::StrCat("its size of dimension ", d, " is the batch's"));
  }
  return absl::OkStatus();
}

// With a scale of exactly 1 along the batch: a factor that is close to it keeps
// the extent of a small batch, and moves what is sampled.
absl::Status ResizeRows(const NodeRows& rows) {
  const auto& params = rows.params<ResizeParams>();
  TENSORD_RETURN_IF_ERROR(rows.ExpectOutputRows(0));
  const auto is_given = [&](int i) {
    return i != 0 && rows.has_input(i) && rows.element_count(i) > 0;
  };
  for (int i : {params.roi_input, params.scales_input}) {
    if (is_given(i)) TENSORD_RETURN_IF_ERROR(rows.ExpectFixed(i));
  }
  for (int64_t axis : params.axes) {
    TENSORD_RETURN_IF_ERROR(rows.ExpectBehindBatch(axis, 0));
  }
  if (is_given(params.sizes_input)) {
    if (!params.axes.empty()) return rows.ExpectFixed(params.sizes_input);
    if (params.policy != ResizePolicy::kStretch) {
      return NotProven("its aspect ratio has to do with the batch");
    }
    TENSORD_RETURN_IF_ERROR(ExpectFixedSizes(rows, params.sizes_input));
  }
  if (!params.axes.empty()) return absl::OkStatus();
  if (params.coordinates == ResizeCoordinates::kTfCropAndResize) {
    return NotProven("it may crop along dimension 0, which is the batch");
  }
  if (!is_given(params.scales_input) ||
      rows.FirstFloat(params.scales_input) == 1.0f) {
    return absl::OkStatus();
  }
  return NotProven("it resizes dimension 0, which is the batch");
}

// Images one by one.
absl::Status BlockRows(const NodeRows& rows) {
  return rows.ExpectStacked(0, 4);
}

absl::Status OneHotRows(const NodeRows& rows) {
  TENSORD_RETURN_IF_ERROR(rows.ExpectStacked(0));
  TENSORD_RETURN_IF_ERROR(rows.ExpectFixedFrom(1));
  const int64_t axis = rows.params<AxisParams>().axis;
  if ((axis < 0 ? axis + rows.output_rank() : axis) >= 1) {
    return absl::OkStatus();
  }
  return NotProven("its classes come before the batch");
}

// Matrices one by one.
absl::Status TriluRows(const NodeRows& rows) {
  TENSORD_RETURN_IF_ERROR(rows.ExpectStacked(0, 3));
  return rows.ExpectFixed(1);
}

constexpr RowRuleEntry kRules[] = {
    {OpKind::kReshape, &ViewRows},
    {OpKind::kFlatten, &ViewRows},
    {OpKind::kSqueeze, &ViewRows},
    {OpKind::kUnsqueeze, &ViewRows},
    {OpKind::kIdentity, &ViewRows},
    {OpKind::kDropout, &ViewRows},  // at inference, which is all that there is
    {OpKind::kTranspose, &TransposeRows},
    {OpKind::kConcat, &ConcatRows},
    {OpKind::kSplit, &SplitRows},
    {OpKind::kGather, &GatherRows},
    {OpKind::kGatherElements, &GatherElementsRows},
    {OpKind::kGatherND, &GatherNdRows},
    {OpKind::kScatterElements, &ScatterElementsRows},
    {OpKind::kSlice, &SliceRows},
    {OpKind::kPad, &PadRows},
    {OpKind::kExpand, &ExpandRows},
    {OpKind::kTile, &TileRows},
    {OpKind::kConstantOfShape, &ConstantOfShapeRows},
    {OpKind::kResize, &ResizeRows},
    {OpKind::kUpsample, &ResizeRows},
    {OpKind::kDepthToSpace, &BlockRows},
    {OpKind::kSpaceToDepth, &BlockRows},
    {OpKind::kOneHot, &OneHotRows},
    {OpKind::kTrilu, &TriluRows},
};

}  // namespace

absl::Span<const RowRuleEntry> MovementRowRules() { return kRules; }

}  // namespace tensord
