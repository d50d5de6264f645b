#include "engine/graph/topological_order.h"

#include <functional>
#include <queue>

namespace tensord {
namespace {

// Every node that is left has a producer that is left, so going from producer
// to producer must meet a node again: that one is on a cycle.
int32_t FindNodeOnCycle(absl::Span<const std::vector<int32_t>> producers,
                        const std::vector<int32_t>& waiting_for) {
  std::vector<bool> met(producers.size(), false);
  int32_t node = 0;
  while (waiting_for[node] == 0) ++node;
  while (!met[node]) {
    met[node] = true;
    for (int32_t producer : producers[node]) {
      if (waiting_for[producer] != 0) {
        node = producer;
        break;
      }
    }
  }
  return node;
}

}  // namespace

TopologicalOrder SortNodes(absl::Span<const std::vector<int32_t>> producers) {
  const auto node_count = static_cast<int32_t>(producers.size());
  std::vector<std::vector<int32_t>> consumers(node_count);
  std::vector<int32_t> waiting_for(node_count, 0);
  for (int32_t node = 0; node < node_count; ++node) {
    for (int32_t producer : producers[node]) {
      consumers[producer].push_back(node);
      ++waiting_for[node];
    }
  }

  std::priority_queue<int32_t, std::vector<int32_t>, std::greater<int32_t>>
      ready;
  for (int32_t node = 0; node < node_count; ++node) {
    if (waiting_for[node] == 0) ready.push(node);
  }
  TopologicalOrder result;
  result.order.reserve(node_count);
  while (!ready.empty()) {
    const int32_t node = ready.top();
    ready.pop();
    result.order.push_back(node);
    for (int32_t consumer : consumers[node]) {
      if (--waiting_for[consumer] == 0) ready.push(consumer);
    }
  }
  if (static_cast<int32_t>(result.order.size()) < node_count) {
    result.node_on_cycle = FindNodeOnCycle(producers, waiting_for);
  }
  return result;
}

}  // namespace tensord
