#include "backends/cpu/kernels/byte_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace tensord {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A value of the expression as a sum of its inputs; clamped once it has bounds,
// behind which only bounds may follow.
struct Sum {
  std::vector<double> factors;  // by input
  double constant = 0;
  double low = -kInfinity;
  double high = kInfinity;

  bool is_clamped() const { return std::isfinite(low) || std::isfinite(high); }
  bool is_number() const {
    return std::all_of(factors.begin(), factors.end(),
                       [](double factor) { return factor == 0; });
  }
};

Sum Plus(Sum a, const Sum& b, double sign) {
  for (size_t i = 0; i < a.factors.size(); ++i) {
    a.factors[i] += sign * b.factors[i];
  }
  a.constant += sign * b.constant;
  return a;
}

Sum Times(Sum a, double number) {
  for (double& factor : a.factors) factor *= number;
  a.constant *= number;
  return a;
}

Sum Clamped(Sum a, double low, double high) {
  // Of bounds that cross, the upper one holds, as in Clip.
  a.low = std::min(std::max(a.low, low), high);
  a.high = std::min(std::max(a.high, low), high);
  return a;
}

std::optional<Sum> BoundedBy(const Sum& a, const Sum& b, OpKind op) {
  const Sum& number = b.is_number() ? b : a;
  const Sum& value = b.is_number() ? a : b;
  if (!number.is_number() || number.is_clamped()) return std::nullopt;
  return op == OpKind::kMax ? Clamped(value, number.constant, kInfinity)
                            : Clamped(value, -kInfinity, number.constant);
}

// Bounds go along with what keeps the order of numbers.
std::optional<Sum> Moved(Sum a, OpKind op, double number) {
  const auto change = [&](double factor, double shift) {
    a = Times(std::move(a), factor);
    a.constant += shift;
    a.low = a.low * factor + shift;
    a.high = a.high * factor + shift;
    return a;
  };
  if (op == OpKind::kAdd) return change(1, number);
  if (op == OpKind::kSub) return change(1, -number);
  if (!(number > 0) || !std::isfinite(number)) return std::nullopt;
  if (op == OpKind::kMul) return change(number, 0);
  if (op == OpKind::kDiv) return change(1 / number, 0);
  return std::nullopt;
}

std::optional<Sum> Combined(const Sum& a, const Sum& b, OpKind op) {
  if (op == OpKind::kMax || op == OpKind::kMin) return BoundedBy(a, b, op);
  if (b.is_clamped()) return std::nullopt;
  if (a.is_clamped()) {
    return b.is_number() ? Moved(a, op, b.constant) : std::nullopt;
  }
  switch (op) {
    case OpKind::kAdd:
      return Plus(a, b, 1);
    case OpKind::kSub:
      return Plus(a, b, -1);
    case OpKind::kMul:
      if (b.is_number()) return Times(a, b.constant);
      if (a.is_number()) return Times(b, a.constant);
      return std::nullopt;
    case OpKind::kDiv:
      if (!b.is_number() || b.constant == 0) return std::nullopt;
      return Times(a, 1 / b.constant);
    default:
      return std::nullopt;
  }
}

std::optional<Sum> Apply(const ExpressionStep& step,
                         const std::vector<Sum>& values) {
  const Sum& a = values[step.operands[0]];
  if (step.op == OpKind::kRelu) return Clamped(a, 0, kInfinity);
  if (step.op == OpKind::kClip) {
    return Clamped(a, step.parameters[0], step.parameters[1]);
  }
  if (step.operands[1] == ExpressionStep::kNoOperand) return std::nullopt;
  return Combined(a, values[step.operands[1]], step.op);
}

}  // namespace

std::optional<LinearExpression> LinearExpressionOf(
    const Expression& expression) {
  constexpr int kMaxInputs = 2;
  if (expression.input_count > kMaxInputs || expression.steps.empty()) {
    return std::nullopt;
  }
  std::vector<Sum> values;
  for (int i = 0; i < expression.input_count; ++i) {
    values.push_back({.factors = std::vector<double>(expression.input_count)});
    values.back().factors[i] = 1;
  }
  for (double constant : expression.constants) {
    values.push_back({.factors = std::vector<double>(expression.input_count),
                      .constant = constant});
  }
  for (const ExpressionStep& step : expression.steps) {
    std::optional<Sum> value = Apply(step, values);
    if (!value.has_value()) return std::nullopt;
    values.push_back(*std::move(value));
  }
  const Sum& sum = values.back();
  LinearExpression result{
      .constant = sum.constant, .low = sum.low, .high = sum.high};
  bool is_finite = std::isfinite(sum.constant);
  for (int i = 0; i < expression.input_count; ++i) {
    result.inputs[i] = i;
    result.factors[i] = sum.factors[i];
    is_finite = is_finite && std::isfinite(sum.factors[i]);
  }
  if (!is_finite || std::isnan(sum.low) || std::isnan(sum.high)) {
    return std::nullopt;
  }
  return result;
}

}  // namespace tensord
