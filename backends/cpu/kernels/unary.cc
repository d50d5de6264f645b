// Basic arithmetic and logic of one operand: Abs, BitwiseNot, Erf, Exp, Log,
// Neg, Not, Reciprocal, Sqrt.
//
//   y[i] = f(x[i])
//
// x and y are contiguous, have the same shape, and may be the same buffer.
// Computes in the elements' own type; 16-bit floats in float32.

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "backends/cpu/kernels/element_map.h"
#include "backends/cpu/kernels/instantiate.h"

namespace tensord {
namespace {

// -x and |x| of the least integer are that integer: they wrap, as in numpy.
template <typename T>
T Negate(T x) {
  if constexpr (std::is_integral_v<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    return static_cast<T>(Unsigned{0} - static_cast<Unsigned>(x));
  } else {
    return -x;
  }
}

template <typename T>
T Modulus(T x) {
  if constexpr (std::is_floating_point_v<T>) return std::abs(x);
  if constexpr (std::is_unsigned_v<T>) return x;
  return x < 0 ? Negate(x) : x;
}

}  // namespace

template <typename T>
absl::Status RunAbs(const KernelCall& call) {
  return MapElements<T>(call, kCheapGrain, [](auto x) { return Modulus(x); });
}

template <typename T>
absl::Status RunBitwiseNot(const KernelCall& call) {
  return MapElements<T>(call, kCheapGrain,
                        [](T x) { return static_cast<T>(~x); });
}

template <typename T>
absl::Status RunErf(const KernelCall& call) {
  return MapElements<T>(call, kCostlyGrain, [](auto x) { return std::erf(x); });
}

template <typename T>
absl::Status RunExp(const KernelCall& call) {
  return MapElements<T>(call, kCostlyGrain, [](auto x) { return std::exp(x); });
}

// Minus infinity for 0, NaN below it.
template <typename T>
absl::Status RunLog(const KernelCall& call) {
  return MapElements<T>(call, kCostlyGrain, [](auto x) { return std::log(x); });
}

template <typename T>
absl::Status RunNeg(const KernelCall& call) {
  return MapElements<T>(call, kCheapGrain, [](auto x) { return Negate(x); });
}

absl::Status RunNot(const KernelCall& call) {
  return MapElements<bool>(call, kCheapGrain, [](bool x) { return !x; });
}

// Of 0 an infinity with its sign.
template <typename T>
absl::Status RunReciprocal(const KernelCall& call) {
  return MapElements<T>(call, kCheapGrain, [](auto x) { return 1 / x; });
}

template <typename T>
absl::Status RunSqrt(const KernelCall& call) {
  return MapElements<T>(call, kCheapGrain, [](auto x) { return std::sqrt(x); });
}

TENSORD_INSTANTIATE_NUMBERS(RunAbs);
TENSORD_INSTANTIATE_INTEGERS(RunBitwiseNot);
TENSORD_INSTANTIATE_FLOATS(RunErf);
TENSORD_INSTANTIATE_FLOATS(RunExp);
TENSORD_INSTANTIATE_FLOATS(RunLog);
TENSORD_INSTANTIATE_SIGNED(RunNeg);
TENSORD_INSTANTIATE_FLOATS(RunReciprocal);
TENSORD_INSTANTIATE_FLOATS(RunSqrt);

}  // namespace tensord
