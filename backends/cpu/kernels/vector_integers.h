#ifndef TENSORD_BACKENDS_CPU_KERNELS_VECTOR_INTEGERS_H_
#define TENSORD_BACKENDS_CPU_KERNELS_VECTOR_INTEGERS_H_

#include <cstdint>
#include <type_traits>

// Loops over the rows of quantized operators, in this machine's vectors. Sums
// are int32 that wrap around.
//
// Threading and ownership: pure functions over the caller's memory.
namespace tensord {

// The numbers of a sum of bytes, for `add`.
struct ByteSumNumbers {
  float factor_a = 0, factor_b = 0, constant = 0;
  int32_t least = 0, most = 0;
};

struct IntegerLoops {
  // sums[i] = raw[i] - factor * weights[i] + constant. `sums` may be `raw`.
  void (*correct)(const int32_t* raw, const int32_t* weights, uint32_t factor,
                  uint32_t constant, int64_t count, int32_t* sums);

  // The sum of (element ^ flip).
  uint32_t (*sum_bytes)(const uint8_t* elements, uint8_t flip, int64_t count);

  // Requantize() of quantization.h for each sum + bias[i], with a multiplier
  // for each or, where `multiplier_step` is 0, the one. `bias` may be null.
  void (*requantize_u8)(const int32_t* sums, const int32_t* bias,
                        const float* multipliers, int multiplier_step,
                        int32_t zero_point, int64_t count, uint8_t* y);
  void (*requantize_i8)(const int32_t* sums, const int32_t* bias,
                        const float* multipliers, int multiplier_step,
                        int32_t zero_point, int64_t count, int8_t* y);

  // Quantize() of quantization.h for each x / scale.
  void (*quantize_u8)(const float* x, float scale, int32_t zero_point,
                      int64_t count, uint8_t* y);
  void (*quantize_i8)(const float* x, float scale, int32_t zero_point,
                      int64_t count, int8_t* y);

  // (x - zero point) * scale.
  void (*dequantize_u8)(const uint8_t* x, float scale, int32_t zero_point,
                        int64_t count, float* y);
  void (*dequantize_i8)(const int8_t* x, float scale, int32_t zero_point,
                        int64_t count, float* y);

  // saturate(round(factor_a * a + factor_b * b + constant)) for each a and b,
  // within [least, most], which is within the type. `b` may be null; `y` may be
  // either operand.
  void (*add_u8)(const uint8_t* a, const uint8_t* b, const ByteSumNumbers&,
                 int64_t count, uint8_t* y);
  void (*add_i8)(const int8_t* a, const int8_t* b, const ByteSumNumbers&,
                 int64_t count, int8_t* y);

  // Widens [low, high] to all of x, NaNs left out.
  void (*widen_range)(const float* x, int64_t count, float* low, float* high);

  // By the type of the integers.
  template <typename Y>
  auto requantize() const {
    return Choose<Y>(requantize_i8, requantize_u8);
  }
  template <typename Y>
  auto quantize() const {
    return Choose<Y>(quantize_i8, quantize_u8);
  }
  template <typename X>
  auto dequantize() const {
    return Choose<X>(dequantize_i8, dequantize_u8);
  }
  template <typename Y>
  auto add() const {
    return Choose<Y>(add_i8, add_u8);
  }

 private:
  template <typename T, typename ForSigned, typename ForUnsigned>
  static auto Choose(ForSigned for_signed, ForUnsigned for_unsigned) {
    if constexpr (std::is_signed_v<T>) {
      return for_signed;
    } else {
      return for_unsigned;
    }
  }
};

const IntegerLoops& TheIntegerLoops();

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_VECTOR_INTEGERS_H_
