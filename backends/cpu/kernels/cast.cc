// Cast.
//
//   y[i] = x[i] in y's dtype
//
// x and y are contiguous, have the same shape, and are different buffers.
// Between integers the low bits stay. A float becomes an integer by truncation;
// what the integer cannot hold becomes its nearest bound, and a NaN 0 (the
// standard leaves both open, and C++ would make them undefined). To bool,
// everything but 0 is true.

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "backends/api/host_services.h"
#include "backends/api/kernel.h"

namespace tensord {
namespace {

constexpr int64_t kGrain = 16 * 1024;

template <typename To, typename From>
To Convert(From x) {
  if constexpr (std::is_same_v<To, bool>) {
    return x != From{0};
  } else if constexpr (std::is_floating_point_v<From> &&
                       std::is_integral_v<To>) {
    // The bounds as floats: the lower is exact, the upper the first value that
    // no longer fits (2^63 for int64).
    constexpr From kLow = static_cast<From>(std::numeric_limits<To>::min());
    const From past = std::ldexp(From{1}, std::numeric_limits<To>::digits);
    if (std::isnan(x)) return 0;
    const From whole = std::trunc(x);
    if (whole < kLow) return std::numeric_limits<To>::min();
    if (whole >= past) return std::numeric_limits<To>::max();
    return static_cast<To>(whole);
  } else {
    return static_cast<To>(x);
  }
}

}  // namespace

template <typename From, typename To>
absl::Status RunCast(const KernelCall& call) {
  const From* x = call.input<From>(0);
  To* y = call.output<To>(0);
  call.context.workers->ParallelFor(call.output_layout(0).shape.element_count(),
                                    kGrain, [=](int64_t begin, int64_t end) {
                                      for (int64_t i = begin; i < end; ++i)
                                        y[i] = Convert<To>(x[i]);
                                    });
  return absl::OkStatus();
}

#define TENSORD_INSTANTIATE_TO(From, To) \
  template absl::Status RunCast<From, To>(const KernelCall&);
#define TENSORD_INSTANTIATE(From)        \
  TENSORD_INSTANTIATE_TO(From, float)    \
  TENSORD_INSTANTIATE_TO(From, double)   \
  TENSORD_INSTANTIATE_TO(From, int8_t)   \
  TENSORD_INSTANTIATE_TO(From, int16_t)  \
  TENSORD_INSTANTIATE_TO(From, int32_t)  \
  TENSORD_INSTANTIATE_TO(From, int64_t)  \
  TENSORD_INSTANTIATE_TO(From, uint8_t)  \
  TENSORD_INSTANTIATE_TO(From, uint16_t) \
  TENSORD_INSTANTIATE_TO(From, uint32_t) \
  TENSORD_INSTANTIATE_TO(From, uint64_t) \
  TENSORD_INSTANTIATE_TO(From, bool)

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
TENSORD_INSTANTIATE(bool)

}  // namespace tensord
