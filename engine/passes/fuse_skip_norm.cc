#include "engine/passes/fuse_skip_norm.h"

#include <utility>

#include "engine/passes/node_query.h"

namespace tensord {
namespace {

constexpr int kSkip = 3;

bool TakeSum(PassContext& context, NodeId id) {
  GraphEditor& graph = context.graph;
  const Node& norm = graph.node(id);
  if (norm.op != OpKind::kLayerNormalization ||
      std::get<NormalizationParams>(norm.params).has_skip) {
    return false;
  }
  const ValueId sum = norm.inputs[0];
  const Node* add = MadeBy(graph, sum, OpKind::kAdd);
  if (add == nullptr || graph.only_reader(sum) != id ||
      !AreAlike(graph, add->inputs[0], sum) ||
      !AreAlike(graph, add->inputs[1], sum)) {
    return false;
  }
  Node fused = norm;
  std::get<NormalizationParams>(fused.params).has_skip = true;
  fused.inputs[0] = add->inputs[0];
  fused.inputs.resize(kSkip + 1, kNoValue);
  fused.inputs[kSkip] = add->inputs[1];
  fused.own_input_count = kSkip + 1;
  if (!context.HasKernel(fused)) return false;
  graph.Fuse({graph.producer(sum), id}, std::move(fused));
  return true;
}

}  // namespace

int FuseSkipNorm(PassContext& context) {
  int count = 0;
  for (NodeId id : context.graph.nodes()) {
    if (context.graph.is_live(id) && TakeSum(context, id)) ++count;
  }
  return count;
}

}  // namespace tensord
