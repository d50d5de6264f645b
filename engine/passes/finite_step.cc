#include "engine/passes/finite_step.h"

#include <algorithm>
#include <cmath>

namespace tensord {
namespace {

// Well within float32.
constexpr double kMost = 1e30;

// NaN for what may be none.
double LargestOf(const ExpressionStep& step, const FiniteOperand& a,
                 const FiniteOperand& b) {
  const double p = std::abs(step.parameters[0]);
  const double q = std::abs(step.parameters[1]);
  switch (step.op) {
    case OpKind::kSigmoid:
    case OpKind::kSign:
    case OpKind::kTanh:
    case OpKind::kErf:
    case OpKind::kSoftsign:
    case OpKind::kHardSigmoid:  // p and q are checked to be finite
      return 1;
    case OpKind::kAtan:
      return 2;
    case OpKind::kAbs:
    case OpKind::kNeg:
    case OpKind::kRelu:
    case OpKind::kRound:
    case OpKind::kGelu:
    case OpKind::kHardSwish:
    case OpKind::kMish:
    case OpKind::kSwish:
    case OpKind::kThresholdedRelu:
      return a.largest;
    case OpKind::kCeil:
    case OpKind::kFloor:
    case OpKind::kSoftplus:
      return a.largest + 1;
    case OpKind::kLeakyRelu:
      return a.largest * std::max(1.0, p);
    case OpKind::kElu:
      return std::max(a.largest, p);
    case OpKind::kSelu:
      return std::max(a.largest, p) * std::max(1.0, q);
    case OpKind::kAdd:
    case OpKind::kSub:
      return a.largest + b.largest;
    case OpKind::kMul:
      return a.largest * b.largest;
    case OpKind::kPRelu:
      return a.largest * std::max(1.0, b.largest);
    case OpKind::kMax:
    case OpKind::kMin:
      return std::max(a.largest, b.largest);
    case OpKind::kDiv:
      if (b.number.has_value() && *b.number != 0) {
        return a.largest / std::abs(*b.number);
      }
      return NAN;
    default:
      return NAN;
  }
}

// Bounds may be infinite on their side.
double LargestClipped(const ExpressionStep& step, const FiniteOperand& a) {
  const double low = step.parameters[0];
  const double high = step.parameters[1];
  if (!(low <= high)) return NAN;
  double largest = a.largest;
  if (low > -a.largest) largest = std::max(largest, std::abs(low));
  if (high < a.largest) largest = std::max(largest, std::abs(high));
  return largest;
}

}  // namespace

std::optional<double> LargestResultOf(const ExpressionStep& step,
                                      const FiniteOperand& a,
                                      const FiniteOperand& b) {
  if (!(a.largest <= kMost) || !(b.largest <= kMost)) return std::nullopt;
  double largest = NAN;
  if (step.op == OpKind::kClip) {
    largest = LargestClipped(step, a);
  } else if (std::abs(step.parameters[0]) <= kMost &&
             std::abs(step.parameters[1]) <= kMost) {
    largest = LargestOf(step, a, b);
  }
  // Not for NaN.
  if (largest <= kMost) return largest;
  return std::nullopt;
}

}  // namespace tensord
