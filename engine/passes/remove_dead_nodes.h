#ifndef TENSORD_ENGINE_PASSES_REMOVE_DEAD_NODES_H_
#define TENSORD_ENGINE_PASSES_REMOVE_DEAD_NODES_H_

#include "engine/graph/graph.h"

namespace tensord {

// A copy of the graph without the nodes whose outputs reach no output of the
// graph, and without the bytes of constants that no node reads. Values keep
// their ids, so an Inference stays right; nodes get new ids, in the same order.
// Inputs stay, used or not: they are the client's interface.
// Threading and ownership: pure; shares constant bytes.
Graph RemoveDeadNodes(const Graph& graph);

}  // namespace tensord

#endif  // TENSORD_ENGINE_PASSES_REMOVE_DEAD_NODES_H_
