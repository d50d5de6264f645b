// And, Or, Xor.
//
//   y[i] = a[i] op b[i], a and b broadcast to y's shape
//
// All are contiguous and bool, of which a byte other than 0 is true; y has 0
// and 1, and may be the buffer of an input of its own size.

#include <cstdint>

#include "absl/status/status.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/binary_map.h"

namespace tensord {

absl::Status RunAnd(const KernelCall& call) {
  MapPairs<uint8_t, uint8_t, uint8_t>(call, [](uint8_t a, uint8_t b) {
    return static_cast<uint8_t>((a != 0) & (b != 0));
  });
  return absl::OkStatus();
}

absl::Status RunOr(const KernelCall& call) {
  MapPairs<uint8_t, uint8_t, uint8_t>(call, [](uint8_t a, uint8_t b) {
    return static_cast<uint8_t>((a | b) != 0);
  });
  return absl::OkStatus();
}

absl::Status RunXor(const KernelCall& call) {
  MapPairs<uint8_t, uint8_t, uint8_t>(call, [](uint8_t a, uint8_t b) {
    return static_cast<uint8_t>((a != 0) != (b != 0));
  });
  return absl::OkStatus();
}

}  // namespace tensord
