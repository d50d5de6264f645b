#ifndef TENSORD_ENGINE_BATCH_ROW_RULES_H_
#define TENSORD_ENGINE_BATCH_ROW_RULES_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "backends/api/op_kind.h"
#include "engine/batch/node_rows.h"

namespace tensord {

// OK when every output of the node is stacked (RowKind::kStacked), given that
// its inputs are what `rows` says; else what stands against it. Whoever asks
// checks the outputs' shapes besides (NodeRows::CheckOutput).
// Threading: pure.
using RowRule = absl::Status (*)(const NodeRows& rows);

struct RowRuleEntry {
  OpKind op;
  RowRule rule;
};

// The rule of an operator; null where nothing is proven of it.
RowRule FindRowRule(OpKind op);

// The families, each in a file of its own.
absl::Span<const RowRuleEntry> ProductRowRules();        // sums over rows' own
absl::Span<const RowRuleEntry> NormalizationRowRules();  // and other reductions
absl::Span<const RowRuleEntry> MovementRowRules();       // elements moved
absl::Span<const RowRuleEntry> SequenceRowRules();       // attention, RNNs

// Each element of the output follows from those of the inputs at its place,
// broadcast.
absl::Status ElementwiseRows(const NodeRows& rows);

}  // namespace tensord

#endif  // TENSORD_ENGINE_BATCH_ROW_RULES_H_
