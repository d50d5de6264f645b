#include "engine/passes/fuse_elementwise.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "backends/api/expression.h"
#include "engine/passes/expression_step.h"
#include "engine/passes/hoist_views.h"

namespace tensord {
namespace {

// Operands of the result's shape that other nodes compute.
constexpr int64_t kMaxHeldOperands = 8;

// A longer chain becomes several.
constexpr size_t kMaxSteps = 2048;
// How far is looked at least where chains turned out to hold too much.
constexpr size_t kMinSteps = 64;

class ElementwiseFuser {
 public:
  explicit ElementwiseFuser(PassContext& context)
      : context_(context),
        graph_(context.graph),
        steps_(graph_.graph().nodes.size()) {}

  int Fuse() {
    const std::vector<NodeId> nodes = graph_.nodes();
    for (NodeId id : nodes) {
      steps_[id] = ElementwiseStepOf(graph_.node(id), graph_.inference());
    }
    // From the end, so that a chain reaches up from the node that nothing
    // element-wise follows.
    int chain_count = 0;
    for (size_t i = nodes.size(); i-- > 0;) {
      if (steps_[nodes[i]].has_value() && FuseChain(nodes[i])) ++chain_count;
    }
    return chain_count;
  }

 private:
  // The chain that ends in `last`.
  bool FuseChain(NodeId last) {
    // Each is there because all readers of its output come before it, so every
    // prefix is a chain too.
    std::vector<NodeId> nodes = ConnectedTo(last);
    const size_t found = nodes.size();
    while (nodes.size() > 1 && HoldsTooMuch(ExpressionOf(nodes), last)) {
      nodes.resize((nodes.size() + 1) / 2);
    }
    // What was cut off is found again by the next chain: that one looks less
    // far, so that all chains together take time in proportion to the graph.
    max_steps_ = nodes.size() < found ? std::max(kMinSteps, 4 * nodes.size())
                                      : std::min(kMaxSteps, 2 * max_steps_);
    if (nodes.size() < 2) return false;
    Node chain = NodeOf(nodes);
    if (!context_.HasKernel(chain)) return false;
    for (NodeId node : nodes) steps_[node].reset();
    graph_.Fuse(nodes, std::move(chain));
    return true;
  }

  std::vector<NodeId> ConnectedTo(NodeId last) const {
    const TensorType& type = graph_.type(OutputOf(last));
    absl::flat_hash_map<ValueId, int64_t> reads_inside;
    std::vector<NodeId> nodes = {last};
    for (size_t at = 0; at < nodes.size(); ++at) {
      // Every operand counts, Clip's bounds too: they are read by the chain.
      for (ValueId input : graph_.node(nodes[at]).inputs) {
        if (input == kNoValue) continue;
        if (++reads_inside[input] < graph_.read_count(input)) continue;
        if (nodes.size() < max_steps_ && IsInside(input, type)) {
          nodes.push_back(graph_.producer(input));
        }
      }
    }
    return nodes;
  }

  // Whether the producer of a value, all of whose readers are in a chain, may
  // be in it too.
  bool IsInside(ValueId value, const TensorType& type) const {
    const NodeId producer = graph_.producer(value);
    if (producer == kNoNode || !steps_[producer].has_value()) return false;
    const TensorType& own = graph_.type(value);
    return own.dtype == type.dtype && own.shape.has_value() &&
           own.shape == type.shape;
  }

  struct Chain {
    Expression expression;
    std::vector<ValueId> inputs;
  };

  // Whether a kernel would run out of places, or the chain, which stands where
  // its last node stood, would keep many computed operands alive until then: a
  // running sum needs two at a time.
  bool HoldsTooMuch(const Chain& chain, NodeId last) const {
    if (AssignPlaces(chain.expression).count > kMaxFusedPlaces) return true;
    const TensorType& type = graph_.type(OutputOf(last));
    const auto is_held = [&](ValueId input) {
      return graph_.producer(input) != kNoNode &&
             graph_.type(input).shape == type.shape;
    };
    return std::count_if(chain.inputs.begin(), chain.inputs.end(), is_held) >
           kMaxHeldOperands;
  }

  Chain ExpressionOf(std::vector<NodeId> nodes) const {
    std::sort(nodes.begin(), nodes.end(), [&](NodeId a, NodeId b) {
      return graph_.is_before(a, b);  // producers first
    });
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
        expression.constants.push_back(*Number(value));
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
    return graph_.node(node).inputs[steps_[node]->operand_inputs[k]];
  }

  std::optional<double> Number(ValueId value) const {
    return KnownScalar(graph_.inference(), value);
  }

  // Whether operand k is a number that the shape of the result does not depend
  // on, so that inference can do without it.
  bool IsConstant(NodeId node, int k) const {
    const ValueId value = Operand(node, k);
    if (!Number(value).has_value() || steps_[node]->operand_count != 2) {
      return false;
    }
    const ValueId other = Operand(node, 1 - k);
    return !Number(other).has_value() &&
           graph_.type(other).shape->size() >= graph_.type(value).shape->size();
  }

  template <typename Visit>
  void ForEachOperand(absl::Span<const NodeId> nodes, Visit visit) const {
    for (NodeId node : nodes) {
      for (int k = 0; k < steps_[node]->operand_count; ++k) visit(node, k);
    }
  }

  Node NodeOf(const std::vector<NodeId>& nodes) const {
    Chain chain = ExpressionOf(nodes);
    const Node& last = graph_.node(nodes.front());
    Node node;
    node.name = last.name;
    node.op = OpKind::kElementwiseChain;
    node.params = std::move(chain.expression);
    node.inputs = std::move(chain.inputs);
    node.own_input_count = static_cast<int>(node.inputs.size());
    node.outputs = last.outputs;
    return node;
  }

  ValueId OutputOf(NodeId node) const { return graph_.node(node).outputs[0]; }

  PassContext& context_;
  GraphEditor& graph_;
  std::vector<std::optional<ElementwiseStep>> steps_;  // by node
  size_t max_steps_ = kMaxSteps;
};

}  // namespace

int FuseElementwise(PassContext& context) {
  HoistViews(context.graph);
  return ElementwiseFuser(context).Fuse();
}

}  // namespace tensord
