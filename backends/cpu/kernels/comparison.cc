// Equal, Greater, GreaterOrEqual, Less, LessOrEqual.
//
//   y[i] = a[i] op b[i], a and b broadcast to y's shape
//
// All are contiguous; y is bool and no input's buffer. A NaN equals nothing and
// is neither greater nor less than anything; -0 equals 0. Whether integers are
// equal follows from their bits, so signed ones are taken for unsigned.

#include <cstdint>

#include "absl/status/status.h"
#include "backends/api/float16.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/binary_map.h"
#include "backends/cpu/kernels/instantiate.h"

namespace tensord {

template <typename T>
absl::Status RunEqual(const KernelCall& call) {
  using C = ComputeType<T>;
  MapPairs<T, T, bool>(call, [](C a, C b) { return a == b; });
  return absl::OkStatus();
}

template <typename T>
absl::Status RunGreater(const KernelCall& call) {
  using C = ComputeType<T>;
  MapPairs<T, T, bool>(call, [](C a, C b) { return a > b; });
  return absl::OkStatus();
}

template <typename T>
absl::Status RunGreaterOrEqual(const KernelCall& call) {
  using C = ComputeType<T>;
  MapPairs<T, T, bool>(call, [](C a, C b) { return a >= b; });
  return absl::OkStatus();
}

template <typename T>
absl::Status RunLess(const KernelCall& call) {
  using C = ComputeType<T>;
  MapPairs<T, T, bool>(call, [](C a, C b) { return a < b; });
  return absl::OkStatus();
}

template <typename T>
absl::Status RunLessOrEqual(const KernelCall& call) {
  using C = ComputeType<T>;
  MapPairs<T, T, bool>(call, [](C a, C b) { return a <= b; });
  return absl::OkStatus();
}

TENSORD_INSTANTIATE_FLOATS(RunEqual);
TENSORD_INSTANTIATE(RunEqual, uint8_t);
TENSORD_INSTANTIATE(RunEqual, uint16_t);
TENSORD_INSTANTIATE(RunEqual, uint32_t);
TENSORD_INSTANTIATE(RunEqual, uint64_t);
TENSORD_INSTANTIATE_NUMBERS(RunGreater);
TENSORD_INSTANTIATE_NUMBERS(RunGreaterOrEqual);
TENSORD_INSTANTIATE_NUMBERS(RunLess);
TENSORD_INSTANTIATE_NUMBERS(RunLessOrEqual);

}  // namespace tensord
