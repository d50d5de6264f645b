#ifndef TENSORD_BACKENDS_CUDA_KERNELS_NUMBER_H_
#define TENSORD_BACKENDS_CUDA_KERNELS_NUMBER_H_

#include <cstdint>
#include <type_traits>

#include "backends/api/dtype.h"
#include "backends/cuda/kernels/device.h"

// The elements of tensors as device code has them: the 16-bit floating types
// are the toolkit's, all others the language's.
namespace tensord {

template <>
inline constexpr DType kDTypeOf<__half> = DType::kFloat16;
template <>
inline constexpr DType kDTypeOf<__nv_bfloat16> = DType::kBFloat16;

namespace cuda {

using Half = __half;
using BHalf = __nv_bfloat16;

template <typename T>
inline constexpr bool kIsHalf =
    std::is_same_v<T, Half> || std::is_same_v<T, BHalf>;
template <typename T>
inline constexpr bool kIsFloat = std::is_floating_point_v<T> || kIsHalf<T>;

// What elements of T are computed in: float for the 16-bit types, which are
// rounded once, when they are stored.
template <typename T>
using Compute = std::conditional_t<kIsHalf<T>, float, T>;

__device__ inline float ToCompute(Half x) { return __half2float(x); }
__device__ inline float ToCompute(BHalf x) { return __bfloat162float(x); }
template <typename T>
__device__ T ToCompute(T x) {
  return x;
}

// The type in which elements are added, subtracted and multiplied so that
// integers wrap without undefined behaviour: unsigned, of at least 32 bits.
template <typename T, bool = std::is_integral_v<T>>
struct WrappingOf {
  using type = Compute<T>;
};
template <typename T>
struct WrappingOf<T, true> {
  using type = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
};
template <typename T>
using Wrapping = typename WrappingOf<T>::type;

template <typename T>
__device__ bool IsNegative(T x) {
  if constexpr (std::is_unsigned_v<T>) {
    return false;
  } else {
    return x < 0;
  }
}

// The limits of integers, and infinity, as device code may name them.
template <typename T>
inline constexpr T kLeast = std::is_signed_v<T>
                                ? static_cast<T>(std::make_unsigned_t<T>{1}
                                                 << (8 * sizeof(T) - 1))
                                : T{0};
template <typename T>
inline constexpr T kMost = static_cast<T>(~kLeast<T>);
template <>
inline constexpr bool kLeast<bool> = false;
template <>
inline constexpr bool kMost<bool> = true;
inline constexpr float kInfinity = __builtin_huge_valf();
inline constexpr float kNotANumber = __builtin_nanf("");

// a * b, rounded by itself, where the compiler would fuse a product and a sum:
// for results that are cut off or compared, which have to be the host's.
__device__ inline float RoundedProduct(float a, float b) {
  return __fmul_rn(a, b);
}
__device__ inline double RoundedProduct(double a, double b) {
  return __dmul_rn(a, b);
}

namespace number_internal {

// A large 64-bit integer whose low bits are brought together in one, so that
// rounding it to 53 bits and then to fewer rounds as once.
template <typename T>
__device__ double StickyDouble(T x) {
  constexpr T kBelow = 0xfff;
  const T top = static_cast<T>(x >> 53);
  const bool fits = top == 0 || top == static_cast<T>(-1);
  if (!fits && (x & kBelow) != 0) x = (x & ~kBelow) | 0x800;
  return static_cast<double>(x);
}

template <typename To, typename From>
__device__ To ToHalf(From x) {
  if constexpr (std::is_same_v<From, float>) {
    if constexpr (std::is_same_v<To, Half>) return __float2half_rn(x);
    if constexpr (std::is_same_v<To, BHalf>) return __float2bfloat16_rn(x);
  } else if constexpr (std::is_same_v<From, double>) {
    if constexpr (std::is_same_v<To, Half>) return __double2half(x);
    if constexpr (std::is_same_v<To, BHalf>) return __double2bfloat16(x);
  } else if constexpr (sizeof(From) == 8) {
    return ToHalf<To>(StickyDouble(x));
  } else {
    return ToHalf<To>(static_cast<double>(x));
  }
}

}  // namespace number_internal

// A number as an element of type To, by one rounding. For integers its integer
// part, the nearest limit where To cannot hold it, and 0 for a NaN; between
// integers the low bits stay. To bool, everything but 0 is true.
template <typename To, typename From>
__device__ To Convert(From x) {
  if constexpr (std::is_same_v<To, From>) {
    return x;
  } else if constexpr (kIsHalf<From>) {
    return Convert<To>(ToCompute(x));
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != 0;
  } else if constexpr (kIsHalf<To>) {
    return number_internal::ToHalf<To>(x);
  } else if constexpr (std::is_floating_point_v<From> &&
                       std::is_integral_v<To>) {
    // The limits as floats may round up, so a value at one is past it.
    if (x != x) return 0;
    if (x <= static_cast<From>(kLeast<To>)) return kLeast<To>;
    if (x >= static_cast<From>(kMost<To>)) return kMost<To>;
    return static_cast<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

}  // namespace cuda
}  // namespace tensord

#endif  // TENSORD_BACKENDS_CUDA_KERNELS_NUMBER_H_
