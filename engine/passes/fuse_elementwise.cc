#include "engine/passes/fuse_elementwise.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "backends/api/expression.h"
#include "engine/passes/expression_step.h"

namespace tensord {
namespace {

// A longer chain becomes several.
constexpr size_t kMaxSteps = 2048;
// How far is looked at least where chains turned out to hold too much.
constexpr size_t kMinSteps = 64;

// Results that a chain holds at once; each costs a kernel a block of scratch.
constexpr int32_t kMaxPlaces = 12;

class ElementwiseFuser {
 public:
  ElementwiseFuser(const Graph& graph, const Inference& inference,
                   absl::FunctionRef<bool(DType)> has_kernel)
      : source_(graph),
        inference_(inference),
        steps_(graph.nodes.size()),
        chain_of_(graph.nodes.size(), kNoChain),
        reader_count_(graph.values.size(), 0) {
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      steps_[i] = ElementwiseStepOf(graph.nodes[i], inference);
      if (steps_[i].has_value() &&
          !has_kernel(
              inference.types[OutputOf(static_cast<NodeId>(i))].dtype)) {
        steps_[i].reset();
      }
      for (ValueId input : graph.nodes[i].inputs) {
        if (input != kNoValue) ++reader_count_[input];
      }
    }
    // The client reads its outputs: they are never inside a chain.
    for (ValueId output : graph.outputs) ++reader_count_[output];
  }

  Graph Fuse() {
    // From the end, so that a chain reaches up from the node that nothing
    // element-wise follows.
    for (size_t i = source_.nodes.size(); i-- > 0;) {
      if (steps_[i].has_value() && chain_of_[i] == kNoChain) {
        FindChain(static_cast<NodeId>(i));
      }
    }
    return Rebuild();
  }

 private:
  static constexpr int32_t kNoChain = -1;

  // The nodes of the chain that ends in `last`.
  void FindChain(NodeId last) {
    // Each is there because all readers of its output come before it, so every
    // prefix is a chain too.
    std::vector<NodeId> nodes = ConnectedTo(last);
    const size_t found = nodes.size();
    while (nodes.size() > 1 &&
           AssignPlaces(ExpressionOf(nodes).expression).count > kMaxPlaces) {
      nodes.resize((nodes.size() + 1) / 2);
    }
    // What was cut off is found again by the next chain: that one looks less
    // far, so that all chains together take time in proportion to the graph.
    max_steps_ = nodes.size() < found ? std::max(kMinSteps, 4 * nodes.size())
                                      : std::min(kMaxSteps, 2 * max_steps_);
    if (nodes.size() < 2) return;
    const auto chain = static_cast<int32_t>(chains_.size());
    for (NodeId node : nodes) chain_of_[node] = chain;
    chains_.push_back(std::move(nodes));
  }

  std::vector<NodeId> ConnectedTo(NodeId last) const {
    const TensorType& type = inference_.types[OutputOf(last)];
    absl::flat_hash_map<ValueId, int32_t> reads_inside;
    std::vector<NodeId> nodes = {last};
    for (size_t at = 0; at < nodes.size(); ++at) {
      // Every operand counts, Clip's bounds too: they are read by the chain.
      for (ValueId input : source_.nodes[nodes[at]].inputs) {
        if (input == kNoValue) continue;
        if (++reads_inside[input] < reader_count_[input]) continue;
        if (nodes.size() < max_steps_ && IsInside(input, type)) {
          nodes.push_back(source_.value(input).producer);
        }
      }
    }
    return nodes;
  }

  // Whether the producer of a value, all of whose readers are in a chain, may
  // be in it too.
  bool IsInside(ValueId value, const TensorType& type) const {
    const NodeId producer = source_.value(value).producer;
    if (producer == kNoNode || !steps_[producer].has_value() ||
        chain_of_[producer] != kNoChain) {
      return false;
    }
    const TensorType& own = inference_.types[value];
    return own.dtype == type.dtype && own.shape.has_value() &&
           own.shape == type.shape;
  }

  struct Chain {
    Expression expression;
    std::vector<ValueId> inputs;
  };

  Chain ExpressionOf(std::vector<NodeId> nodes) const {
    std::sort(nodes.begin(), nodes.end());  // producers first
    Chain chain;
    absl::flat_hash_map<ValueId, int32_t> numbers;
    absl::flat_hash_map<ValueId, int32_t> results;
    for (size_t i = 0; i < nodes.size(); ++i) {
      results[OutputOf(nodes[i])] = static_cast<int32_t>(i);
    }
    ForEachOperand(nodes, [&](NodeId node, int k) {
      const ValueId value = Operand(node, k);
      if (results.contains(value) || IsConstant(node, k)) return;
      const auto number = static_cast<int32_t>(chain.inputs.size());
      if (numbers.try_emplace(value, number).second) {
        chain.inputs.push_back(value);
      }
    });
    // Constants are numbered behind the inputs; one that some step needs as an
    // input is an input for all.
    Expression& expression = chain.expression;
    expression.input_count = static_cast<int32_t>(chain.inputs.size());
    ForEachOperand(nodes, [&](NodeId node, int k) {
      const ValueId value = Operand(node, k);
      if (results.contains(value)) return;
      if (numbers.try_emplace(value, expression.FirstStepValue()).second) {
        expression.constants.push_back(*KnownScalar(inference_, value));
      }
    });
    for (const auto& [value, step] : results) {
      numbers[value] = expression.FirstStepValue() + step;
    }
    for (NodeId node : nodes) {
      ExpressionStep step = steps_[node]->step;
      for (int k = 0; k < steps_[node]->operand_count; ++k) {
        step.operands[k] = numbers[Operand(node, k)];
      }
      expression.steps.push_back(step);
    }
    return chain;
  }

  ValueId Operand(NodeId node, int k) const {
    return source_.nodes[node].inputs[steps_[node]->operand_inputs[k]];
  }

  // Whether operand k is a number that the shape of the result does not depend
  // on, so that inference can do without it.
  bool IsConstant(NodeId node, int k) const {
    const ValueId value = Operand(node, k);
    if (!KnownScalar(inference_, value).has_value()) return false;
    if (steps_[node]->operand_count != 2) return false;
    const ValueId other = Operand(node, 1 - k);
    return !KnownScalar(inference_, other).has_value() &&
           inference_.types[other].shape->size() >=
               inference_.types[value].shape->size();
  }

  template <typename Visit>
  void ForEachOperand(absl::Span<const NodeId> nodes, Visit visit) const {
    for (NodeId node : nodes) {
      for (int k = 0; k < steps_[node]->operand_count; ++k) visit(node, k);
    }
  }

  Node NodeOf(const std::vector<NodeId>& nodes) const {
    Chain chain = ExpressionOf(nodes);
    const Node& last = source_.nodes[nodes.front()];
    Node node;
    node.name = last.name;
    node.op = OpKind::kElementwiseChain;
    node.params = std::move(chain.expression);
    node.inputs = std::move(chain.inputs);
    node.outputs = last.outputs;
    std::vector<NodeId> in_order = nodes;
    std::sort(in_order.begin(), in_order.end());
    for (NodeId id : in_order) {
      node.fused_from.push_back(source_.nodes[id].name);
    }
    return node;
  }

  Graph Rebuild() const {
    Graph result = source_;
    result.nodes.clear();
    for (size_t i = 0; i < source_.nodes.size(); ++i) {
      const int32_t chain = chain_of_[i];
      const Node& node = source_.nodes[i];
      // A chain stands where its last node stood: behind all its inputs.
      const bool is_last =
          chain != kNoChain && chains_[chain].front() == static_cast<NodeId>(i);
      const NodeId id = chain == kNoChain || is_last
                            ? static_cast<NodeId>(result.nodes.size())
                            : kNoNode;
      for (ValueId output : node.outputs) result.values[output].producer = id;
      if (id == kNoNode) continue;
      result.nodes.push_back(is_last ? NodeOf(chains_[chain]) : node);
    }
    return result;
  }

  ValueId OutputOf(NodeId node) const { return source_.nodes[node].outputs[0]; }

  const Graph& source_;
  const Inference& inference_;
  std::vector<std::optional<ElementwiseStep>> steps_;  // by node
  std::vector<std::vector<NodeId>> chains_;            // the last node first
  std::vector<int32_t> chain_of_;                      // by node
  std::vector<int32_t> reader_count_;                  // by value
  size_t max_steps_ = kMaxSteps;
};

}  // namespace

Graph FuseElementwise(const Graph& graph, const Inference& inference,
                      absl::FunctionRef<bool(DType)> has_kernel) {
  return ElementwiseFuser(graph, inference, has_kernel).Fuse();
}

}  // namespace tensord
