// Pow with an exponent of another dtype than the base, and of integers.
//
//   y[i] = a[i] to the power b[i], a and b broadcast to y's shape
//
// All are contiguous; y has a's dtype and may be a's buffer when it has its
// size. Powers with a float are computed in float64 and rounded once. Integers
// to an integer are exact and wrap; a negative exponent truncates the real
// power to 0, 1 or -1 (0 to a negative power is 0). An integer to a float is
// truncated, and the nearest limit of its dtype where that cannot hold it; NaN
// is 0.

#include <cstdint>

#include "backends/cuda/kernels/elementwise.h"
#include "backends/cuda/kernels/map.h"
#include "backends/cuda/kernels/visit_dtype.h"

namespace tensord::cuda {
namespace {

// An exponent of any dtype: one loop serves all, where a kernel for each pair
// would be 72 of them.
struct Exponent {
  bool is_integer;
  bool is_negative;
  int64_t integer;  // its bits, of a uint64_t too
  double real;
};

template <typename T>
__device__ Exponent ExponentAt(const void* exponents, int64_t i) {
  const T x = static_cast<const T*>(exponents)[i];
  if constexpr (kIsFloat<T>) {
    return {false, false, 0, static_cast<double>(ToCompute(x))};
  } else {
    return {true, IsNegative(x), static_cast<int64_t>(x),
            static_cast<double>(x)};
  }
}

__device__ Exponent LoadExponent(DType dtype, const void* from, int64_t i) {
  switch (dtype) {
    case DType::kFloat32:
      return ExponentAt<float>(from, i);
    case DType::kFloat64:
      return ExponentAt<double>(from, i);
    case DType::kFloat16:
      return ExponentAt<Half>(from, i);
    case DType::kBFloat16:
      return ExponentAt<BHalf>(from, i);
    case DType::kInt8:
      return ExponentAt<int8_t>(from, i);
    case DType::kInt16:
      return ExponentAt<int16_t>(from, i);
    case DType::kInt32:
      return ExponentAt<int32_t>(from, i);
    case DType::kInt64:
      return ExponentAt<int64_t>(from, i);
    case DType::kUInt8:
      return ExponentAt<uint8_t>(from, i);
    case DType::kUInt16:
      return ExponentAt<uint16_t>(from, i);
    case DType::kUInt32:
      return ExponentAt<uint32_t>(from, i);
    default:
      return ExponentAt<uint64_t>(from, i);
  }
}

template <typename T>
__device__ T IntegerPower(T base, int64_t exponent, bool is_negative) {
  using U = Wrapping<T>;
  if (is_negative) {
    if (base == 1) return 1;
    if (base == -1) return exponent % 2 == 0 ? 1 : -1;
    return 0;
  }
  U result = 1;
  U square = static_cast<U>(base);
  for (auto rest = static_cast<uint64_t>(exponent); rest > 0; rest >>= 1) {
    if (rest & 1) result *= square;
    square *= square;
  }
  return static_cast<T>(result);
}

// A double holds the integers only to 2^53: where both are integers, and the
// double says that the result fits, it is computed exactly.
template <typename T>
__device__ T IntegerToReal(T base, double exponent) {
  constexpr double kExponents = 0x1p62;
  const double power = pow(static_cast<double>(base), exponent);
  if (trunc(exponent) == exponent && fabs(exponent) < kExponents &&
      power >= static_cast<double>(kLeast<T>) &&
      power < -static_cast<double>(kLeast<T>)) {
    return IntegerPower(base, static_cast<int64_t>(exponent), exponent < 0);
  }
  return Convert<T>(power);
}

template <typename T>
__device__ T Power(T base, const Exponent& exponent) {
  if constexpr (std::is_integral_v<T>) {
    return exponent.is_integer
               ? IntegerPower(base, exponent.integer, exponent.is_negative)
               : IntegerToReal(base, exponent.real);
  } else {
    const auto wide = static_cast<double>(ToCompute(base));
    if (!exponent.is_integer) return Convert<T>(pow(wide, exponent.real));
    // The exponent as a double may be another number, but not one of another
    // sign or size; whether it is odd is asked of the integer itself.
    const double size = pow(fabs(wide), exponent.real);
    const bool is_negative =
        copysign(1.0, wide) < 0 && (exponent.integer & 1) != 0;
    return Convert<T>(is_negative ? -size : size);
  }
}

template <typename T>
__global__ void PowKernel(BroadcastWalk<2> walk, DType exponent_dtype,
                          const T* bases, const void* exponents, T* y) {
  for (int64_t i = GridThread(); i < walk.count; i += GridThreads()) {
    int64_t offsets[2];
    walk.Locate(i, offsets);
    y[i] = Power<T>(bases[offsets[0]],
                    LoadExponent(exponent_dtype, exponents, offsets[1]));
  }
}

}  // namespace

absl::Status RunMixedPow(const KernelCall& call, DType base, DType exponent) {
  const Layout* inputs[] = {&call.input_layout(0), &call.input_layout(1)};
  const auto walk = MakeBroadcastWalk<2>(inputs, call.output_layout(0).shape);
  const void* exponents =
      call.inputs[1].address() +
      static_cast<int64_t>(ByteSize(exponent, call.input_layout(1).offset));
  const auto launch = [&](auto tag) {
    using T = typename decltype(tag)::type;
    return Launch(call.context, PowKernel<T>, ForElements(walk.count), walk,
                  exponent, call.input<T>(0), exponents, call.output<T>(0));
  };
  if (base == DType::kInt32) return launch(TypeTag<int32_t>());
  if (base == DType::kInt64) return launch(TypeTag<int64_t>());
  return VisitFloat(base, launch);
}

}  // namespace tensord::cuda
