#include "engine/passes/expression_step.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <variant>

#include "backends/api/float16.h"

namespace tensord {
namespace {

bool IsFloating(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat64 ||
         dtype == DType::kFloat16 || dtype == DType::kBFloat16;
}

template <typename T>
std::optional<double> ScalarAs(const HostTensor& tensor) {
  T value;
  std::memcpy(&value, tensor.bytes().data(), sizeof value);
  const auto number = static_cast<double>(value);
  if constexpr (std::is_same_v<T, int64_t>) {
    constexpr int64_t kExact = int64_t{1} << 53;
    if (value > kExact || value < -kExact) return std::nullopt;
  }
  return number;
}

std::optional<double> NumberOf(const HostTensor& tensor) {
  if (!tensor.is_present() || tensor.shape().element_count() != 1) {
    return std::nullopt;
  }
  switch (tensor.dtype()) {
    case DType::kFloat32:
      return ScalarAs<float>(tensor);
    case DType::kFloat64:
      return ScalarAs<double>(tensor);
    case DType::kFloat16:
      return ScalarAs<Float16>(tensor);
    case DType::kBFloat16:
      return ScalarAs<BFloat16>(tensor);
    case DType::kInt32:
      return ScalarAs<int32_t>(tensor);
    case DType::kInt64:
      return ScalarAs<int64_t>(tensor);
    default:
      return std::nullopt;
  }
}

int RankOf(const Inference& inference, ValueId value) {
  const auto& shape = inference.types[value].shape;
  return shape.has_value() ? static_cast<int>(shape->size()) : 0;
}

// Clip's bounds are its inputs 1 and 2, or 3 and 4, which were attributes; one
// that is absent is the widest.
bool ReadBounds(const Node& node, const Inference& inference,
                ExpressionStep& step) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  step.parameters = {-kInfinity, kInfinity};
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == kNoValue) continue;
    const std::optional<double> bound = KnownScalar(inference, node.inputs[i]);
    if (!bound.has_value()) return false;
    step.parameters[(i - 1) % 2] = *bound;
  }
  return true;
}

// A square is a product. An exponent of another dtype must become a constant of
// the expression, so the base alone has to give the result its shape.
bool ReadPower(const Node& node, const Inference& inference,
               ElementwiseStep& result) {
  const ValueId base = node.inputs[0];
  const ValueId exponent = node.inputs[1];
  const std::optional<double> number = KnownScalar(inference, exponent);
  const bool is_inside = number.has_value() &&
                         !KnownScalar(inference, base).has_value() &&
                         RankOf(inference, exponent) <= RankOf(inference, base);
  if (is_inside && *number == 2) {
    result.step.op = OpKind::kMul;
    result.operand_inputs = {0, 0};
    return true;
  }
  return is_inside ||
         inference.types[base].dtype == inference.types[exponent].dtype;
}

// The step's operator, operands and parameters; false for what is no step.
bool ReadStep(const Node& node, const Inference& inference,
              ElementwiseStep& result) {
  ExpressionStep& step = result.step;
  step.op = node.op;
  const bool has_two = node.inputs.size() == 2 && node.inputs[0] != kNoValue &&
                       node.inputs[1] != kNoValue;
  switch (node.op) {
    case OpKind::kAbs:
    case OpKind::kAcos:
    case OpKind::kAcosh:
    case OpKind::kAsin:
    case OpKind::kAsinh:
    case OpKind::kAtan:
    case OpKind::kAtanh:
    case OpKind::kCeil:
    case OpKind::kCos:
    case OpKind::kCosh:
    case OpKind::kErf:
    case OpKind::kExp:
    case OpKind::kFloor:
    case OpKind::kHardSwish:
    case OpKind::kLog:
    case OpKind::kMish:
    case OpKind::kNeg:
    case OpKind::kReciprocal:
    case OpKind::kRelu:
    case OpKind::kRound:
    case OpKind::kSigmoid:
    case OpKind::kSign:
    case OpKind::kSin:
    case OpKind::kSinh:
    case OpKind::kSoftplus:
    case OpKind::kSoftsign:
    case OpKind::kSqrt:
    case OpKind::kTan:
    case OpKind::kTanh:
      return true;
    case OpKind::kCelu:
    case OpKind::kElu:
    case OpKind::kLeakyRelu:
    case OpKind::kSwish:
    case OpKind::kThresholdedRelu:
      step.parameters[0] = std::get<AlphaParams>(node.params).alpha;
      return true;
    case OpKind::kHardSigmoid: {
      const auto& params = std::get<HardSigmoidParams>(node.params);
      step.parameters = {params.alpha, params.beta};
      return true;
    }
    case OpKind::kSelu: {
      const auto& params = std::get<SeluParams>(node.params);
      step.parameters = {params.alpha, params.gamma};
      return true;
    }
    case OpKind::kGelu:
      step.parameters[0] =
          std::get<GeluParams>(node.params).approximates_by_tanh ? 1 : 0;
      return true;
    case OpKind::kClip:
      return ReadBounds(node, inference, step);
    case OpKind::kAdd:
    case OpKind::kDiv:
    case OpKind::kMul:
    case OpKind::kSub:
    case OpKind::kPRelu:
    case OpKind::kMax:
    case OpKind::kMin:
      result.operand_count = 2;
      return has_two;
    case OpKind::kSum:
      step.op = OpKind::kAdd;
      result.operand_count = 2;
      return has_two;
    case OpKind::kPow:
      result.operand_count = 2;
      return has_two && ReadPower(node, inference, result);
    default:
      return false;
  }
}

}  // namespace

std::optional<double> KnownScalar(const Inference& inference, ValueId value) {
  return value == kNoValue ? std::nullopt
                           : NumberOf(inference.constants[value]);
}

std::optional<ElementwiseStep> ElementwiseStepOf(const Node& node,
                                                 const Inference& inference) {
  if (node.outputs.size() != 1 || node.inputs.empty() ||
      node.inputs[0] == kNoValue) {
    return std::nullopt;
  }
  const TensorType& type = inference.types[node.outputs[0]];
  const DType dtype = type.dtype;
  if (!type.shape.has_value() || !IsFloating(dtype) ||
      inference.types[node.inputs[0]].dtype != dtype) {
    return std::nullopt;
  }
  ElementwiseStep result;
  result.step.operands.fill(ExpressionStep::kNoOperand);
  if (!ReadStep(node, inference, result)) return std::nullopt;
  return result;
}

std::optional<ElementwiseExpression> ExpressionOf(const Node& node,
                                                  const Inference& inference) {
  if (node.op == OpKind::kElementwiseChain) {
    return ElementwiseExpression{std::get<Expression>(node.params),
                                 node.inputs};
  }
  const std::optional<ElementwiseStep> found =
      ElementwiseStepOf(node, inference);
  if (!found.has_value()) return std::nullopt;
  ElementwiseExpression result;
  ExpressionStep step = found->step;
  for (int k = 0; k < found->operand_count; ++k) {
    const ValueId input = node.inputs[found->operand_inputs[k]];
    const auto known =
        std::find(result.inputs.begin(), result.inputs.end(), input);
    step.operands[k] = static_cast<int32_t>(known - result.inputs.begin());
    if (known == result.inputs.end()) result.inputs.push_back(input);
  }
  result.expression.input_count = static_cast<int32_t>(result.inputs.size());
  result.expression.steps = {step};
  if (result.inputs.size() < 2) return result;
  // A number that does not give the result its shape is no input.
  for (int k = 0; k < 2; ++k) {
    const std::optional<double> number =
        KnownScalar(inference, result.inputs[k]);
    if (!number.has_value() ||
        KnownScalar(inference, result.inputs[1 - k]).has_value() ||
        RankOf(inference, result.inputs[k]) >
            RankOf(inference, result.inputs[1 - k])) {
      continue;
    }
    result.inputs = {result.inputs[1 - k]};
    result.expression.input_count = 1;
    result.expression.constants = {*number};
    result.expression.steps[0].operands[k] = 1;
    result.expression.steps[0].operands[1 - k] = 0;
    break;
  }
  return result;
}

}  // namespace tensord
