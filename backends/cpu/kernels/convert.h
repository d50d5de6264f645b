#ifndef TENSORD_BACKENDS_CPU_KERNELS_CONVERT_H_
#define TENSORD_BACKENDS_CPU_KERNELS_CONVERT_H_

#include <type_traits>

#include "backends/api/float16.h"
#include "backends/cpu/kernels/saturate.h"

namespace tensord {

// An element of type From as one of type To. Between integers the low bits
// stay. A float becomes an integer by truncation; what the integer cannot hold
// becomes its nearest limit, and a NaN 0 (the standard leaves both open, and
// C++ would make them undefined). A number becomes a float by one rounding. To
// bool, everything but 0 is true.
template <typename To, typename From>
To Convert(From x) {
  const auto number = static_cast<ComputeType<From>>(x);
  if constexpr (std::is_same_v<To, From>) {
    return x;
  } else if constexpr (std::is_same_v<To, bool>) {
    return number != 0;
  } else if constexpr (kIsFloat<From> && std::is_integral_v<To>) {
    return Saturate<To>(number);
  } else {
    return static_cast<To>(number);
  }
}

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_CONVERT_H_
