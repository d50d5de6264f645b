// Add, Sub, Mul, Div.
//
//   y[i] = f(a[i], b[i]), a and b broadcast to y's shape
//
// All are contiguous. y may be the buffer of an input of its own size. Computes
// in the elements' own type, 16-bit floats in float32; integers wrap, as in
// numpy. An integer division by zero is kInvalidArgument; the other elements
// are computed all the same.

#include <atomic>
#include <cstdint>
#include <type_traits>

#include "absl/status/status.h"
#include "backends/api/float16.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/binary_map.h"
#include "backends/cpu/kernels/instantiate.h"
#include "backends/cpu/kernels/wrapping.h"

namespace tensord {

template <typename T>
absl::Status RunAdd(const KernelCall& call) {
  using C = ComputeType<T>;
  using U = Wrapping<C>;
  MapPairs<T, T, T>(call, [](C a, C b) {
    return static_cast<C>(static_cast<U>(a) + static_cast<U>(b));
  });
  return absl::OkStatus();
}

template <typename T>
absl::Status RunSub(const KernelCall& call) {
  using C = ComputeType<T>;
  using U = Wrapping<C>;
  MapPairs<T, T, T>(call, [](C a, C b) {
    return static_cast<C>(static_cast<U>(a) - static_cast<U>(b));
  });
  return absl::OkStatus();
}

template <typename T>
absl::Status RunMul(const KernelCall& call) {
  using C = ComputeType<T>;
  using U = Wrapping<C>;
  MapPairs<T, T, T>(call, [](C a, C b) {
    return static_cast<C>(static_cast<U>(a) * static_cast<U>(b));
  });
  return absl::OkStatus();
}

// Integers truncate toward zero. The least integer divided by -1, which the
// type cannot hold, wraps to itself.
template <typename T>
absl::Status RunDiv(const KernelCall& call) {
  if constexpr (kIsFloat<T>) {
    using C = ComputeType<T>;
    MapPairs<T, T, T>(call, [](C a, C b) { return a / b; });
    return absl::OkStatus();
  } else {
    std::atomic<bool> has_zero = false;
    MapCostlyPairs<T, T, T>(call, [&has_zero](T a, T b) -> T {
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

TENSORD_INSTANTIATE_NUMBERS(RunAdd);
TENSORD_INSTANTIATE_NUMBERS(RunDiv);
TENSORD_INSTANTIATE_NUMBERS(RunMul);
TENSORD_INSTANTIATE_NUMBERS(RunSub);

}  // namespace tensord
