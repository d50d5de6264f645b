#include "engine/passes/quantized_chain.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "engine/passes/expression_step.h"
#include "engine/passes/finite_step.h"

namespace tensord {
namespace {

// Nodes between two quantizations are few; more are found by the next one.
constexpr size_t kMaxSteps = 64;

class ChainBuilder {
 public:
  ChainBuilder(GraphEditor& graph, const Quantization& to)
      : graph_(graph), to_(to) {}

  std::optional<QuantizedChain> Build(NodeId quantize) {
    const Node& node = graph_.node(quantize);
    std::optional<Operand> value = ValueOf(node.inputs[0], quantize, 0);
    // A number is for the folder.
    if (!value.has_value() || value->kind == Kind::kConstant) {
      return std::nullopt;
    }
    value = Add(OpKind::kDiv, {*value, Constant(to_.scale)});
    if (to_.zero_point != 0) {
      value = Add(OpKind::kAdd, {*value, Constant(to_.zero_point)});
    }
    nodes_.push_back(quantize);
    if (!GiveShape(node.outputs[0])) return std::nullopt;
    QuantizedChain chain{Numbered(), inputs_, nodes_};
    if (AssignPlaces(chain.expression).count > kMaxFusedPlaces) {
      return std::nullopt;
    }
    return chain;
  }

 private:
  // A value of the expression before all inputs and constants are known, which
  // are numbered first.
  enum class Kind { kNone, kInput, kConstant, kStep };
  struct Operand {
    Kind kind = Kind::kNone;
    size_t index = 0;
    double largest = 0;  // its magnitude
  };
  struct Step {
    ExpressionStep step;
    std::array<Operand, 2> operands;
  };

  Operand Constant(double number) {
    constants_.push_back(number);
    return {Kind::kConstant, constants_.size() - 1, std::abs(number)};
  }

  Operand Add(OpKind op, std::array<Operand, 2> operands) {
    steps_.push_back({{.op = op, .operands = {}}, operands});
    return {Kind::kStep, steps_.size() - 1};
  }

  // `reader` is the node that needs it, `depth` nodes before the last. One node
  // may need a value twice: a square is a product.
  std::optional<Operand> ValueOf(ValueId value, NodeId reader, size_t depth) {
    const auto known = operands_.find(value);
    if (known != operands_.end()) return known->second;
    const std::optional<Operand> operand = NewValueOf(value, reader, depth);
    if (operand.has_value()) operands_.emplace(value, *operand);
    return operand;
  }

  std::optional<Operand> NewValueOf(ValueId value, NodeId reader,
                                    size_t depth) {
    if (const auto number = KnownScalar(graph_.inference(), value)) {
      return Constant(*number);
    }
    if (const auto quantized = QuantizedValueOf(graph_, value)) {
      return Dequantized(*quantized, value, reader);
    }
    const NodeId producer = graph_.producer(value);
    if (producer == kNoNode || graph_.only_reader(value) != reader ||
        graph_.type(value).dtype != DType::kFloat32) {
      return std::nullopt;
    }
    const auto step =
        ElementwiseStepOf(graph_.node(producer), graph_.inference());
    // Both are bounded: steps are counted on the way back.
    if (!step.has_value() || steps_.size() >= kMaxSteps || depth >= kMaxSteps) {
      return std::nullopt;
    }
    Step added{step->step, {}};
    for (int k = 0; k < step->operand_count; ++k) {
      const ValueId input =
          graph_.node(producer).inputs[step->operand_inputs[k]];
      const std::optional<Operand> operand =
          ValueOf(input, producer, depth + 1);
      if (!operand.has_value()) return std::nullopt;
      added.operands[k] = *operand;
    }
    const std::optional<double> largest = LargestResultOf(
        step->step, Finite(added.operands[0]), Finite(added.operands[1]));
    if (!largest.has_value()) return std::nullopt;
    nodes_.push_back(producer);
    steps_.push_back(added);
    return Operand{Kind::kStep, steps_.size() - 1, *largest};
  }

  FiniteOperand Finite(const Operand& operand) const {
    FiniteOperand finite{.largest = operand.largest};
    if (operand.kind == Kind::kConstant) {
      finite.number = constants_[operand.index];
    }
    return finite;
  }

  std::optional<Operand> Dequantized(const QuantizedValue& quantized,
                                     ValueId value, NodeId reader) {
    const Quantization& from = quantized.quantization;
    if (from.dtype != to_.dtype) return std::nullopt;
    if (graph_.only_reader(value) == reader) nodes_.push_back(quantized.node);
    const auto found =
        std::find(inputs_.begin(), inputs_.end(), quantized.integers);
    Operand operand{Kind::kInput, static_cast<size_t>(found - inputs_.begin())};
    if (found == inputs_.end()) inputs_.push_back(quantized.integers);
    if (from.zero_point != 0) {
      operand = Add(OpKind::kSub, {operand, Constant(from.zero_point)});
    }
    operand = Add(OpKind::kMul, {operand, Constant(from.scale)});
    operand.largest =
        double{from.scale} *
        std::max(from.zero_point - from.least(), from.most() - from.zero_point);
    return operand;
  }

  // Whether the inputs alone, broadcast, have the result's shape.
  bool GiveShape(ValueId result) const {
    const auto& shape = graph_.type(result).shape;
    bool is_whole = false;
    for (ValueId input : inputs_) {
      const auto& own = graph_.type(input).shape;
      if (!own.has_value() || own->size() > shape->size()) return false;
      is_whole = is_whole || own == shape;
      for (size_t d = 1; d <= own->size(); ++d) {
        const Dim dim = (*own)[own->size() - d];
        if (dim != Dim::Known(1) && dim != (*shape)[shape->size() - d]) {
          return false;
        }
      }
    }
    return is_whole;
  }

  Expression Numbered() const {
    Expression expression{.input_count = static_cast<int32_t>(inputs_.size()),
                          .constants = constants_};
    const auto number = [&](const Operand& operand) {
      const auto index = static_cast<int32_t>(operand.index);
      switch (operand.kind) {
        case Kind::kInput:
          return index;
        case Kind::kConstant:
          return expression.input_count + index;
        case Kind::kStep:
          return expression.FirstStepValue() + index;
        case Kind::kNone:
          break;
      }
      return ExpressionStep::kNoOperand;
    };
    for (const Step& step : steps_) {
      ExpressionStep numbered = step.step;
      for (int k = 0; k < 2; ++k) {
        numbered.operands[k] = number(step.operands[k]);
      }
      expression.steps.push_back(numbered);
    }
    return expression;
  }

  GraphEditor& graph_;
  const Quantization to_;
  std::vector<ValueId> inputs_;
  std::vector<double> constants_;
  std::vector<Step> steps_;
  std::vector<NodeId> nodes_;
  absl::flat_hash_map<ValueId, Operand> operands_;
};

}  // namespace

std::optional<QuantizedChain> QuantizedChainOf(GraphEditor& graph,
                                               NodeId quantize,
                                               const Quantization& to) {
  return ChainBuilder(graph, to).Build(quantize);
}

Expression BoundsExpression(const Quantization& quantization, int32_t least,
                            int32_t most) {
  Expression expression{.input_count = 1};
  if (least > quantization.least()) {
    expression.constants.push_back(least);
  }
  if (most < quantization.most()) expression.constants.push_back(most);
  int32_t value = 0;
  int32_t constant = expression.input_count;
  const auto add = [&](OpKind op) {
    const auto step = static_cast<int32_t>(expression.steps.size());
    expression.steps.push_back({op, {value, constant++}});
    value = expression.FirstStepValue() + step;
  };
  if (least > quantization.least()) add(OpKind::kMax);
  if (most < quantization.most()) add(OpKind::kMin);
  return expression;
}

}  // namespace tensord
