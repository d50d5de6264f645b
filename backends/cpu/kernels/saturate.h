#ifndef TENSORD_BACKENDS_CPU_KERNELS_SATURATE_H_
#define TENSORD_BACKENDS_CPU_KERNELS_SATURATE_H_

#include <limits>

#include "backends/api/float16.h"

namespace tensord {

// A number as an element of type T. For integers its integer part, the nearest
// limit where T cannot hold it, 0 for a NaN: the plain conversion would be
// undefined.
template <typename T>
T Saturate(double x) {
  if constexpr (kIsFloat<T>) {
    return static_cast<T>(x);
  } else {
    // The limits as doubles may round up, so a value at one is past it.
    constexpr auto kLeast = static_cast<double>(std::numeric_limits<T>::min());
    constexpr auto kMost = static_cast<double>(std::numeric_limits<T>::max());
    if (x != x) return 0;
    if (x <= kLeast) return std::numeric_limits<T>::min();
    if (x >= kMost) return std::numeric_limits<T>::max();
    return static_cast<T>(x);
  }
}

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_SATURATE_H_
