// Pow.
//
//   y[i] = a[i] to the power b[i], a and b broadcast to y's shape
//
// All are contiguous; y has a's dtype and may be a's buffer when it has its
// size. float32 to a float32 is computed in float32, all other powers with a
// float in float64, and rounded once. Integers to an integer are exact and
// wrap, as in numpy; a negative exponent truncates the real power to 0, 1 or
// -1 (0 to a negative power is 0). An integer to a float is truncated, and the
// nearest limit of its dtype where that cannot hold it; NaN is 0.

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "absl/status/status.h"
#include "backends/api/float16.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/binary_map.h"
#include "backends/cpu/kernels/saturate.h"
#include "backends/cpu/kernels/wrapping.h"

namespace tensord {
namespace {

template <typename T, typename Exponent>
T PowerOfIntegers(T base, Exponent exponent) {
  using U = Wrapping<T>;
  if constexpr (std::is_signed_v<Exponent>) {
    if (exponent < 0) {
      if (base == 1) return 1;
      if (base == -1) return exponent % 2 == 0 ? 1 : -1;
      return 0;
    }
  }
  U result = 1;
  U square = static_cast<U>(base);
  for (auto rest = static_cast<uint64_t>(exponent); rest > 0; rest >>= 1) {
    if (rest & 1) result *= square;
    square *= square;
  }
  return static_cast<T>(result);
}

// The exponent as a double may be another number, but not one of another sign
// or size; whether it is odd is asked of the integer itself.
template <typename Exponent>
double PowerOfFloat(double base, Exponent exponent) {
  const double size = std::pow(std::abs(base), static_cast<double>(exponent));
  return std::signbit(base) && (exponent & 1) != 0 ? -size : size;
}

// A double holds the integers only to 2^53: where both are integers, and the
// double says that the result fits, it is computed exactly.
template <typename T>
T PowerOfInteger(T base, double exponent) {
  constexpr double kExponents = 0x1p62;
  const double power = std::pow(static_cast<double>(base), exponent);
  if (std::trunc(exponent) == exponent && std::abs(exponent) < kExponents &&
      power >= static_cast<double>(std::numeric_limits<T>::min()) &&
      power < -static_cast<double>(std::numeric_limits<T>::min())) {
    return PowerOfIntegers(base, static_cast<int64_t>(exponent));
  }
  return Saturate<T>(power);
}

template <typename T, typename Exponent>
auto Power(T base, Exponent exponent) {
  if constexpr (std::is_integral_v<T> && std::is_integral_v<Exponent>) {
    return PowerOfIntegers(base, exponent);
  } else if constexpr (std::is_integral_v<T>) {
    return PowerOfInteger(base, static_cast<double>(exponent));
  } else if constexpr (std::is_integral_v<Exponent>) {
    return PowerOfFloat(base, exponent);
  } else if constexpr (std::is_same_v<T, float> &&
                       std::is_same_v<Exponent, float>) {
    return std::pow(base, exponent);
  } else {
    return std::pow(static_cast<double>(base), static_cast<double>(exponent));
  }
}

// Squares are everywhere, as in variances, and a product each.
bool IsSquare(const KernelCall& call) {
  return call.input_layout(1).shape.element_count() == 1 &&
         *call.input<float>(1) == 2 &&
         call.input_layout(0).shape.element_count() ==
             call.output_layout(0).shape.element_count();
}

void Square(const KernelCall& call) {
  constexpr int64_t kGrain = 32 * 1024;
  const float* x = call.input<float>(0);
  float* y = call.output<float>(0);
  call.context.workers->ParallelFor(call.output_layout(0).shape.element_count(),
                                    kGrain, [=](int64_t begin, int64_t end) {
                                      for (int64_t i = begin; i < end; ++i)
                                        y[i] = x[i] * x[i];
                                    });
}

}  // namespace

template <typename T, typename Exponent>
absl::Status RunPow(const KernelCall& call) {
  if constexpr (std::is_same_v<T, float> && std::is_same_v<Exponent, float>) {
    if (IsSquare(call)) {
      Square(call);
      return absl::OkStatus();
    }
  }
  MapCostlyPairs<T, Exponent, T>(call, [](T base, Exponent exponent) {
    return static_cast<T>(Power(base, exponent));
  });
  return absl::OkStatus();
}

#define TENSORD_INSTANTIATE(T)                                  \
  template absl::Status RunPow<T, float>(const KernelCall&);    \
  template absl::Status RunPow<T, double>(const KernelCall&);   \
  template absl::Status RunPow<T, Float16>(const KernelCall&);  \
  template absl::Status RunPow<T, BFloat16>(const KernelCall&); \
  template absl::Status RunPow<T, int8_t>(const KernelCall&);   \
  template absl::Status RunPow<T, int16_t>(const KernelCall&);  \
  template absl::Status RunPow<T, int32_t>(const KernelCall&);  \
  template absl::Status RunPow<T, int64_t>(const KernelCall&);  \
  template absl::Status RunPow<T, uint8_t>(const KernelCall&);  \
  template absl::Status RunPow<T, uint16_t>(const KernelCall&); \
  template absl::Status RunPow<T, uint32_t>(const KernelCall&); \
  template absl::Status RunPow<T, uint64_t>(const KernelCall&);

TENSORD_INSTANTIATE(float)
TENSORD_INSTANTIATE(double)
TENSORD_INSTANTIATE(Float16)
TENSORD_INSTANTIATE(BFloat16)
TENSORD_INSTANTIATE(int32_t)
TENSORD_INSTANTIATE(int64_t)

}  // namespace tensord
