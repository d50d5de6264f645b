#ifndef TENSORD_ENGINE_PASSES_NODE_QUERY_H_
#define TENSORD_ENGINE_PASSES_NODE_QUERY_H_

#include <cstdint>
#include <optional>

#include "absl/types/span.h"
#include "engine/graph/graph.h"
#include "engine/passes/graph_editor.h"

namespace tensord {

// What passes ask of nodes and values. Threading: pure.

// A node with one output that only gives its input another shape, and launches
// nothing.
bool IsView(const Node& node);

// Products of matrices and convolutions, whose kernels have arithmetic enough
// to hide that of element-wise steps behind them.
bool IsContraction(OpKind op);

// The node that makes a value, if it is of this kind; null for others.
const Node* MadeBy(const GraphEditor& graph, ValueId value, OpKind op);

// The elements of an integer tensor (int32, int64) that is known and no longer
// than what says something of dimensions; nothing for others.
std::optional<Dims> KnownInts(const GraphEditor& graph, ValueId value);

// The number that a known value of one element is.
std::optional<double> KnownNumber(const GraphEditor& graph, ValueId value);

// Whether the two have the same dtype and shape, extents that only the data can
// tell included.
bool AreAlike(const GraphEditor& graph, ValueId a, ValueId b);

// Of a Transpose: dimension d of the result is this one's d-th of the input.
Dims PermutationOf(const GraphEditor& graph, const Node& node);

// A node that another one stands for: named, and with its inputs and outputs.
Node MakeNode(const Node& origin, OpKind op, OpParams params,
              std::vector<ValueId> inputs, std::vector<ValueId> outputs);

}  // namespace tensord

#endif  // TENSORD_ENGINE_PASSES_NODE_QUERY_H_
