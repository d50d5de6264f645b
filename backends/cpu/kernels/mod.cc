// Mod.
//
//   y[i] = a[i] - q * b[i], a and b broadcast to y's shape
//
// where q is a[i] / b[i] rounded toward zero, as C's fmod() and % do (y has a's
// sign), or down, as Python's % does (y has b's sign). All are contiguous; y
// may be the buffer of an input of its own size. The result is exact.
//
// Floating-point types have the first form alone, with NaN for a divisor of 0.
// An integer divisor of 0 is kInvalidArgument; the other elements are computed
// all the same.

#include <atomic>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "absl/status/status.h"
#include "backends/api/float16.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/binary_map.h"
#include "backends/cpu/kernels/instantiate.h"

namespace tensord {
namespace {

// b is not 0.
template <typename T>
T Remainder(T a, T b, bool is_fmod) {
  if constexpr (std::is_signed_v<T>) {
    // The least integer divided by -1 would trap.
    if (b == static_cast<T>(-1)) return 0;
    const auto rest = static_cast<T>(a % b);
    const bool differs = rest != 0 && (rest < 0) != (b < 0);
    return differs && !is_fmod ? static_cast<T>(rest + b) : rest;
  } else {
    return static_cast<T>(a % b);
  }
}

}  // namespace

template <typename T>
absl::Status RunMod(const KernelCall& call) {
  if constexpr (kIsFloat<T>) {
    using C = ComputeType<T>;
    MapCostlyPairs<T, T, T>(call, [](C a, C b) { return std::fmod(a, b); });
    return absl::OkStatus();
  } else {
    const bool is_fmod = std::get<ModParams>(call.params).is_fmod;
    std::atomic<bool> has_zero = false;
    MapCostlyPairs<T, T, T>(call, [is_fmod, &has_zero](T a, T b) -> T {
      if (b != 0) return Remainder(a, b, is_fmod);
      has_zero.store(true, std::memory_order_relaxed);
      return 0;
    });
    if (has_zero.load(std::memory_order_relaxed)) {
      return absl::InvalidArgumentError("an integer modulo zero");
    }
    return absl::OkStatus();
  }
}

TENSORD_INSTANTIATE_NUMBERS(RunMod);

}  // namespace tensord
