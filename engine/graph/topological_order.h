#ifndef TENSORD_ENGINE_GRAPH_TOPOLOGICAL_ORDER_H_
#define TENSORD_ENGINE_GRAPH_TOPOLOGICAL_ORDER_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace tensord {

struct TopologicalOrder {
  // Node indices, producers first. A node comes as early as its number allows,
  // so an order that is right already stays as it is.
  std::vector<int32_t> order;
  // A node on a cycle, if there is one, else -1.
  int32_t node_on_cycle = -1;
};

// Orders nodes 0..n-1, where `producers[i]` are the nodes whose outputs node i
// reads (repeats allowed). Kahn's algorithm: no recursion, O((n + e) log n).
// Threading and ownership: pure.
TopologicalOrder SortNodes(absl::Span<const std::vector<int32_t>> producers);

}  // namespace tensord

#endif  // TENSORD_ENGINE_GRAPH_TOPOLOGICAL_ORDER_H_
