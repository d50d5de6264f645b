// Clip.
//
//   y[i] = min(max(x[i], low), high)
//
// x and y are contiguous, have the same shape, and may be the same buffer. The
// bounds have one element each: inputs 1 and 2 of x's dtype, or inputs 3 and 4
// of float32, which were attributes. An absent one does not bind. Where low is
// above high, high wins. A NaN stays a NaN. Compares in the elements' own type;
// 16-bit floats in float32.

#include <limits>

#include "backends/cpu/kernels/element_functions.h"
#include "backends/cpu/kernels/element_map.h"
#include "backends/cpu/kernels/instantiate.h"

namespace tensord {
namespace {

template <typename T>
ComputeType<T> Bound(const KernelCall& call, int index, ComputeType<T> absent) {
  if (call.has_input(index)) return *call.input<T>(index);
  if constexpr (kIsFloat<T>) {
    if (call.has_input(index + 2)) return *call.input<float>(index + 2);
  }
  return absent;
}

}  // namespace

template <typename T>
absl::Status RunClip(const KernelCall& call) {
  using Number = ComputeType<T>;
  using Limits = std::numeric_limits<Number>;
  constexpr Number kLeast =
      Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  constexpr Number kMost =
      Limits::has_infinity ? Limits::infinity() : Limits::max();
  const Number low = Bound<T>(call, 1, kLeast);
  const Number high = Bound<T>(call, 2, kMost);
  return MapElements<T>(call, kCheapGrain,
                        [low, high](Number x) { return Clip(x, low, high); });
}

TENSORD_INSTANTIATE_NUMBERS(RunClip);

}  // namespace tensord
