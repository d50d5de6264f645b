#ifndef TENSORD_BACKENDS_CUDA_KERNELS_SMALL_FLOATS_H_
#define TENSORD_BACKENDS_CUDA_KERNELS_SMALL_FLOATS_H_

#include <math.h>

#include <cstdint>

#include "backends/api/dtype.h"
#include "backends/api/op_params.h"
#include "backends/cuda/kernels/device.h"
#include "backends/cuda/kernels/number.h"

// The dtypes of 8 bits and less that C++ cannot compute with, as device code
// sees them: float8, float4, int4, uint4, int2, uint2. An element of less than
// a byte lies in the low bits first.
namespace tensord::cuda {

// A floating format with a sign, which is the highest bit: exponent and
// mantissa below it, subnormals where the exponent's bits are 0.
struct SmallFormat {
  int bits;  // 0: not such a format
  int mantissa_bits;
  int bias;

  // Codes without the sign: the largest number, NaN, and what is too large
  // when it does not become the largest.
  int largest;
  int nan;
  int overflow;

  // Without it ("uz"), the code of a sign alone is the NaN.
  bool has_negative_zero;

  __host__ __device__ int sign_bit() const { return 1 << (bits - 1); }
};

__host__ __device__ inline SmallFormat SmallFormatOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat8E4M3FN:
      return {8, 3, 7, 0x7e, 0x7f, 0x7f, true};
    case DType::kFloat8E4M3FNUZ:
      return {8, 3, 8, 0x7f, 0x80, 0x80, false};
    case DType::kFloat8E5M2:
      return {8, 2, 15, 0x7b, 0x7e, 0x7c, true};
    case DType::kFloat8E5M2FNUZ:
      return {8, 2, 16, 0x7f, 0x80, 0x80, false};
    case DType::kFloat4E2M1:  // neither infinity nor NaN: the largest, and -0
      return {4, 1, 1, 0x7, 0x8, 0x7, true};
    default:
      return {};
  }
}

__host__ __device__ inline bool IsSmallInteger(DType dtype) {
  return dtype == DType::kInt4 || dtype == DType::kUInt4 ||
         dtype == DType::kInt2 || dtype == DType::kUInt2;
}
__host__ __device__ inline bool IsSmallSigned(DType dtype) {
  return dtype == DType::kInt4 || dtype == DType::kInt2;
}
// Float8e8m0 is one of them, which only casts know.
inline bool IsSmall(DType dtype) {
  return IsSmallInteger(dtype) || SmallFormatOf(dtype).bits != 0 ||
         dtype == DType::kFloat8E8M0;
}

// Rounded to nearest, ties to even. What is then above the largest number
// becomes it, or else the format's overflow.
__device__ inline int EncodeSmallFloat(const SmallFormat& format, float x,
                                       bool saturates) {
  const int sign = signbit(x) ? format.sign_bit() : 0;
  if (x != x) return sign | format.nan;
  const int too_large = sign | (saturates ? format.largest : format.overflow);
  const float size = fabsf(x);
  if (size == kInfinity) return too_large;
  int exponent = 1 - format.bias;
  if (size > 0) {
    const int own = ilogbf(size);
    exponent = own > exponent ? own : exponent;
  }
  // In units of the last place. Rounding up to the next power of two carries
  // into the exponent by itself.
  const auto units = static_cast<int>(
      nearbyintf(ldexpf(size, format.mantissa_bits - exponent)));
  const int code =
      ((exponent + format.bias - 1) << format.mantissa_bits) + units;
  if (code > format.largest) return too_large;
  if (code == 0 && !format.has_negative_zero) return 0;
  return sign | code;
}

__device__ inline float DecodeSmallFloat(const SmallFormat& format, int code) {
  const bool is_negative = (code & format.sign_bit()) != 0;
  const int size = code & (format.sign_bit() - 1);
  if (is_negative && size == 0 && !format.has_negative_zero) {
    return kNotANumber;
  }
  float number;
  if (size > format.largest) {
    const bool has_infinity = format.overflow != format.nan;
    number = has_infinity && size == format.overflow ? kInfinity : kNotANumber;
  } else {
    const int exponent = size >> format.mantissa_bits;
    const int leading = exponent == 0 ? 0 : 1 << format.mantissa_bits;
    const int mantissa = leading + (size & ((1 << format.mantissa_bits) - 1));
    number = ldexpf(
        static_cast<float>(mantissa),
        (exponent < 1 ? 1 : exponent) - format.bias - format.mantissa_bits);
  }
  return is_negative ? -number : number;
}

// float8e8m0: a power of two from 2^-127 to 2^127, or NaN. What is out of that
// range, or below 0, becomes the limit that is nearer, or else NaN.
__device__ inline int EncodePowerOfTwo(float x, bool saturates,
                                       PowerRounding rounding) {
  constexpr int kNan = 0xff;
  constexpr float kLeastPower = 0x1p-127f;
  constexpr float kMostPower = 0x1p127f;
  if (!(x >= 0)) return kNan;
  if (!saturates && (x < kLeastPower || x > kMostPower)) return kNan;
  const float held = x < kLeastPower  ? kLeastPower
                     : x > kMostPower ? kMostPower
                                      : x;
  int exponent;
  const float rest = frexpf(held, &exponent);  // from 1/2 to 1
  const bool goes_up = (rounding == PowerRounding::kUp && rest > 0.5f) ||
                       (rounding == PowerRounding::kNearest && rest >= 0.75f);
  return exponent - 1 + 127 + (goes_up ? 1 : 0);
}

// What a code of any small dtype stands for.
__device__ inline float DecodeSmall(DType dtype, int code) {
  if (dtype == DType::kFloat8E8M0) {
    return code == 0xff ? kNotANumber : ldexpf(1.0f, code - 127);
  }
  const SmallFormat format = SmallFormatOf(dtype);
  if (format.bits != 0) return DecodeSmallFloat(format, code);
  const int bits = dtype == DType::kInt4 || dtype == DType::kUInt4 ? 4 : 2;
  const bool is_negative = IsSmallSigned(dtype) && (code >> (bits - 1)) != 0;
  return static_cast<float>(is_negative ? code - (1 << bits) : code);
}

// The code of element i; `bits` is the dtype's width, a power of two to 8.
__device__ inline int LoadCode(const uint8_t* data, int64_t i, int bits) {
  const int64_t bit = i * bits;
  return (data[bit / 8] >> (bit % 8)) & ((1 << bits) - 1);
}

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_KERNELS_SMALL_FLOATS_H_
