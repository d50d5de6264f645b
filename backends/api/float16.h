#ifndef TENSORD_BACKENDS_API_FLOAT16_H_
#define TENSORD_BACKENDS_API_FLOAT16_H_

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "backends/api/dtype.h"

namespace tensord {

namespace float16_internal {

// A double as a float whose last bit is 1 wherever it is not exact: rounding
// such a float once more gives what rounding the double would have given.
inline float RoundToOdd(double x) {
  const auto nearest = static_cast<float>(x);
  if (static_cast<double>(nearest) == x || x != x) return nearest;
  auto bits = std::bit_cast<uint32_t>(nearest);
  if (std::abs(static_cast<double>(nearest)) > std::abs(x)) --bits;
  return std::bit_cast<float>(bits | 1);
}

}  // namespace float16_internal

// A number as a float that rounds to fewer bits as the number itself would: the
// last bit is 1 wherever it is not exact.
template <typename T>
float ToOddFloat(T x) {
  if constexpr (std::is_same_v<T, float>) {
    return x;
  } else if constexpr (std::is_integral_v<T> && sizeof(T) == 8) {
    // A double has room for 53 bits: the lowest of them stands for those below
    // it, which tell only whether the number is exact.
    constexpr T kBelow = 0xfff;
    const T top = x >> 53;
    const bool fits = top == 0 || top == static_cast<T>(-1);
    if (!fits && (x & kBelow) != 0) x = (x & ~kBelow) | 0x800;
    return float16_internal::RoundToOdd(static_cast<double>(x));
  } else {
    return float16_internal::RoundToOdd(static_cast<double>(x));
  }
}

// The 16-bit floating types, as storage: arithmetic happens in float32, to
// which they convert by themselves and exactly. A number becomes one by
// rounding to nearest, ties to even; what is too large becomes infinity, and a
// NaN stays one.
//
// Threading and ownership: plain values. No errors.

// IEEE 754 binary16: 5 bits of exponent, 10 of mantissa.
struct Float16 {
  Float16() = default;
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  Float16(T x)  // NOLINT: implicit, like double to float
      : bits(Encode(ToOddFloat(x))) {}

  operator float() const {  // NOLINT: implicit, like float to double
    const uint32_t sign = (bits & 0x8000u) << 16;
    const uint32_t exponent = (bits >> 10) & 0x1f;
    const uint32_t mantissa = bits & 0x3ff;
    if (exponent == 0) {  // subnormal: units of 2^-24
      const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
      return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | sign);
    }
    const uint32_t wide = exponent == 0x1f ? 0xff : exponent + (127 - 15);
    return std::bit_cast<float>(sign | (wide << 23) | (mantissa << 13));
  }

  static uint16_t Encode(float x) {
    const auto all = std::bit_cast<uint32_t>(x);
    const auto sign = static_cast<uint16_t>((all >> 16) & 0x8000);
    uint32_t magnitude = all & 0x7fffffff;
    if (magnitude > 0x7f800000) return sign | 0x7e00;   // NaN
    if (magnitude >= 0x47800000) return sign | 0x7c00;  // 2^16 and more
    if (magnitude < 0x38800000) {                       // below 2^-14
      // The last place of 0.5f is 2^-24, the subnormals' unit, so that this
      // addition rounds to it.
      const float sum = std::bit_cast<float>(magnitude) + 0.5f;
      return sign | static_cast<uint16_t>(std::bit_cast<uint32_t>(sum) -
                                          std::bit_cast<uint32_t>(0.5f));
    }
    magnitude += 0xfff + ((magnitude >> 13) & 1);
    return sign | static_cast<uint16_t>((magnitude >> 13) - ((127 - 15) << 10));
  }

  uint16_t bits;
};

// The upper half of a float32: 8 bits of exponent, 7 of mantissa.
struct BFloat16 {
  BFloat16() = default;
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  BFloat16(T x)  // NOLINT: implicit, like double to float
      : bits(Encode(ToOddFloat(x))) {}

  operator float() const {  // NOLINT: implicit, like float to double
    return std::bit_cast<float>(uint32_t{bits} << 16);
  }

  static uint16_t Encode(float x) {
    const auto all = std::bit_cast<uint32_t>(x);
    if ((all & 0x7fffffff) > 0x7f800000) {  // NaN
      return static_cast<uint16_t>((all >> 16) | 0x40);
    }
    return static_cast<uint16_t>((all + 0x7fff + ((all >> 16) & 1)) >> 16);
  }

  uint16_t bits;
};

template <>
inline constexpr DType kDTypeOf<Float16> = DType::kFloat16;
template <>
inline constexpr DType kDTypeOf<BFloat16> = DType::kBFloat16;

template <typename T>
inline constexpr bool kIsFloat16 =
    std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

// Any floating type; std::is_floating_point knows only the language's own.
template <typename T>
inline constexpr bool kIsFloat = std::is_floating_point_v<T> || kIsFloat16<T>;

// What elements of T are computed in: float for the 16-bit types, T otherwise.
template <typename T>
using ComputeType = std::conditional_t<kIsFloat16<T>, float, T>;

}  // namespace tensord

#endif  // TENSORD_BACKENDS_API_FLOAT16_H_
