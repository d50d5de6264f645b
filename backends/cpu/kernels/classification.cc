// IsInf, IsNaN.
//
//   y[i] = whether x[i] is an infinity (of a sign that the parameters ask for),
//          or a NaN
//
// x is contiguous; y is bool, of the same shape, and another buffer.

#include <cmath>

#include "backends/cpu/kernels/element_map.h"
#include "backends/cpu/kernels/instantiate.h"

namespace tensord {

template <typename T>
absl::Status RunIsInf(const KernelCall& call) {
  const auto& params = std::get<IsInfParams>(call.params);
  const bool negative = params.detects_negative;
  const bool positive = params.detects_positive;
  return MapElements<T, bool>(call, kCheapGrain, [negative, positive](auto x) {
    return std::isinf(x) && (std::signbit(x) ? negative : positive);
  });
}

template <typename T>
absl::Status RunIsNaN(const KernelCall& call) {
  return MapElements<T, bool>(call, kCheapGrain,
                              [](auto x) { return std::isnan(x); });
}

TENSORD_INSTANTIATE_FLOATS(RunIsInf);
TENSORD_INSTANTIATE_FLOATS(RunIsNaN);

}  // namespace tensord
