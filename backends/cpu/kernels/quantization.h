#ifndef TENSORD_BACKENDS_CPU_KERNELS_QUANTIZATION_H_
#define TENSORD_BACKENDS_CPU_KERNELS_QUANTIZATION_H_

#include <cstdint>
#include <limits>
#include <type_traits>

// Integers that stand for (q - zero point) * scale.
//
// Everything is in this header, so that a kernel's revision covers it.
namespace tensord {

// x rounded to the nearest integer, of two the even one, plus the zero point,
// brought to [least, most], which is within 17 bits and has the zero point. A
// NaN gives the zero point.
//
// Cut to the range first, x is so small that adding 1.5 times the first number
// whose neighbours are 1 apart leaves no bit behind the point: the addition
// does the rounding, in a way that compilers make vector code of.
template <typename F>
[[gnu::always_inline]] inline int32_t QuantizeTo(F x, int32_t zero_point,
                                                 int32_t least, int32_t most) {
  static_assert(std::is_floating_point_v<F>);
  constexpr F kShift =
      static_cast<F>(int64_t{3} << (std::numeric_limits<F>::digits - 2));
  const F low = static_cast<F>(least - zero_point);
  const F high = static_cast<F>(most - zero_point);
  F inside = x < low ? low : x;
  inside = inside > high ? high : inside;
  inside = inside == inside ? inside : 0;
  const F rounded = (inside + kShift) - kShift;
  return static_cast<int32_t>(rounded) + zero_point;
}

// The same for the range of Q.
template <typename Q, typename F>
Q Quantize(F x, int32_t zero_point) {
  static_assert(sizeof(Q) <= 2);
  return static_cast<Q>(QuantizeTo(x, zero_point, std::numeric_limits<Q>::min(),
                                   std::numeric_limits<Q>::max()));
}

// What the int32 sum of products of a's and b's integers is multiplied by to be
// one of y's. As a float32, which is what the formats' scales are.
inline float Multiplier(float a_scale, float b_scale, float y_scale) {
  return a_scale * b_scale / y_scale;
}

// The sum as an integer of y. The product is in double, since a sum can have
// more bits than a float.
template <typename Q>
Q Requantize(int32_t sum, float multiplier, int32_t zero_point) {
  return Quantize<Q>(static_cast<double>(sum) * multiplier, zero_point);
}

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_QUANTIZATION_H_
