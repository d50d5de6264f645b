#ifndef TENSORD_BACKENDS_CPU_KERNELS_WRAPPING_H_
#define TENSORD_BACKENDS_CPU_KERNELS_WRAPPING_H_

#include <cstdint>
#include <type_traits>

#include "backends/api/float16.h"

namespace tensord {

// The type in which to add, subtract and multiply elements of type T so that
// integers wrap without undefined behaviour: unsigned, and of at least 32 bits,
// since narrower ones are promoted to int (in which two uint16_t overflow).
// Floating-point types stand for themselves, 16-bit ones for float32, so that
// whatever is computed in between is rounded once.
template <typename T, bool = std::is_integral_v<T>>
struct WrappingOf {
  using type = ComputeType<T>;
};
template <typename T>
struct WrappingOf<T, true> {
  using type =
      std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;
};
template <typename T>
using Wrapping = typename WrappingOf<T>::type;

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_WRAPPING_H_
