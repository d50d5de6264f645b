#include "engine/passes/remove_dead_nodes.h"

#include <vector>

namespace tensord {

Graph RemoveDeadNodes(const Graph& graph) {
  // Producers come first, so one walk from the end meets every consumer of a
  // value before its producer.
  std::vector<bool> is_read(graph.values.size(), false);
  std::vector<bool> is_live(graph.nodes.size(), false);
  for (ValueId id : graph.outputs) is_read[id] = true;
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    const Node& node = graph.nodes[i];
    for (ValueId id : node.outputs) {
      if (id != kNoValue && is_read[id]) is_live[i] = true;
    }
    if (!is_live[i]) continue;
    for (ValueId id : node.inputs) {
      if (id != kNoValue) is_read[id] = true;
    }
  }

  Graph result;
  result.name = graph.name;
  result.values = graph.values;
  result.inputs = graph.inputs;
  result.outputs = graph.outputs;
  result.symbols = graph.symbols;
  result.memo = graph.memo;
  for (size_t id = 0; id < result.values.size(); ++id) {
    result.values[id].producer = kNoNode;
    if (!is_read[id]) result.values[id].constant = HostTensor();
  }
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!is_live[i]) continue;
    for (ValueId output : graph.nodes[i].outputs) {
      if (output == kNoValue) continue;
      result.values[output].producer = static_cast<NodeId>(result.nodes.size());
    }
    result.nodes.push_back(graph.nodes[i]);
  }
  return result;
}

}  // namespace tensord
