#ifndef TENSORD_BACKENDS_CUDA_KERNELS_EXPRESSION_STEPS_H_
#define TENSORD_BACKENDS_CUDA_KERNELS_EXPRESSION_STEPS_H_

#include <math.h>

#include "backends/api/expression.h"
#include "backends/api/op_kind.h"
#include "backends/cuda/kernels/device.h"
#include "backends/cuda/kernels/is_expression_step.h"

// What the steps of an Expression compute of one element on the device. Number
// is float or double. The formulas are the ONNX standard's, in the forms that
// lose no digits and do not overflow where the value is in range. A NaN stays a
// NaN, except that it is not above ThresholdedRelu's alpha.
//
// Functions of one element, for kernels of their own as well. Only what
// <math.h> declares for both types is called, so that the host computes the
// same.
namespace tensord::cuda {

// 1 / (1 + e^-x); neither branch's exp() overflows.
template <typename Number>
__device__ inline Number Logistic(Number x) {
  const Number e = exp(-fabs(x));
  return x >= 0 ? 1 / (1 + e) : e / (1 + e);
}

// Comparisons with a NaN are false, so that it passes.
template <typename Number>
__device__ inline Number HeldBetween0And1(Number x) {
  return x < 0 ? Number{0} : x > 1 ? Number{1} : x;
}

// min(max(x, low), high); where low is above high, high wins.
template <typename Number>
__device__ inline Number Clip(Number x, Number low, Number high) {
  const Number raised = x < low ? low : x;
  return high < raised ? high : raised;
}

// erfc() keeps the digits that 1 + erf() would cancel where x is negative.
template <typename Number>
__device__ inline Number Gelu(Number x) {
  constexpr Number kSqrtHalf = 0.70710678118654752440;
  return x * (Number{0.5} * erfc(-x * kSqrtHalf));
}

// (1 + tanh(u)) / 2 is the logistic function of 2 * u.
template <typename Number>
__device__ inline Number GeluByTanh(Number x) {
  constexpr Number kSqrt8OverPi = 1.59576912160573071176;
  constexpr Number kCubic = 0.044715;
  return x * Logistic(kSqrt8OverPi * (x + kCubic * x * x * x));
}

// tanh(ln(1 + e^x)) is n / (n + 2) with n = e^x * (e^x + 2); for x > 0 both are
// multiplied by e^-2x, which leaves powers that cannot overflow.
template <typename Number>
__device__ inline Number Mish(Number x) {
  const Number e = exp(-fabs(x));
  const Number n = x > 0 ? 1 + 2 * e : e * (e + 2);
  return x * (n / (n + (x > 0 ? 2 * e * e : 2)));
}

// Of a NaN, NaN; of -0.0, 0.
template <typename Number>
__device__ inline Number Sign(Number x) {
  return isnan(x) ? x : static_cast<Number>((x > 0) - (x < 0));
}

// The larger (smaller) of two, NaN where either is.
template <typename Number>
__device__ inline Number Largest(Number x, Number y) {
  return x > y || isnan(x) ? x : y;
}
template <typename Number>
__device__ inline Number Least(Number x, Number y) {
  return x < y || isnan(x) ? x : y;
}

// One step's value of x and, for an operator of two, y; alpha and beta are
// ExpressionStep::parameters. The operator is the same for all threads of a
// warp, so that the switch costs a jump. Not inlined: pow() and its like would
// be in every kernel once more.
template <typename Number>
__device__ __noinline__ Number EvaluateStep(OpKind op, Number x, Number y,
                                            Number alpha, Number beta) {
  switch (op) {
    case OpKind::kAbs:
      return fabs(x);
    case OpKind::kAcos:
      return acos(x);
    case OpKind::kAcosh:
      return acosh(x);
    case OpKind::kAdd:
      return x + y;
    case OpKind::kAsin:
      return asin(x);
    case OpKind::kAsinh:
      return asinh(x);
    case OpKind::kAtan:
      return atan(x);
    case OpKind::kAtanh:
      return atanh(x);
    case OpKind::kCeil:
      return ceil(x);
    case OpKind::kCelu:
      return x >= 0 ? x : alpha * expm1(x / alpha);
    case OpKind::kClip:
      return Clip(x, alpha, beta);
    case OpKind::kCos:
      return cos(x);
    case OpKind::kCosh:
      return cosh(x);
    case OpKind::kDiv:
      return x / y;
    case OpKind::kElu:
      return x >= 0 ? x : alpha * expm1(x);
    case OpKind::kErf:
      return erf(x);
    case OpKind::kExp:
      return exp(x);
    case OpKind::kFloor:
      return floor(x);
    case OpKind::kGelu:
      return alpha != 0 ? GeluByTanh(x) : Gelu(x);
    case OpKind::kHardSigmoid:
      return HeldBetween0And1(alpha * x + beta);
    case OpKind::kHardSwish:
      return x * HeldBetween0And1(x / 6 + Number{0.5});
    case OpKind::kLeakyRelu:
      return x < 0 ? alpha * x : x;
    case OpKind::kLog:
      return log(x);
    case OpKind::kMax:
      return Largest(x, y);
    case OpKind::kMin:
      return Least(x, y);
    case OpKind::kMish:
      return Mish(x);
    case OpKind::kMul:
      return x * y;
    case OpKind::kNeg:
      return -x;
    case OpKind::kPRelu:
      return x < 0 ? y * x : x;
    case OpKind::kPow:
      return pow(x, y);
    case OpKind::kReciprocal:
      return 1 / x;
    case OpKind::kRelu:
      return x < 0 ? Number{0} : x;
    case OpKind::kRound:
      return nearbyint(x);
    case OpKind::kSelu:
      return beta * (x > 0 ? x : alpha * expm1(x));
    case OpKind::kSigmoid:
      return Logistic(x);
    case OpKind::kSign:
      return Sign(x);
    case OpKind::kSin:
      return sin(x);
    case OpKind::kSinh:
      return sinh(x);
    case OpKind::kSoftplus:
      return (x > 0 ? x : 0) + log1p(exp(-fabs(x)));
    case OpKind::kSoftsign:
      return x / (1 + fabs(x));
    case OpKind::kSqrt:
      return sqrt(x);
    case OpKind::kSub:
      return x - y;
    case OpKind::kSwish:
      return x * Logistic(alpha * x);
    case OpKind::kTan:
      return tan(x);
    case OpKind::kTanh:
      return tanh(x);
    case OpKind::kThresholdedRelu:
      return x > alpha ? x : Number{0};
    default:  // IsExpressionStep() has said no
      return x;
  }
}

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_KERNELS_EXPRESSION_STEPS_H_
