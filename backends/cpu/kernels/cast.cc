// Cast.
//
//   y[i] = x[i] in y's dtype
//
// x and y are contiguous, have the same shape, and are different buffers.
// Between integers the low bits stay. A float becomes an integer by truncation;
// what the integer cannot hold becomes its nearest bound, and a NaN 0 (the
// standard leaves both open, and C++ would make them undefined). To bool,
// everything but 0 is true.

#include <cstdint>
#include <type_traits>

#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/saturate.h"

namespace tensord {
namespace {

constexpr int64_t kGrain = 16 * 1024;

template <typename To, typename From>
To Convert(From x) {
  if constexpr (std::is_same_v<To, bool>) {
    return x != From{0};
  } else if constexpr (std::is_floating_point_v<From>) {
    return Saturate<To>(x);
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
