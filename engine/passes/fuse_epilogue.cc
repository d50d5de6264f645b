#include "engine/passes/fuse_epilogue.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "backends/api/expression.h"
#include "engine/ops/op_def.h"
#include "engine/ops/op_table.h"
#include "engine/passes/expression_step.h"
#include "engine/passes/node_query.h"

namespace tensord {
namespace {

// `second`, whose input `at` is the result of `first`. The inputs of `first`
// keep their numbers among the `input_count` of both; those of `second` get the
// numbers in `second_inputs`.
Expression Compose(const Expression& first, const Expression& second,
                   int32_t at, int32_t input_count,
                   absl::Span<const int32_t> second_inputs) {
  Expression result;
  result.input_count = input_count;
  result.constants = first.constants;
  result.constants.insert(result.constants.end(), second.constants.begin(),
                          second.constants.end());
  const auto first_constants = static_cast<int32_t>(first.constants.size());
  const auto first_steps = static_cast<int32_t>(first.steps.size());
  const int32_t constant = input_count;
  const int32_t step = result.FirstStepValue();

  const auto append = [&](const Expression& from, auto number_of) {
    for (ExpressionStep taken : from.steps) {
      for (int32_t& operand : taken.operands) {
        if (operand != ExpressionStep::kNoOperand) operand = number_of(operand);
      }
      result.steps.push_back(taken);
    }
  };
  append(first, [&](int32_t value) {
    if (value < first.input_count) return value;
    if (value < first.FirstStepValue()) {
      return constant + value - first.input_count;
    }
    return step + value - first.FirstStepValue();
  });
  const int32_t first_result = first_steps == 0 ? 0 : step + first_steps - 1;
  append(second, [&](int32_t value) {
    if (value == at) return first_result;
    if (value < second.input_count) return second_inputs[value];
    if (value < second.FirstStepValue()) {
      return constant + first_constants + value - second.input_count;
    }
    return step + first_steps + value - second.FirstStepValue();
  });
  return result;
}

// Whether steps behind the epilogue see what they see behind the node. A chain
// of 8-bit integers rounds and saturates at its end, which more steps behind it
// would leave out, unless it only chooses among integers.
bool MayContinue(const Epilogue& epilogue, DType dtype) {
  if (dtype != DType::kInt8 && dtype != DType::kUInt8) return true;
  const auto& steps = epilogue.expression.steps;
  return std::all_of(steps.begin(), steps.end(), [](const auto& step) {
    return step.op == OpKind::kMax || step.op == OpKind::kMin;
  });
}

class EpilogueFuser {
 public:
  explicit EpilogueFuser(PassContext& context)
      : context_(context), graph_(context.graph) {}

  int Fuse() {
    int count = 0;
    for (NodeId id : graph_.nodes()) {
      if (!graph_.is_live(id)) continue;
      NodeId anchor = id;
      while ((anchor = TakeReader(anchor)) != kNoNode) ++count;
    }
    return count;
  }

 private:
  // The node with what reads it taken in; kNoNode where that is not possible.
  NodeId TakeReader(NodeId id) {
    const Node& anchor = graph_.node(id);
    if (anchor.outputs.size() != 1 || IsView(anchor) ||
        graph_.is_output(anchor.outputs[0]) ||
        ExpressionOf(anchor, graph_.inference()).has_value()) {
      return kNoNode;
    }
    const ValueId result = anchor.outputs[0];
    const std::vector<NodeId> readers = graph_.readers(result);
    if (readers.size() != 1) return kNoNode;
    const Node& reader = graph_.node(readers[0]);
    const auto steps = ExpressionOf(reader, graph_.inference());
    if (!steps.has_value() || !AreAlike(graph_, result, reader.outputs[0])) {
      return kNoNode;
    }
    std::optional<Node> fused = Fused(anchor, *steps);
    if (!fused.has_value()) return kNoNode;
    fused->outputs = reader.outputs;
    const KernelEntry* kernel = context_.Kernel(anchor);
    if (kernel == nullptr || context_.Kernel(*fused) != kernel) return kNoNode;
    return graph_.Fuse({id, readers[0]}, *std::move(fused));
  }

  // The anchor with the steps behind its epilogue, if it has one.
  std::optional<Node> Fused(const Node& anchor,
                            const ElementwiseExpression& steps) const {
    const ValueId result = anchor.outputs[0];
    Node node = anchor;
    Epilogue epilogue;
    if (anchor.params.epilogue != nullptr) {
      epilogue = *anchor.params.epilogue;
      if (!MayContinue(epilogue, graph_.type(result).dtype)) {
        return std::nullopt;
      }
    } else {
      const OpDef* def = FindOpDef(anchor.op);
      if (def == nullptr || def->max_inputs >= OpDef::kVariadic) {
        return std::nullopt;
      }
      epilogue.own_input_count = def->max_inputs;
      epilogue.expression.input_count = 1;
      node.inputs.resize(epilogue.own_input_count, kNoValue);
    }
    // Input 0 is the result itself; input i the node's own_input_count + i - 1.
    std::vector<int32_t> numbers;
    int32_t at = 0;
    for (ValueId input : steps.inputs) {
      if (input == result) {
        at = static_cast<int32_t>(numbers.size());
        numbers.push_back(0);
        continue;
      }
      if (!Broadcasts(input, result)) return std::nullopt;
      const auto first = node.inputs.begin() + epilogue.own_input_count;
      auto found = std::find(first, node.inputs.end(), input);
      numbers.push_back(static_cast<int32_t>(found - first) + 1);
      if (found == node.inputs.end()) node.inputs.push_back(input);
    }
    epilogue.expression = Compose(
        epilogue.expression, steps.expression, at,
        static_cast<int32_t>(node.inputs.size()) - epilogue.own_input_count + 1,
        numbers);
    if (AssignPlaces(epilogue.expression).count > kMaxFusedPlaces) {
      return std::nullopt;
    }
    node.own_input_count = static_cast<int>(node.inputs.size());
    node.params.epilogue =
        std::make_shared<const Epilogue>(std::move(epilogue));
    return node;
  }

  bool Broadcasts(ValueId input, ValueId result) const {
    const TensorType& from = graph_.type(input);
    const TensorType& to = graph_.type(result);
    if (from.dtype != to.dtype || !from.shape.has_value() ||
        from.shape->size() > to.shape->size()) {
      return false;
    }
    const size_t skipped = to.shape->size() - from.shape->size();
    for (size_t d = 0; d < from.shape->size(); ++d) {
      const Dim own = (*from.shape)[d];
      if (own != Dim::Known(1) && own != (*to.shape)[skipped + d]) return false;
    }
    return true;
  }

  PassContext& context_;
  GraphEditor& graph_;
};

}  // namespace

int FuseEpilogue(PassContext& context) { return EpilogueFuser(context).Fuse(); }

}  // namespace tensord
