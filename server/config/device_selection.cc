#include "server/config/device_selection.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace tensord {
namespace {

std::string NameOf(const DeviceSelection& selection) {
  if (!selection.ordinal.has_value()) {
    return std::string(BackendName(selection.backend));
  }
  return DeviceId{selection.backend, *selection.ordinal}.ToString();
}

}  // namespace

std::optional<std::vector<DeviceSelection>> SelectDevices(
    absl::string_view word) {
  if (word == "auto") {
    return std::vector<DeviceSelection>{
        {.backend = BackendId::kCpu, .ordinal = 0},
        {.backend = BackendId::kCuda, .is_optional = true}};
  }
  const size_t colon = word.find(':');
  const std::optional<BackendId> backend =
      BackendFromName(word.substr(0, colon));
  if (!backend.has_value()) return std::nullopt;
  DeviceSelection selection = {.backend = *backend};
  if (colon != absl::string_view::npos) {
    int ordinal = 0;
    if (!absl::SimpleAtoi(word.substr(colon + 1), &ordinal) || ordinal < 0 ||
        ordinal > UINT16_MAX) {
      return std::nullopt;
    }
    selection.ordinal = static_cast<uint16_t>(ordinal);
  }
  return std::vector<DeviceSelection>{selection};
}

absl::StatusOr<std::vector<DeviceId>> ResolveDevices(
    absl::Span<const DeviceSelection> selections,
    absl::FunctionRef<DeviceCount(BackendId)> count) {
  std::vector<DeviceId> devices;
  for (const DeviceSelection& selection : selections) {
    const DeviceCount found = count(selection.backend);
    if (found.count == 0 && !selection.is_optional) {
      return absl::FailedPreconditionError(
          absl::StrCat("--devices: there is no '", NameOf(selection),
                       "': ", found.why_none));
    }
    const int first = selection.ordinal.value_or(0);
    const int end = selection.ordinal.has_value() ? first + 1 : found.count;
    for (int ordinal = first; ordinal < end; ++ordinal) {
      const DeviceId id = {selection.backend, static_cast<uint16_t>(ordinal)};
      if (std::find(devices.begin(), devices.end(), id) != devices.end()) {
        return absl::InvalidArgumentError(
            absl::StrCat("--devices: '", id.ToString(), "' is there twice"));
      }
      devices.push_back(id);
    }
  }
  return devices;
}

}  // namespace tensord
