#ifndef TENSORD_BACKENDS_CPU_KERNELS_ELEMENT_FUNCTIONS_H_
#define TENSORD_BACKENDS_CPU_KERNELS_ELEMENT_FUNCTIONS_H_

#include <cmath>

// Functions of one element that both an operator's own kernel and a chain's
// steps compute. T is float or double. Formulas are the ONNX standard's.
//
// A finite x gives a finite y wherever the formula's value is in range. A NaN
// stays a NaN, except that it is not above ThresholdedRelu's alpha. Where the
// formula multiplies an infinity by 0 or divides two, y is NaN, as elsewhere:
// Gelu, HardSwish, Mish, Softsign and Swish do so at infinities.
//
// Threading and ownership: pure functions.
namespace tensord {

// 1 / (1 + e^-x); neither branch's exp() overflows.
template <typename T>
T Logistic(T x) {
  const T e = std::exp(-std::abs(x));
  return x >= 0 ? 1 / (1 + e) : e / (1 + e);
}

// Comparisons with a NaN are false, so that it passes.
template <typename T>
T HeldBetween0And1(T x) {
  return x < 0 ? T{0} : x > 1 ? T{1} : x;
}

// min(max(x, low), high); where low is above high, high wins.
template <typename T>
T Clip(T x, T low, T high) {
  const T raised = x < low ? low : x;
  return high < raised ? high : raised;
}

template <typename T>
T Celu(T x, T alpha) {
  return x >= 0 ? x : alpha * std::expm1(x / alpha);
}

template <typename T>
T Elu(T x, T alpha) {
  return x >= 0 ? x : alpha * std::expm1(x);
}

// erfc() keeps the digits that 1 + erf() would cancel where x is negative.
template <typename T>
T Gelu(T x) {
  constexpr T kSqrtHalf = 0.70710678118654752440;
  return x * (T{0.5} * std::erfc(-x * kSqrtHalf));
}

// (1 + tanh(u)) / 2 is the logistic function of 2 * u.
template <typename T>
T GeluByTanh(T x) {
  constexpr T kSqrt8OverPi = 1.59576912160573071176;
  constexpr T kCubic = 0.044715;
  return x * Logistic(kSqrt8OverPi * (x + kCubic * x * x * x));
}

template <typename T>
T HardSigmoid(T x, T alpha, T beta) {
  return HeldBetween0And1(alpha * x + beta);
}

template <typename T>
T HardSwish(T x) {
  return x * HeldBetween0And1(x / 6 + T{0.5});
}

template <typename T>
T LeakyRelu(T x, T alpha) {
  return x < 0 ? alpha * x : x;
}

// tanh(ln(1 + e^x)) is n / (n + 2) with n = e^x * (e^x + 2); for x > 0 both are
// multiplied by e^-2x, which leaves powers that cannot overflow.
template <typename T>
T Mish(T x) {
  const T e = std::exp(-std::abs(x));
  const T n = x > 0 ? 1 + 2 * e : e * (e + 2);
  return x * (n / (n + (x > 0 ? 2 * e * e : 2)));
}

template <typename T>
T Relu(T x) {
  return x < 0 ? T{0} : x;
}

template <typename T>
T Selu(T x, T alpha, T gamma) {
  return gamma * (x > 0 ? x : alpha * std::expm1(x));
}

template <typename T>
T Softplus(T x) {
  return (x > 0 ? x : 0) + std::log1p(std::exp(-std::abs(x)));
}

template <typename T>
T Softsign(T x) {
  return x / (1 + std::abs(x));
}

template <typename T>
T Swish(T x, T alpha) {
  return x * Logistic(alpha * x);
}

template <typename T>
T ThresholdedRelu(T x, T alpha) {
  return x > alpha ? x : T{0};
}

// Of a NaN, NaN; of -0.0, 0.
template <typename T>
T Sign(T x) {
  return std::isnan(x) ? x : static_cast<T>((x > 0) - (x < 0));
}

// The larger of two, NaN where either is.
template <typename T>
T Largest(T x, T y) {
  return x > y || std::isnan(x) ? x : y;
}

template <typename T>
T Least(T x, T y) {
  return x < y || std::isnan(x) ? x : y;
}

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_ELEMENT_FUNCTIONS_H_
