#ifndef TENSORD_SERVER_CONFIG_DEVICE_SELECTION_H_
#define TENSORD_SERVER_CONFIG_DEVICE_SELECTION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "backends/api/device_id.h"

namespace tensord {

// What one word of --devices names, before it is known which devices there
// are. Threading and ownership: a plain value.
struct DeviceSelection {
  BackendId backend = BackendId::kCpu;
  std::optional<uint16_t> ordinal;  // without: every device of the backend
  bool is_optional = false;         // none is fine

  // Whether they name the same.
  friend bool operator==(const DeviceSelection& a, const DeviceSelection& b) {
    return a.backend == b.backend && a.ordinal == b.ordinal;
  }
};

// "cuda:1" is one device, "cuda" all of a backend, "auto" the CPU and every GPU
// that there is. Nothing for anything else.
std::optional<std::vector<DeviceSelection>> SelectDevices(
    absl::string_view word);

// How many devices a backend has, and why when there is none.
struct DeviceCount {
  int count = 0;
  std::string why_none;
};

// The devices in the order of their selections. kFailedPrecondition for a
// backend without devices that was asked for, kInvalidArgument for a device
// that comes twice.
absl::StatusOr<std::vector<DeviceId>> ResolveDevices(
    absl::Span<const DeviceSelection> selections,
    absl::FunctionRef<DeviceCount(BackendId)> count);

}  // namespace tensord

#endif  // TENSORD_SERVER_CONFIG_DEVICE_SELECTION_H_
