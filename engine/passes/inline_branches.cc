#include "engine/passes/inline_branches.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace tensord {
namespace {

class Inliner {
 public:
  Inliner(const Graph& graph, absl::Span<const TakenBranch> taken)
      : graph_(graph), taken_(taken) {}

  Inlined Run() {
    Graph& out = result_.graph;
    out.name = graph_.name;
    out.values = graph_.values;
    out.inputs = graph_.inputs;
    out.outputs = graph_.outputs;
    out.symbols = graph_.symbols;
    size_t next = 0;
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      const auto id = static_cast<NodeId>(n);
      if (next < taken_.size() && taken_[next].node == id) {
        Expand(taken_[next++]);
      } else {
        Append(graph_.nodes[n], id);
      }
    }
    return std::move(result_);
  }

 private:
  void Append(Node node, NodeId origin) {
    const auto id = static_cast<NodeId>(result_.graph.nodes.size());
    for (ValueId output : node.outputs) {
      if (output != kNoValue) result_.graph.values[output].producer = id;
    }
    result_.graph.nodes.push_back(std::move(node));
    result_.origin.push_back(origin);
  }

  void Expand(const TakenBranch& branch) {
    const Node& node = graph_.nodes[branch.node];
    const Graph& body = *node.bodies[branch.body].graph;
    const std::vector<ValueId> ids = PlaceValues(branch);
    for (const Node& inner : body.nodes) {
      Node copy = inner;
      for (std::vector<ValueId>* operands : {&copy.inputs, &copy.outputs}) {
        for (ValueId& operand : *operands) {
          if (operand != kNoValue) operand = ids[operand];
        }
      }
      Append(std::move(copy), branch.node);
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const ValueId source = ids[body.outputs[i]];
      if (node.outputs[i] == kNoValue || source == node.outputs[i]) continue;
      // A capture, a constant, or what another output is already.
      Node pass_on;
      pass_on.name = absl::StrCat(node.name, "/output", i);
      pass_on.op = OpKind::kIdentity;
      pass_on.params = NoParams{};
      pass_on.inputs = {source};
      pass_on.outputs = {node.outputs[i]};
      Append(std::move(pass_on), branch.node);
    }
  }

  // Where each value of the branch is in the graph: a capture is what the If
  // was given, a result is the If's output, and the rest is new.
  std::vector<ValueId> PlaceValues(const TakenBranch& branch) {
    const Node& node = graph_.nodes[branch.node];
    const Graph& body = *node.bodies[branch.body].graph;
    std::vector<ValueId> ids(body.values.size(), kNoValue);
    size_t captured = node.own_input_count;
    for (int b = 0; b < branch.body; ++b) {
      captured += node.bodies[b].captured_count;
    }
    for (size_t i = 0; i < body.inputs.size(); ++i) {
      ids[body.inputs[i]] = node.inputs[captured + i];
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const ValueId source = body.outputs[i];
      if (ids[source] == kNoValue && !body.value(source).is_input &&
          body.value(source).producer != kNoNode) {
        ids[source] = node.outputs[i];
      }
    }
    for (size_t v = 0; v < ids.size(); ++v) {
      if (ids[v] != kNoValue || body.values[v].is_input) continue;
      ids[v] = static_cast<ValueId>(result_.graph.values.size());
      Value value = body.values[v];
      value.name = absl::StrCat(node.name, "/", value.name);
      value.producer = kNoNode;
      if (!value.constant.is_present()) value.type = TensorType();
      result_.graph.values.push_back(std::move(value));
    }
    return ids;
  }

  const Graph& graph_;
  const absl::Span<const TakenBranch> taken_;
  Inlined result_;
};

}  // namespace

std::optional<TakenBranch> BranchFor(const Graph& graph, NodeId node_id,
                                     const HostTensor& condition) {
  const Node& node = graph.nodes[node_id];
  if (node.op != OpKind::kIf || condition.dtype() != DType::kBool ||
      condition.shape().element_count() != 1) {
    return std::nullopt;
  }
  const int index = condition.bytes()[0] != std::byte{0} ? 0 : 1;
  const Body& body = node.bodies[index];
  const bool fits =
      body.graph->outputs.size() >= node.outputs.size() &&
      body.graph->inputs.size() == static_cast<size_t>(body.captured_count);
  if (!fits) return std::nullopt;
  return TakenBranch{node_id, index};
}

std::vector<TakenBranch> KnownBranches(const Graph& graph,
                                       const Inference& inference) {
  std::vector<TakenBranch> known;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    if (node.op != OpKind::kIf || node.inputs[0] == kNoValue) continue;
    const HostTensor& condition = inference.constants[node.inputs[0]];
    if (!condition.is_present()) continue;
    const std::optional<TakenBranch> branch =
        BranchFor(graph, static_cast<NodeId>(n), condition);
    if (branch.has_value()) known.push_back(*branch);
  }
  return known;
}

Inlined InlineBranches(const Graph& graph,
                       absl::Span<const TakenBranch> taken) {
  return Inliner(graph, taken).Run();
}

}  // namespace tensord
