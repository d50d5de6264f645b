#ifndef TENSORD_BACKENDS_CPU_KERNELS_VECTOR_MATH_H_
#define TENSORD_BACKENDS_CPU_KERNELS_VECTOR_MATH_H_

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

// Functions of one float32 without a branch or a call, so that a loop over them
// becomes vectors, whatever the instruction set of the function that they are
// inlined into (vector_targets.h).
//
// How far from the exact value, by a sweep over their whole range
// (tests/backends/cpu/kernels/vector_math_test.cc): relative 1e-7 for Exp,
// 2e-7 for Logistic, 5e-7 for Tanh and Erf; absolute 2e-7, or relative that
// much where the value is above 1, for Gelu, 6e-7 for its form by tanh(). A NaN
// gives a NaN.
//
// Threading and ownership: pure functions.
namespace tensord::vector_math {

#define TENSORD_INLINE [[gnu::always_inline]] inline

// e^x = 2^n * e^r with n the integer next to x / ln 2. The series of e^r for
// |r| <= ln 2 / 2 is the minimax polynomial of Cephes' expf(). Below -86.6 the
// result, less than 2.5e-38, is 0.
TENSORD_INLINE float Exp(float x) {
  constexpr float kLowest = -86.6f;
  constexpr float kHighest = 89;  // infinity comes by itself
  constexpr float kLog2E = 1.44269504088896341f;
  // ln 2 in two parts, of which the first has few enough digits that its
  // product with n is exact.
  constexpr float kLn2High = 0.693359375f;
  constexpr float kLn2Low = -2.12194440e-4f;
  // Added to a small number, it leaves the number's integer part in the lowest
  // bits, rounded to nearest.
  constexpr float kToInteger = 12582912;  // 1.5 * 2^23
  const float raised = x < kLowest ? kLowest : x;
  const float held = raised > kHighest ? kHighest : raised;
  const float shifted = held * kLog2E + kToInteger;
  const float n = shifted - kToInteger;
  const float r = (held - n * kLn2High) - n * kLn2Low;
  float series = 1.9875691500e-4f;
  series = series * r + 1.3981999507e-3f;
  series = series * r + 8.3334519073e-3f;
  series = series * r + 4.1665795894e-2f;
  series = series * r + 1.6666665459e-1f;
  series = series * r + 5.0000001201e-1f;
  series = series * (r * r) + r + 1;
  // 2^(n - 1), since n may be 128, and its double.
  const float power = std::bit_cast<float>(
      (std::bit_cast<uint32_t>(shifted) << 23) + (uint32_t{126} << 23));
  const float result = series * power * 2;
  return x < kLowest ? 0.0f : result;
}

// `ratio`, an odd function's approximation at x, held to [-1, 1], and exactly
// there from `limit` on: how it rounds depends on the target, which may fuse
// multiplications and additions or not.
TENSORD_INLINE float Saturate(float x, float limit, float ratio) {
  const float below = ratio > 1 ? 1.0f : ratio;
  const float within = below < -1 ? -1.0f : below;
  const float low = x < -limit ? -1.0f : within;
  return x > limit ? 1.0f : low;
}

// The rational approximation that Eigen uses, of x held to where tanh() is 1.
TENSORD_INLINE float Tanh(float x) {
  constexpr float kHighest = 7.90531110763549805f;
  const float raised = x < -kHighest ? -kHighest : x;
  const float held = raised > kHighest ? kHighest : raised;
  const float square = held * held;
  float top = -2.76076847742355e-16f;
  top = top * square + 2.00018790482477e-13f;
  top = top * square - 8.60467152213735e-11f;
  top = top * square + 5.12229709037114e-08f;
  top = top * square + 1.48572235717979e-05f;
  top = top * square + 6.37261928875436e-04f;
  top = top * square + 4.89352455891786e-03f;
  float bottom = 1.19825839466702e-06f;
  bottom = bottom * square + 1.18534705686654e-04f;
  bottom = bottom * square + 2.26843463243900e-03f;
  bottom = bottom * square + 4.89352518554385e-03f;
  return Saturate(x, kHighest, held * top / bottom);
}

// Likewise.
TENSORD_INLINE float Erf(float x) {
  const float raised = x < -4 ? -4.0f : x;
  const float held = raised > 4 ? 4.0f : raised;
  const float square = held * held;
  float top = -2.72614225801306e-10f;
  top = top * square + 2.77068142495902e-08f;
  top = top * square - 2.10102402082508e-06f;
  top = top * square - 5.69250639462346e-05f;
  top = top * square - 7.34990630306855e-04f;
  top = top * square - 2.95459980854025e-03f;
  top = top * square - 1.60960333262415e-02f;
  float bottom = -1.45660718464996e-05f;
  bottom = bottom * square - 2.13374055278905e-04f;
  bottom = bottom * square - 1.68282697438203e-03f;
  bottom = bottom * square - 7.37332916720468e-03f;
  bottom = bottom * square - 1.42647390514189e-02f;
  return Saturate(x, 4, held * top / bottom);
}

// 1 / (1 + e^-x).
TENSORD_INLINE float Logistic(float x) { return 1 / (1 + Exp(-x)); }

// x * erfc(-x / sqrt 2) / 2. erfc(z) of z >= 0 is t * e^(p(t) - z^2), t = 1 /
// (1 + z / 2), with the polynomial of Numerical Recipes' erfcc(): 1 + erf()
// would cancel where x is negative.
TENSORD_INLINE float Gelu(float x) {
  constexpr float kSqrtHalf = 0.70710678118654752440f;
  const float z = std::abs(x) * kSqrtHalf;
  const float t = 1 / (1 + 0.5f * z);
  float series = 0.17087277f;
  series = series * t - 0.82215223f;
  series = series * t + 1.48851587f;
  series = series * t - 1.13520398f;
  series = series * t + 0.27886807f;
  series = series * t - 0.18628806f;
  series = series * t + 0.09678418f;
  series = series * t + 0.37409196f;
  series = series * t + 1.00002368f;
  series = series * t - 1.26551223f;
  const float tail = 0.5f * t * Exp(series - z * z);
  return x * (x < 0 ? tail : 1 - tail);
}

// (1 + tanh(u)) / 2 is the logistic function of 2 * u.
TENSORD_INLINE float GeluByTanh(float x) {
  constexpr float kSqrt8OverPi = 1.59576912160573071176f;
  constexpr float kCubic = 0.044715f;
  return x * Logistic(kSqrt8OverPi * (x + kCubic * x * x * x));
}

// As element_functions.h has it.
TENSORD_INLINE float Mish(float x) {
  const float e = Exp(-std::abs(x));
  const float n = x > 0 ? 1 + 2 * e : e * (e + 2);
  return x * (n / (n + (x > 0 ? 2 * e * e : 2)));
}

TENSORD_INLINE float Swish(float x, float alpha) {
  return x * Logistic(alpha * x);
}

#undef TENSORD_INLINE

}  // namespace tensord::vector_math

#endif  // TENSORD_BACKENDS_CPU_KERNELS_VECTOR_MATH_H_
