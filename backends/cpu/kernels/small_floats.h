#ifndef TENSORD_BACKENDS_CPU_KERNELS_SMALL_FLOATS_H_
#define TENSORD_BACKENDS_CPU_KERNELS_SMALL_FLOATS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "backends/api/dtype.h"
#include "backends/api/op_params.h"

namespace tensord {

// The floating types of 8 and 4 bits: which code stands for which number.
//
// Threading and ownership: plain values and pure functions.

// A format with a sign, which is the highest bit: exponent and mantissa below
// it, subnormals where the exponent's bits are 0.
struct SmallFloatFormat {
  int bits;
  int mantissa_bits;
  int bias;

  // Codes without the sign: the largest number, NaN, and what is too large
  // when it does not become the largest.
  uint8_t largest;
  uint8_t nan;
  uint8_t overflow;

  // Without it ("uz"), the code of a sign alone is the NaN.
  bool has_negative_zero;

  uint8_t sign_bit() const { return static_cast<uint8_t>(1 << (bits - 1)); }
};

// Null for other dtypes, float8e8m0 among them.
inline const SmallFloatFormat* FindSmallFloat(DType dtype) {
  static constexpr SmallFloatFormat kE4M3FN{8, 3, 7, 0x7e, 0x7f, 0x7f, true};
  static constexpr SmallFloatFormat kE4M3FNUZ{8, 3, 8, 0x7f, 0x80, 0x80, false};
  static constexpr SmallFloatFormat kE5M2{8, 2, 15, 0x7b, 0x7e, 0x7c, true};
  static constexpr SmallFloatFormat kE5M2FNUZ{8,    2,    16,   0x7f,
                                              0x80, 0x80, false};
  // Has neither infinity nor NaN: the largest, and -0, take their place.
  static constexpr SmallFloatFormat kE2M1{4, 1, 1, 0x7, 0x8, 0x7, true};
  switch (dtype) {
    case DType::kFloat8E4M3FN:
      return &kE4M3FN;
    case DType::kFloat8E4M3FNUZ:
      return &kE4M3FNUZ;
    case DType::kFloat8E5M2:
      return &kE5M2;
    case DType::kFloat8E5M2FNUZ:
      return &kE5M2FNUZ;
    case DType::kFloat4E2M1:
      return &kE2M1;
    default:
      return nullptr;
  }
}

// Rounded to nearest, ties to even. What is then above the largest number
// becomes it, or else the format's overflow.
inline uint8_t EncodeSmallFloat(const SmallFloatFormat& format, float x,
                                bool saturates) {
  const uint8_t sign = std::signbit(x) ? format.sign_bit() : 0;
  if (x != x) return sign | format.nan;
  const uint8_t too_large =
      sign | (saturates ? format.largest : format.overflow);
  if (std::isinf(x)) return too_large;
  const double size = std::abs(static_cast<double>(x));
  const int exponent = std::max(std::ilogb(size), 1 - format.bias);
  // In units of the last place. Rounding up to the next power of two carries
  // into the exponent by itself.
  const auto units = static_cast<int>(
      std::nearbyint(std::ldexp(size, format.mantissa_bits - exponent)));
  const int code =
      ((exponent + format.bias - 1) << format.mantissa_bits) + units;
  if (code > format.largest) return too_large;
  if (code == 0 && !format.has_negative_zero) return 0;
  return static_cast<uint8_t>(sign | code);
}

inline float DecodeSmallFloat(const SmallFloatFormat& format, uint8_t code) {
  const bool is_negative = (code & format.sign_bit()) != 0;
  const int size = code & (format.sign_bit() - 1);
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (is_negative && size == 0 && !format.has_negative_zero) return kNan;
  float number;
  if (size > format.largest) {
    const bool has_infinity = format.overflow != format.nan;
    number = has_infinity && size == format.overflow ? kInfinity : kNan;
  } else {
    const int exponent = size >> format.mantissa_bits;
    const int leading = exponent == 0 ? 0 : 1 << format.mantissa_bits;
    const int mantissa = leading + (size & ((1 << format.mantissa_bits) - 1));
    number =
        std::ldexp(static_cast<float>(mantissa),
                   std::max(exponent, 1) - format.bias - format.mantissa_bits);
  }
  return is_negative ? -number : number;
}

// float8e8m0: a power of two from 2^-127 to 2^127, or NaN. What is out of that
// range becomes the limit that is nearer, or else NaN; so, too, does what is
// below 0, for which the standard gives no rule.
inline uint8_t EncodePowerOfTwo(float x, bool saturates,
                                PowerRounding rounding) {
  constexpr uint8_t kNan = 0xff;
  constexpr float kLeast = 0x1p-127f;
  constexpr float kMost = 0x1p127f;
  if (!(x >= 0) || (!saturates && (x < kLeast || x > kMost))) return kNan;
  int exponent;
  // From 1/2 to 1.
  const float rest = std::frexp(std::clamp(x, kLeast, kMost), &exponent);
  const bool goes_up = (rounding == PowerRounding::kUp && rest > 0.5f) ||
                       (rounding == PowerRounding::kNearest && rest >= 0.75f);
  return static_cast<uint8_t>(exponent - 1 + 127 + (goes_up ? 1 : 0));
}

inline float DecodePowerOfTwo(uint8_t code) {
  if (code == 0xff) return std::numeric_limits<float>::quiet_NaN();
  return std::ldexp(1.0f, code - 127);
}

// What a code of any dtype that cast_small.cc names stands for: one of the
// above, int4, uint4, int2 or uint2.
inline float DecodeSmall(DType dtype, uint8_t code) {
  if (dtype == DType::kFloat8E8M0) return DecodePowerOfTwo(code);
  if (const SmallFloatFormat* format = FindSmallFloat(dtype)) {
    return DecodeSmallFloat(*format, code);
  }
  const int bits = BitWidth(dtype);
  const bool is_signed = dtype == DType::kInt4 || dtype == DType::kInt2;
  const bool is_negative = is_signed && code >> (bits - 1) != 0;
  return static_cast<float>(is_negative ? code - (1 << bits) : code);
}

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_SMALL_FLOATS_H_
