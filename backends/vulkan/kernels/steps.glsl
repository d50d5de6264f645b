// What element-wise operators compute of one element: the ONNX standard's
// formulas, in forms that lose no digits and do not overflow where the value is
// in range. A NaN stays a NaN, except that it is not above ThresholdedRelu's
// alpha.
#include "math.glsl"

#define STEP(name, number) const uint STEP_##name = number;
#include "step_list.glsl"
#undef STEP

// 1 / (1 + e^-x); neither branch's exp() overflows.
float Logistic(float x) {
  const float e = Exp(-abs(x));
  return x >= 0.0 ? 1.0 / (1.0 + e) : e / (1.0 + e);
}

// Comparisons with a NaN are false, so that it passes.
float HeldBetween0And1(float x) { return x < 0.0 ? 0.0 : x > 1.0 ? 1.0 : x; }

// min(max(x, low), high); where low is above high, high wins.
float Clip(float x, float low, float high) {
  const float raised = x < low ? low : x;
  return high < raised ? high : raised;
}

// erfc() keeps the digits that 1 + erf() would cancel where x is negative.
float Gelu(float x) {
  return IsInf(x) ? (x > 0.0 ? x : NOT_A_NUMBER)
                  : x * (0.5 * Erfc(-x * 0.70710678118654752440));
}

// (1 + tanh(u)) / 2 is the logistic function of 2 * u.
float GeluByTanh(float x) {
  return x * Logistic(1.59576912160573071176 * (x + 0.044715 * x * x * x));
}

// tanh(ln(1 + e^x)) is n / (n + 2) with n = e^x * (e^x + 2); for x > 0 both are
// multiplied by e^-2x, which leaves powers that cannot overflow.
float Mish(float x) {
  const float e = Exp(-abs(x));
  const float n = x > 0.0 ? 1.0 + 2.0 * e : e * (e + 2.0);
  return x * (n / (n + (x > 0.0 ? 2.0 * e * e : 2.0)));
}

float Sign(float x) {
  return IsNan(x) ? x : x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : 0.0;
}

// The larger (smaller) of two, NaN where either is.
float Largest(float x, float y) { return x > y || IsNan(x) ? x : y; }
float Least(float x, float y) { return x < y || IsNan(x) ? x : y; }

float Negative(float x) {
  return uintBitsToFloat(floatBitsToUint(x) ^ 0x80000000u);
}

// The remainder by subtraction of exact multiples of y, halving the quotient's
// bits: what C's fmod() gives.
float Fmod(float x, float y) {
  if (IsNan(x) || IsNan(y) || IsInf(x) || y == 0.0) return NOT_A_NUMBER;
  if (IsInf(y)) return x;
  float rest = abs(x);
  const float by = abs(y);
  while (rest >= by) {
    const int shift = int(floatBitsToUint(rest) >> 23) -
                      int(floatBitsToUint(by) >> 23);
    float multiple = shift > 0 ? Scaled(by, shift) : by;
    if (multiple > rest) multiple *= 0.5;
    precise const float left = rest - multiple;
    rest = left;
  }
  return (floatBitsToUint(x) >> 31) != 0 ? Negative(rest) : rest;
}

// One step's value of x and, for an operator of two, y.
float EvaluateStep(uint op, float x, float y, float alpha, float beta) {
  switch (op) {
    case STEP_Abs: return abs(x);
    case STEP_Acos: return Acos(x);
    case STEP_Acosh: return Acosh(x);
    case STEP_Add: return x + y;
    case STEP_Asin: return Asin(x);
    case STEP_Asinh: return Asinh(x);
    case STEP_Atan: return Atan(x);
    case STEP_Atanh: return Atanh(x);
    case STEP_Ceil: return ceil(x);
    case STEP_Celu: return x >= 0.0 ? x : alpha * Expm1(x / alpha);
    case STEP_Clip: return Clip(x, alpha, beta);
    case STEP_Cos: return Cos(x);
    case STEP_Cosh: return Cosh(x);
    case STEP_Div: return x / y;
    case STEP_Elu: return x >= 0.0 ? x : alpha * Expm1(x);
    case STEP_Erf: return Erf(x);
    case STEP_Exp: return Exp(x);
    case STEP_Floor: return floor(x);
    case STEP_Gelu: return alpha != 0.0 ? GeluByTanh(x) : Gelu(x);
    case STEP_HardSigmoid: return HeldBetween0And1(alpha * x + beta);
    case STEP_HardSwish: return x * HeldBetween0And1(x / 6.0 + 0.5);
    case STEP_LeakyRelu: return x < 0.0 ? alpha * x : x;
    case STEP_Log: return Log(x);
    case STEP_Max: return Largest(x, y);
    case STEP_Min: return Least(x, y);
    case STEP_Mish: return Mish(x);
    case STEP_Mul: return x * y;
    case STEP_Neg: return Negative(x);
    case STEP_PRelu: return x < 0.0 ? y * x : x;
    case STEP_Pow: return Pow(x, y);
    case STEP_Reciprocal: return 1.0 / x;
    case STEP_Relu: return x < 0.0 ? 0.0 : x;
    case STEP_Round: return roundEven(x);
    case STEP_Selu: return beta * (x > 0.0 ? x : alpha * Expm1(x));
    case STEP_Sigmoid: return Logistic(x);
    case STEP_Sign: return Sign(x);
    case STEP_Sin: return Sin(x);
    case STEP_Sinh: return Sinh(x);
    case STEP_Softplus: return (x > 0.0 ? x : 0.0) + Log1p(Exp(-abs(x)));
    case STEP_Softsign: return x / (1.0 + abs(x));
    case STEP_Sqrt: return sqrt(x);
    case STEP_Sub: return x - y;
    case STEP_Swish: return x * Logistic(alpha * x);
    case STEP_Tan: return Tan(x);
    case STEP_Tanh: return Tanh(x);
    case STEP_ThresholdedRelu: return x > alpha ? x : 0.0;
    case STEP_Mod: return Fmod(x, y);
    default: return x;
  }
}
