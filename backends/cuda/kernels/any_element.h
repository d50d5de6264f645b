#ifndef TENSORD_BACKENDS_CUDA_KERNELS_ANY_ELEMENT_H_
#define TENSORD_BACKENDS_CUDA_KERNELS_ANY_ELEMENT_H_

#include <math.h>

#include <cstdint>

#include "backends/cuda/kernels/number.h"
#include "backends/cuda/kernels/small_floats.h"

// Elements whose dtype is an argument of the kernel: for operators of so many
// pairs of dtypes that a kernel for each would take minutes to compile. The
// switch is uniform, and memory takes longer than it does.
namespace tensord::cuda {

// A number as a float that rounds to fewer bits as the number itself would: the
// last bit is 1 wherever it is not exact.
template <typename T>
__device__ float ToOddFloat(T x) {
  if constexpr (std::is_same_v<T, float>) {
    return x;
  } else if constexpr (std::is_same_v<T, double>) {
    const auto nearest = static_cast<float>(x);
    if (static_cast<double>(nearest) == x || x != x) return nearest;
    unsigned bits = __float_as_uint(nearest);
    if (fabs(static_cast<double>(nearest)) > fabs(x)) --bits;
    return __uint_as_float(bits | 1);
  } else if constexpr (sizeof(T) == 8) {
    return ToOddFloat(number_internal::StickyDouble(x));
  } else {
    return ToOddFloat(static_cast<double>(x));
  }
}

template <typename Number, typename T>
__device__ Number NumberAt(const void* data, int64_t i) {
  const auto x = ToCompute(static_cast<const T*>(data)[i]);
  if constexpr (std::is_same_v<Number, float>) {
    return ToOddFloat(x);
  } else {
    return Convert<Number>(x);
  }
}

#define TENSORD_FOR_NUMBERS(CASE) \
  CASE(kFloat32, float)           \
  CASE(kFloat64, double)          \
  CASE(kFloat16, Half)            \
  CASE(kBFloat16, BHalf)          \
  CASE(kInt8, int8_t)             \
  CASE(kInt16, int16_t)           \
  CASE(kInt32, int32_t)           \
  CASE(kInt64, int64_t)           \
  CASE(kUInt8, uint8_t)           \
  CASE(kUInt16, uint16_t)         \
  CASE(kUInt32, uint32_t)         \
  CASE(kUInt64, uint64_t)

// Element i as a Number: float, rounded to odd, or int64_t, as Convert() has
// it.
template <typename Number>
__device__ __noinline__ Number LoadAny(DType dtype, int bits, const void* data,
                                       int64_t i) {
  switch (dtype) {
#define TENSORD_LOAD(dtype, T) \
  case DType::dtype:           \
    return NumberAt<Number, T>(data, i);
    TENSORD_FOR_NUMBERS(TENSORD_LOAD)
#undef TENSORD_LOAD
    case DType::kBool:
      return static_cast<Number>(static_cast<const uint8_t*>(data)[i] != 0);
    default:
      return Convert<Number>(DecodeSmall(
          dtype, LoadCode(static_cast<const uint8_t*>(data), i, bits)));
  }
}

// Stores a Number as an element of a dtype with a C++ type.
template <typename Number>
__device__ __noinline__ void StoreAny(DType dtype, Number number, void* data,
                                      int64_t i) {
  switch (dtype) {
#define TENSORD_STORE(dtype, T)                    \
  case DType::dtype:                               \
    static_cast<T*>(data)[i] = Convert<T>(number); \
    return;
    TENSORD_FOR_NUMBERS(TENSORD_STORE)
#undef TENSORD_STORE
    default:  // bool
      static_cast<uint8_t*>(data)[i] = number != 0;
  }
}

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_KERNELS_ANY_ELEMENT_H_
