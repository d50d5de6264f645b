#include "engine/batch/row_rules.h"

#include <array>

#include "engine/graph/status_macros.h"
#include "engine/passes/is_elementwise.h"

namespace tensord {
namespace {

using Table = std::array<RowRule, kOpKindCount>;

// Input 1 is looked at for its dtype alone.
absl::Status CastLikeRows(const NodeRows& rows) {
  return rows.ExpectOutputRows(0);
}

Table MakeTable() {
  Table table = {};
  for (int op = 0; op < kOnnxOpKindCount; ++op) {
    if (IsElementwise(static_cast<OpKind>(op))) table[op] = &ElementwiseRows;
  }
  table[static_cast<int>(OpKind::kCastLike)] = &CastLikeRows;
  for (auto family : {ProductRowRules(), NormalizationRowRules(),
                      MovementRowRules(), SequenceRowRules()}) {
    for (const RowRuleEntry& entry : family) {
      table[static_cast<int>(entry.op)] = entry.rule;
    }
  }
  return table;
}

}  // namespace

absl::Status ElementwiseRows(const NodeRows& rows) {
  for (int i = 0; i < rows.input_count(); ++i) {
    if (!rows.has_input(i)) continue;
    if (!rows.is_stacked(i)) {
      TENSORD_RETURN_IF_ERROR(rows.ExpectRepeats(i));
      continue;
    }
    // Aligned at the last dimensions, so rows meet rows at equal ranks alone.
    TENSORD_RETURN_IF_ERROR(rows.ExpectStacked(i, rows.output_rank()));
    TENSORD_RETURN_IF_ERROR(rows.ExpectOutputRows(i));
  }
  return absl::OkStatus();
}

RowRule FindRowRule(OpKind op) {
  static const Table table = MakeTable();
  return table[static_cast<int>(op)];
}

}  // namespace tensord
