// Add, Sub, Mul, Div, Pow.
//
//   y[i] = f(a[i], b[i]), a and b broadcast to y's shape
//
// All are contiguous. y may be the buffer of an input of its own size. Computes
// in the elements' own type; integers wrap, as in numpy. An integer division by
// zero is kInvalidArgument; the other elements are computed all the same.

#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "absl/status/status.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/strided_walk.h"
#include "backends/cpu/kernels/wrapping.h"

namespace tensord {
namespace {

constexpr int64_t kCheapGrain = 32 * 1024;
constexpr int64_t kCostlyGrain = 4 * 1024;

template <typename A, typename B, typename Function>
void Map(const KernelCall& call, int64_t grain, Function f) {
  const A* a = call.input<A>(0);
  const B* b = call.input<B>(1);
  A* y = call.output<A>(0);
  const Shape& shape = call.output_layout(0).shape;
  const StridedWalk<2> walk(shape, [&](int i, int d) {
    return BroadcastStride(call.input_layout(i), shape, d);
  });
  const int64_t a_step = walk.strides[0][walk.rank - 1];
  const int64_t b_step = walk.strides[1][walk.rank - 1];
  const auto run = [=](int64_t at, const std::array<int64_t, 2>& offsets,
                       int64_t length) {
    const A* a_run = a + offsets[0];
    const B* b_run = b + offsets[1];
    A* y_run = y + at;
    // The three shapes that vectorise; a step is 0 or 1 for contiguous inputs.
    if (a_step == 1 && b_step == 1) {
      for (int64_t i = 0; i < length; ++i) y_run[i] = f(a_run[i], b_run[i]);
    } else if (a_step == 1) {
      const B b_value = *b_run;
      for (int64_t i = 0; i < length; ++i) y_run[i] = f(a_run[i], b_value);
    } else if (b_step == 1) {
      const A a_value = *a_run;
      for (int64_t i = 0; i < length; ++i) y_run[i] = f(a_value, b_run[i]);
    } else {
      for (int64_t i = 0; i < length; ++i) y_run[i] = f(*a_run, *b_run);
    }
  };
  call.context.workers->ParallelFor(
      shape.element_count(), grain,
      [&](int64_t begin, int64_t end) { walk.ForRange(begin, end, run); });
}

template <typename T>
T PowerOfIntegers(T base, int64_t exponent) {
  using U = Wrapping<T>;
  if (exponent < 0) {
    // The real power truncated: 0 unless the base is 1 or -1. 0 to a negative
    // power has no value; 0 as well.
    if (base == 1) return 1;
    if (std::is_signed_v<T> && base == static_cast<T>(-1)) {
      return exponent % 2 == 0 ? 1 : static_cast<T>(-1);
    }
    return 0;
  }
  U result = 1;
  U square = static_cast<U>(base);
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1) result *= square;
    square *= square;
  }
  return static_cast<T>(result);
}

}  // namespace

template <typename T>
absl::Status RunAdd(const KernelCall& call) {
  using U = Wrapping<T>;
  Map<T, T>(call, kCheapGrain, [](T a, T b) {
    return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
  });
  return absl::OkStatus();
}

template <typename T>
absl::Status RunSub(const KernelCall& call) {
  using U = Wrapping<T>;
  Map<T, T>(call, kCheapGrain, [](T a, T b) {
    return static_cast<T>(static_cast<U>(a) - static_cast<U>(b));
  });
  return absl::OkStatus();
}

template <typename T>
absl::Status RunMul(const KernelCall& call) {
  using U = Wrapping<T>;
  Map<T, T>(call, kCheapGrain, [](T a, T b) {
    return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
  });
  return absl::OkStatus();
}

// Integers truncate toward zero. The least integer divided by -1, which the
// type cannot hold, wraps to itself.
template <typename T>
absl::Status RunDiv(const KernelCall& call) {
  if constexpr (std::is_floating_point_v<T>) {
    Map<T, T>(call, kCheapGrain, [](T a, T b) { return a / b; });
    return absl::OkStatus();
  } else {
    std::atomic<bool> has_zero = false;
    Map<T, T>(call, kCheapGrain, [&has_zero](T a, T b) -> T {
      using U = Wrapping<T>;
      if (b == 0) {
        has_zero.store(true, std::memory_order_relaxed);
        return 0;
      }
      if (std::is_signed_v<T> && b == static_cast<T>(-1)) {
        return static_cast<T>(U{0} - static_cast<U>(a));
      }
      return static_cast<T>(a / b);
    });
    if (has_zero.load(std::memory_order_relaxed)) {
      return absl::InvalidArgumentError("integer division by zero");
    }
    return absl::OkStatus();
  }
}

template <typename T, typename Exponent>
absl::Status RunPow(const KernelCall& call) {
  if constexpr (std::is_integral_v<T> && std::is_integral_v<Exponent>) {
    Map<T, Exponent>(call, kCostlyGrain, [](T a, Exponent b) {
      return PowerOfIntegers<T>(a, static_cast<int64_t>(b));
    });
  } else {
    Map<T, Exponent>(call, kCostlyGrain, [](T a, Exponent b) {
      return static_cast<T>(std::pow(
          a,
          static_cast<
              std::conditional_t<std::is_same_v<T, float>, float, double>>(b)));
    });
  }
  return absl::OkStatus();
}

#define TENSORD_INSTANTIATE(T)                        \
  template absl::Status RunAdd<T>(const KernelCall&); \
  template absl::Status RunSub<T>(const KernelCall&); \
  template absl::Status RunMul<T>(const KernelCall&); \
  template absl::Status RunDiv<T>(const KernelCall&);

TENSORD_INSTANTIATE(float)
TENSORD_INSTANTIATE(double)
TENSORD_INSTANTIATE(int8_t)
TENSORD_INSTANTIATE(int16_t)
TENSORD_INSTANTIATE(int32_t)
TENSORD_INSTANTIATE(int64_t)
TENSORD_INSTANTIATE(uint8_t)
TENSORD_INSTANTIATE(uint16_t)
TENSORD_INSTANTIATE(uint32_t)
TENSORD_INSTANTIATE(uint64_t)

// Pairs of base and exponent; a base of integers with a fractional exponent
// would have no exact result, so that pair is not there.
template absl::Status RunPow<float, float>(const KernelCall&);
template absl::Status RunPow<float, double>(const KernelCall&);
template absl::Status RunPow<float, int32_t>(const KernelCall&);
template absl::Status RunPow<float, int64_t>(const KernelCall&);
template absl::Status RunPow<double, float>(const KernelCall&);
template absl::Status RunPow<double, double>(const KernelCall&);
template absl::Status RunPow<double, int64_t>(const KernelCall&);
template absl::Status RunPow<int32_t, int32_t>(const KernelCall&);
template absl::Status RunPow<int64_t, int64_t>(const KernelCall&);

}  // namespace tensord
