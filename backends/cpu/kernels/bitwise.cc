// BitwiseAnd, BitwiseOr, BitwiseXor, BitShift.
//
//   y[i] = a[i] op b[i], a and b broadcast to y's shape
//
// All are contiguous, of one integer dtype; y may be the buffer of an input of
// its own size. Signed integers are taken for unsigned, which have the same
// bits; BitShift is for unsigned ones alone, and shifts everything out where
// the count is the width or more.

#include <cstdint>

#include "absl/status/status.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/binary_map.h"

namespace tensord {

template <typename T>
absl::Status RunBitwiseAnd(const KernelCall& call) {
  MapPairs<T, T, T>(call, [](T a, T b) { return static_cast<T>(a & b); });
  return absl::OkStatus();
}

template <typename T>
absl::Status RunBitwiseOr(const KernelCall& call) {
  MapPairs<T, T, T>(call, [](T a, T b) { return static_cast<T>(a | b); });
  return absl::OkStatus();
}

template <typename T>
absl::Status RunBitwiseXor(const KernelCall& call) {
  MapPairs<T, T, T>(call, [](T a, T b) { return static_cast<T>(a ^ b); });
  return absl::OkStatus();
}

// Shifts as uint64_t, since narrow types are promoted to int, out of which a
// shift may push bits.
template <typename T>
absl::Status RunBitShift(const KernelCall& call) {
  constexpr uint64_t kBits = 8 * sizeof(T);
  if (std::get<BitShiftParams>(call.params).is_left) {
    MapPairs<T, T, T>(call, [](uint64_t a, uint64_t b) {
      return static_cast<T>(b < kBits ? a << b : 0);
    });
  } else {
    MapPairs<T, T, T>(call, [](uint64_t a, uint64_t b) {
      return static_cast<T>(b < kBits ? a >> b : 0);
    });
  }
  return absl::OkStatus();
}

#define TENSORD_INSTANTIATE(T)                               \
  template absl::Status RunBitShift<T>(const KernelCall&);   \
  template absl::Status RunBitwiseAnd<T>(const KernelCall&); \
  template absl::Status RunBitwiseOr<T>(const KernelCall&);  \
  template absl::Status RunBitwiseXor<T>(const KernelCall&);

TENSORD_INSTANTIATE(uint8_t)
TENSORD_INSTANTIATE(uint16_t)
TENSORD_INSTANTIATE(uint32_t)
TENSORD_INSTANTIATE(uint64_t)

}  // namespace tensord
