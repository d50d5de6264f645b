#include "backends/api/device_id.h"

#include <array>

#include "absl/strings/str_cat.h"

namespace tensord {
namespace {

constexpr std::array<absl::string_view, kBackendCount> kNames = {
    "cpu", "cuda", "vulkan", "null"};

}  // namespace

absl::string_view BackendName(BackendId backend) {
  return kNames[static_cast<size_t>(backend)];
}

std::optional<BackendId> BackendFromName(absl::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<BackendId>(i);
  }
  return std::nullopt;
}

std::string DeviceId::ToString() const {
  return absl::StrCat(BackendName(backend), ":", ordinal);
}

}  // namespace tensord
