// Ceil, Floor, Round, Sign.
//
//   y[i] = the next whole number above, below, or nearest to x[i], of two
//          equally near ones the even one; -1, 0 or 1 as x[i] compares with 0
//
// What is whole, infinite or NaN stays what it is; the sign of a NaN is NaN, of
// -0.0 it is 0.
//
// x and y are contiguous, have the same shape, and may be the same buffer.
// Every result is exact in the elements' own type.

#include <cmath>
#include <type_traits>

#include "backends/cpu/kernels/element_functions.h"
#include "backends/cpu/kernels/element_map.h"
#include "backends/cpu/kernels/instantiate.h"

namespace tensord {

template <typename T>
absl::Status RunCeil(const KernelCall& call) {
  return MapElements<T>(call, kCheapGrain, [](auto x) { return std::ceil(x); });
}

template <typename T>
absl::Status RunFloor(const KernelCall& call) {
  return MapElements<T>(call, kCheapGrain,
                        [](auto x) { return std::floor(x); });
}

// Nobody in this process changes the rounding mode, which is half to even.
template <typename T>
absl::Status RunRound(const KernelCall& call) {
  return MapElements<T>(call, kCheapGrain,
                        [](auto x) { return std::nearbyint(x); });
}

template <typename T>
absl::Status RunSign(const KernelCall& call) {
  return MapElements<T>(call, kCheapGrain, [](auto x) {
    using Number = decltype(x);
    if constexpr (std::is_unsigned_v<Number>) return Number{x != 0};
    if constexpr (std::is_floating_point_v<Number>) return Sign(x);
    return static_cast<Number>((x > 0) - (x < 0));
  });
}

TENSORD_INSTANTIATE_FLOATS(RunCeil);
TENSORD_INSTANTIATE_FLOATS(RunFloor);
TENSORD_INSTANTIATE_FLOATS(RunRound);
TENSORD_INSTANTIATE_NUMBERS(RunSign);

}  // namespace tensord
