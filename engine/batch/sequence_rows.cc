// Attention and recurrent operators: each sequence of the batch by itself.

#include "engine/batch/row_rules.h"
#include "engine/graph/status_macros.h"

namespace tensord {
namespace {

// Inputs first..last, as far as there are any, have the batch's rows.
absl::Status ExpectRowsOf(const NodeRows& rows, int first, int last) {
  for (int i = first; i <= last; ++i) {
    if (!rows.has_input(i)) continue;
    TENSORD_RETURN_IF_ERROR(rows.ExpectSameRows(0, i));
  }
  return absl::OkStatus();
}

// q, k, v, mask, past key, past value, lengths. The mask broadcasts to [batch,
// heads, queries, keys], so that only of rank 4 it has the batch.
absl::Status AttentionRows(const NodeRows& rows) {
  TENSORD_RETURN_IF_ERROR(ExpectRowsOf(rows, 0, 2));
  TENSORD_RETURN_IF_ERROR(ExpectRowsOf(rows, 4, 6));
  constexpr int kMask = 3;
  if (!rows.has_input(kMask)) return absl::OkStatus();
  if (rows.is_stacked(kMask)) {
    TENSORD_RETURN_IF_ERROR(rows.ExpectStacked(kMask, 4));
    return rows.ExpectSameRows(0, kMask);
  }
  TENSORD_RETURN_IF_ERROR(rows.ExpectFixed(kMask));
  return rows.rank(kMask) < 4 ? absl::OkStatus() : rows.ExpectRepeats(kMask);
}

// x; cosines and sines by position, the same for all, or by token; positions.
absl::Status RotaryRows(const NodeRows& rows) {
  TENSORD_RETURN_IF_ERROR(rows.ExpectStacked(0));
  const bool has_positions = rows.has_input(3);
  for (int i : {1, 2}) {
    TENSORD_RETURN_IF_ERROR(has_positions ? rows.ExpectFixed(i)
                                          : rows.ExpectSameRows(0, i));
  }
  return ExpectRowsOf(rows, 3, 3);
}

// x, weights, recurrent weights, biases, lengths, first states, peepholes.
// Without the batch in front it is dimension 1 of everything.
absl::Status RecurrentRows(const NodeRows& rows) {
  if (!rows.params<RnnParams>().has_batch_first) {
    return NotProven("layout 0 has the time in dimension 0, not the batch");
  }
  TENSORD_RETURN_IF_ERROR(rows.ExpectStacked(0, 3));
  for (int i : {1, 2, 3, 7}) TENSORD_RETURN_IF_ERROR(rows.ExpectFixed(i));
  return ExpectRowsOf(rows, 4, 6);
}

absl::Status ReverseSequenceRows(const NodeRows& rows) {
  if (rows.params<ReverseSequenceParams>().is_time_first) {
    return NotProven("the time is dimension 0, not the batch");
  }
  return rows.ExpectSameRows(0, 1);
}

// An image and a grid for each.
absl::Status GridSampleRows(const NodeRows& rows) {
  return rows.ExpectSameRows(0, 1);
}

constexpr RowRuleEntry kRules[] = {
    {OpKind::kAttention, &AttentionRows},
    {OpKind::kRotaryEmbedding, &RotaryRows},
    {OpKind::kLSTM, &RecurrentRows},
    {OpKind::kGRU, &RecurrentRows},
    {OpKind::kRNN, &RecurrentRows},
    {OpKind::kReverseSequence, &ReverseSequenceRows},
    {OpKind::kGridSample, &GridSampleRows},
};

}  // namespace

absl::Span<const RowRuleEntry> SequenceRowRules() { return kRules; }

}  // namespace tensord
