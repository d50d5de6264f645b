#ifndef TENSORD_BACKENDS_API_DEVICE_ID_H_
#define TENSORD_BACKENDS_API_DEVICE_ID_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace tensord {

// Which backend. A closed list: it is a metric label and part of the kernel
// binding key.
enum class BackendId : uint8_t { kCpu = 0, kCuda = 1, kVulkan = 2, kNull = 3 };

inline constexpr int kBackendCount = 4;

// "cpu", "cuda", "vulkan", "null".
absl::string_view BackendName(BackendId backend);
std::optional<BackendId> BackendFromName(absl::string_view name);

// One device of the pool: the backend and its ordinal there, from 0.
// Threading and ownership: a plain value.
struct DeviceId {
  BackendId backend = BackendId::kCpu;
  uint16_t ordinal = 0;

  // "cpu:0".
  std::string ToString() const;

  friend bool operator==(DeviceId a, DeviceId b) {
    return a.backend == b.backend && a.ordinal == b.ordinal;
  }
  friend bool operator!=(DeviceId a, DeviceId b) { return !(a == b); }
  template <typename H>
  friend H AbslHashValue(H h, DeviceId id) {
    return H::combine(std::move(h), id.backend, id.ordinal);
  }
};

}  // namespace tensord

#endif  // TENSORD_BACKENDS_API_DEVICE_ID_H_
