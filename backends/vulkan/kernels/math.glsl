// Functions of float32 to a few units in the last place. GLSL's own promise
// less (exp an error that grows with its argument, sin one of 2^-11), and
// drivers differ. Polynomials are Cephes' (S. Moshier), single precision.
// A NaN stays a NaN.

float Scaled(float x, int exponent) {  // x * 2^exponent, in two steps for the ends
  const int half_way = exponent / 2;
  return x * uintBitsToFloat(uint(127 + half_way) << 23) *
         uintBitsToFloat(uint(127 + exponent - half_way) << 23);
}

// e^(x + low), |low| much smaller than |x|.
float ExpOfSum(float x, float low) {
  if (IsNan(x)) return x;
  if (x > 88.8) return INFINITY;
  if (x < -104.0) return 0.0;
  const float n = roundEven(x * 1.44269504088896341);
  precise float r = x - n * 0.693359375;
  r = r + n * 2.12194440e-4;
  r += low;
  float p = 1.9875691500e-4;
  p = p * r + 1.3981999507e-3;
  p = p * r + 8.3334519073e-3;
  p = p * r + 4.1665795894e-2;
  p = p * r + 1.6666665459e-1;
  p = p * r + 5.0000001201e-1;
  return Scaled(p * r * r + r + 1.0, int(n));
}
float Exp(float x) { return ExpOfSum(x, 0.0); }

float Expm1(float x) {
  if (abs(x) > 0.35) return Exp(x) - 1.0;
  float p = 1.9875691500e-4;
  p = p * x + 1.3981999507e-3;
  p = p * x + 8.3334519073e-3;
  p = p * x + 4.1665795894e-2;
  p = p * x + 1.6666665459e-1;
  p = p * x + 5.0000001201e-1;
  return p * x * x + x;
}

// x = m * 2^exponent with m in [sqrt(1/2), sqrt(2)), and ln(m) without the
// first term, m - 1.
float LogParts(float x, out float m1, out int exponent) {
  int shift = 0;
  if (x < 1.17549435e-38) {
    x *= 8388608.0;
    shift = -23;
  }
  const uint bits = floatBitsToUint(x);
  exponent = int(bits >> 23) - 126 + shift;
  float m = uintBitsToFloat((bits & 0x7fffffu) | 0x3f000000u);
  if (m < 0.707106781186547524) {
    exponent -= 1;
    m += m;
  }
  m1 = m - 1.0;
  const float z = m1 * m1;
  float p = 7.0376836292e-2;
  p = p * m1 - 1.1514610310e-1;
  p = p * m1 + 1.1676998740e-1;
  p = p * m1 - 1.2420140846e-1;
  p = p * m1 + 1.4249322787e-1;
  p = p * m1 - 1.6668057665e-1;
  p = p * m1 + 2.0000714765e-1;
  p = p * m1 - 2.4999993993e-1;
  p = p * m1 + 3.3333331174e-1;
  return p * m1 * z - 0.5 * z;
}

float Log(float x) {
  if (IsNan(x)) return x;
  if (x < 0.0) return NOT_A_NUMBER;
  if (x == 0.0) return -INFINITY;
  if (IsInf(x)) return x;
  float m1;
  int exponent;
  const float rest = LogParts(x, m1, exponent);
  const float e = float(exponent);
  return m1 + (rest - e * 2.12194440e-4) + e * 0.693359375;
}

float Log1p(float x) {
  precise const float u = 1.0 + x;
  if (u == 1.0) return x;
  if (IsInf(u) || u <= 0.0) return Log(u);
  precise const float d = u - 1.0;
  return Log(u) * (x / d);
}

// Quadrant and rest of x by pi / 2, for |x| up to 10^5: parts of 8 bits whose
// products are exact.
float QuarterTurns(float x, out uint quadrant) {
  const float n = roundEven(x * 0.636619772367581343);
  quadrant = uint(int(n)) & 3u;
  precise float r = x - n * 1.5703125;
  r = r - n * 4.8255920410156250e-4;
  r = r - n * 1.26659870147705078e-6;
  r = r - n * 9.9209357967922e-10;
  return r;
}
float SinPart(float r) {
  const float z = r * r;
  return ((-1.9515295891e-4 * z + 8.3321608736e-3) * z - 1.6666654611e-1) * z *
             r +
         r;
}
float CosPart(float r) {
  const float z = r * r;
  return ((2.443315711809948e-5 * z - 1.388731625493765e-3) * z +
          4.166664568298827e-2) *
             z * z -
         0.5 * z + 1.0;
}
float Sin(float x) {
  if (IsNan(x) || IsInf(x)) return NOT_A_NUMBER;
  if (abs(x) > 1.0e5) return sin(x);
  uint quadrant;
  const float r = QuarterTurns(x, quadrant);
  const float y = (quadrant & 1u) == 0 ? SinPart(r) : CosPart(r);
  return (quadrant & 2u) == 0 ? y : -y;
}
float Cos(float x) {
  if (IsNan(x) || IsInf(x)) return NOT_A_NUMBER;
  if (abs(x) > 1.0e5) return cos(x);
  uint quadrant;
  const float r = QuarterTurns(x, quadrant);
  const float y = (quadrant & 1u) == 0 ? CosPart(r) : SinPart(r);
  return quadrant == 1u || quadrant == 2u ? -y : y;
}
float Tan(float x) {
  if (IsNan(x) || IsInf(x)) return NOT_A_NUMBER;
  if (abs(x) > 1.0e5) return tan(x);
  uint quadrant;
  const float r = QuarterTurns(x, quadrant);
  return (quadrant & 1u) == 0 ? SinPart(r) / CosPart(r)
                              : -CosPart(r) / SinPart(r);
}

float AsinPart(float x) {  // |x| up to 1/2
  const float z = x * x;
  float p = 4.2163199048e-2;
  p = p * z + 2.4181311049e-2;
  p = p * z + 4.5470025998e-2;
  p = p * z + 7.4953002686e-2;
  p = p * z + 1.6666752422e-1;
  return p * z * x + x;
}
float Asin(float x) {
  const float a = abs(x);
  if (!(a <= 1.0)) return NOT_A_NUMBER;
  if (a <= 0.5) return AsinPart(x);
  const float y = 1.57079632679489662 - 2.0 * AsinPart(sqrt(0.5 * (1.0 - a)));
  return x < 0.0 ? -y : y;
}
float Acos(float x) {
  if (!(abs(x) <= 1.0)) return NOT_A_NUMBER;
  if (x > 0.5) return 2.0 * AsinPart(sqrt(0.5 * (1.0 - x)));
  if (x < -0.5) {
    return 3.14159265358979324 - 2.0 * AsinPart(sqrt(0.5 * (1.0 + x)));
  }
  return 1.57079632679489662 - AsinPart(x);
}
float Atan(float x) {
  if (IsNan(x)) return x;
  float a = abs(x);
  float y = 0.0;
  if (a > 2.414213562373095) {
    y = 1.57079632679489662;
    a = IsInf(a) ? 0.0 : -1.0 / a;
  } else if (a > 0.414213562373095) {
    y = 0.785398163397448310;
    a = (a - 1.0) / (a + 1.0);
  }
  const float z = a * a;
  float p = 8.05374449538e-2;
  p = p * z - 1.38776856032e-1;
  p = p * z + 1.99777106478e-1;
  p = p * z - 3.33329491539e-1;
  y += p * z * a + a;
  return x < 0.0 ? -y : y;
}

float Tanh(float x) {
  const float a = abs(x);
  if (a < 0.625) {
    const float z = x * x;
    float p = -5.70498872745e-3;
    p = p * z + 2.06390887954e-2;
    p = p * z - 5.37397155531e-2;
    p = p * z + 1.33314422036e-1;
    p = p * z - 3.33332819422e-1;
    return p * z * x + x;
  }
  if (IsNan(x)) return x;
  const float y = a > 9.1 ? 1.0 : 1.0 - 2.0 / (Exp(2.0 * a) + 1.0);
  return x < 0.0 ? -y : y;
}
float Sinh(float x) {
  const float a = abs(x);
  if (a < 1.0) {
    const float z = x * x;
    return ((2.03721912945e-4 * z + 8.33028376239e-3) * z + 1.66667160211e-1) *
               z * x +
           x;
  }
  if (IsNan(x)) return x;
  float y;
  if (a > 80.0) {
    const float root = Exp(0.5 * a);
    y = 0.5 * root * root;
  } else {
    const float e = Exp(a);
    y = 0.5 * e - 0.5 / e;
  }
  return x < 0.0 ? -y : y;
}
float Cosh(float x) {
  const float a = abs(x);
  if (a > 80.0) {
    const float root = Exp(0.5 * a);
    return 0.5 * root * root;
  }
  const float e = Exp(a);
  return 0.5 * e + 0.5 / e;
}
float Asinh(float x) {
  const float a = abs(x);
  if (IsNan(x) || IsInf(x)) return x;
  const float y = a > 1.0e9
                      ? Log(a) + 0.693147180559945309
                      : Log1p(a + a * a / (1.0 + sqrt(1.0 + a * a)));
  return x < 0.0 ? -y : y;
}
float Acosh(float x) {
  if (!(x >= 1.0)) return NOT_A_NUMBER;
  if (x > 1.0e9) return Log(x) + 0.693147180559945309;
  const float t = x - 1.0;
  return Log1p(t + sqrt(2.0 * t + t * t));
}
float Atanh(float x) {
  const float a = abs(x);
  if (!(a <= 1.0)) return NOT_A_NUMBER;
  if (a == 1.0) return x < 0.0 ? -INFINITY : INFINITY;
  const float y = 0.5 * Log1p(2.0 * a / (1.0 - a));
  return x < 0.0 ? -y : y;
}

float ErfPart(float x) {  // |x| up to 1
  const float z = x * x;
  float p = 7.853861353153693e-5;
  p = p * z - 8.010193625184903e-4;
  p = p * z + 5.188327685732524e-3;
  p = p * z - 2.685381193529856e-2;
  p = p * z + 1.128358514861418e-1;
  p = p * z - 3.761262582423300e-1;
  p = p * z + 1.128379165726710;
  return p * x;
}
float ErfcPart(float a) {  // a at least 1
  if (a > 10.1) return 0.0;
  // a^2 in two parts: e^-(a^2) magnifies the rounding of one.
  const float high = uintBitsToFloat(floatBitsToUint(a) & 0xfffff000u);
  precise const float square = high * high;
  const float rest = (a - high) * (a + high);
  const float z = ExpOfSum(-square, -rest);
  const float q = 1.0 / a;
  const float y = q * q;
  float p;
  if (a < 2.0) {
    p = 2.326819970068386e-2;
    p = p * y - 1.387039388740657e-1;
    p = p * y + 3.687424674597105e-1;
    p = p * y - 5.824733027278666e-1;
    p = p * y + 6.210004621745983e-1;
    p = p * y - 4.944515323274145e-1;
    p = p * y + 3.404879937665872e-1;
    p = p * y - 2.741127028184656e-1;
    p = p * y + 5.638259427386472e-1;
  } else {
    p = -1.047766399936249e+1;
    p = p * y + 1.297719955372516e+1;
    p = p * y - 7.495518717768503;
    p = p * y + 2.921019019210786;
    p = p * y - 1.015265279202700;
    p = p * y + 4.218463358204948e-1;
    p = p * y - 2.820767439740514e-1;
    p = p * y + 5.641895067754075e-1;
  }
  return z * q * p;
}
float Erf(float x) {
  if (IsNan(x)) return x;
  const float a = abs(x);
  if (a <= 1.0) return ErfPart(x);
  const float y = 1.0 - ErfcPart(a);
  return x < 0.0 ? -y : y;
}
float Erfc(float x) {
  if (IsNan(x)) return x;
  const float a = abs(x);
  if (a <= 1.0) return 1.0 - ErfPart(x);
  return x < 0.0 ? 2.0 - ErfcPart(a) : ErfcPart(a);
}

bool IsWhole(float x) { return floor(x) == x; }
bool IsOdd(float x) {
  return abs(x) < 16777216.0 && (int(x) & 1) != 0;
}

// As C's pow(): the logarithm in two parts, since the product with y magnifies
// its rounding.
float Pow(float x, float y) {
  if (y == 0.0 || x == 1.0) return 1.0;
  if (IsNan(x) || IsNan(y)) return NOT_A_NUMBER;
  const float a = abs(x);
  const bool is_odd = IsWhole(y) && IsOdd(y);
  const bool is_negative = (floatBitsToUint(x) >> 31) != 0;
  if (IsInf(y)) {
    if (a == 1.0) return 1.0;
    return (a > 1.0) == (y > 0.0) ? INFINITY : 0.0;
  }
  float result;
  if (a == 0.0 || IsInf(a)) {
    result = (a == 0.0) == (y > 0.0) ? 0.0 : INFINITY;
  } else {
    if (is_negative && !IsWhole(y)) return NOT_A_NUMBER;
    float m1;
    int exponent;
    const float rest = LogParts(a, m1, exponent);
    const float e = float(exponent);
    const float small = rest - e * 2.12194440e-4;
    precise const float t = e * 0.693359375;
    precise const float s = t + m1;
    precise const float s_error = abs(t) >= abs(m1) ? m1 - (s - t) : t - (s - m1);
    precise const float high = s + small;
    precise const float high_error =
        (abs(s) >= abs(small) ? small - (high - s) : s - (high - small)) +
        s_error;
    if (abs(y * high) > 200.0) {
      result = y * high > 0.0 ? INFINITY : 0.0;
    } else {
      // Products of halves are exact, so the product's error is known.
      const float h1 = uintBitsToFloat(floatBitsToUint(high) & 0xfffff000u);
      const float y1 = uintBitsToFloat(floatBitsToUint(y) & 0xfffff000u);
      precise const float h2 = high - h1;
      precise const float y2 = y - y1;
      precise const float product = high * y;
      precise const float error =
          ((h1 * y1 - product) + h1 * y2 + h2 * y1) + h2 * y2;
      result = ExpOfSum(product, error + y * high_error);
    }
  }
  return is_negative && is_odd ? -result : result;
}
