#ifndef TENSORD_ENGINE_PASSES_ATTENTION_PATTERN_H_
#define TENSORD_ENGINE_PASSES_ATTENTION_PATTERN_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/passes/graph_editor.h"

namespace tensord {

// Softmax(q * k' * scale + mask) * v, found in a graph. All but the mask are of
// one rank, 4 or 3, and their dimensions fit.
//
// Threading and ownership: a plain value.
struct AttentionPattern {
  ValueId q = kNoValue;
  // The keys as [..., sequence, size], where some value is that; else their
  // transpose [..., size, sequence].
  ValueId k = kNoValue;
  ValueId k_transposed = kNoValue;
  // The keys as [batch, sequence, heads, size], where a node makes the
  // transpose of that.
  ValueId k_unmoved = kNoValue;
  ValueId v = kNoValue;
  ValueId mask = kNoValue;
  double scale = 1;
  ValueId y = kNoValue;

  // The nodes between, all of which nobody else needs.
  std::vector<NodeId> parts;
};

// The pattern around a Softmax; nothing where there is none.
std::optional<AttentionPattern> FindAttention(GraphEditor& graph,
                                              NodeId softmax);

// One of the three parts, along the first dimension, of [3, batch, heads,
// sequence, size], which a Transpose has made of a value [batch, sequence, 3 *
// heads * size].
struct AttentionSlice {
  ValueId whole = kNoValue;
  int64_t index = 0;
  std::vector<NodeId> parts;  // the nodes between that nobody else needs
};
std::optional<AttentionSlice> FindSlice(const GraphEditor& graph,
                                        ValueId value);

// Whether a node is a Transpose with this permutation.
bool IsTransposeBy(const Node& node, const Dims& permutation);

}  // namespace tensord

#endif  // TENSORD_ENGINE_PASSES_ATTENTION_PATTERN_H_
