#include "tools/tensordctl/device_table.h"

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "tools/tensordctl/table.h"
#include "tools/tensordctl/units.h"

namespace tensord::ctl {
namespace {

std::string HealthText(v1::DeviceHealth health) {
  const std::string& name = v1::DeviceHealth_Name(health);
  return absl::AsciiStrToLower(
      absl::StripPrefix(absl::string_view(name), "DEVICE_HEALTH_"));
}

Tone ToneOf(v1::DeviceHealth health) {
  switch (health) {
    case v1::DEVICE_HEALTH_HEALTHY:
      return Tone::kPlain;
    case v1::DEVICE_HEALTH_DRAINING:
    case v1::DEVICE_HEALTH_DRAINED:
      return Tone::kDim;
    default:
      return Tone::kBad;
  }
}

}  // namespace

void PrintDeviceTable(const Console& console,
                      const v1::ListDevicesResponse& devices) {
  Table table({{"DEVICE"},
               {"HEALTH"},
               {"LANES", Align::kRight},
               {"IN FLIGHT", Align::kRight},
               {"QUEUED", Align::kRight},
               {"MEMORY", Align::kRight},
               {"LIMIT", Align::kRight},
               {"DONE", Align::kRight},
               {"FAILED", Align::kRight},
               {"DESCRIPTION", Align::kLeft, true}});
  for (const v1::Device& device : devices.devices()) {
    table.AddRow({device.name(), HealthText(device.health()),
                  absl::StrCat(device.lane_count()),
                  absl::StrCat(device.in_flight_count()),
                  absl::StrCat(device.queue_depth()),
                  FormatBytes(device.memory_used_bytes()),
                  FormatBytes(device.memory_limit_bytes()),
                  absl::StrCat(device.completed_count()),
                  absl::StrCat(device.failed_count()),
                  device.health_reason().empty() ? device.description()
                                                 : device.health_reason()},
                 ToneOf(device.health()));
  }
  table.Print(console);
}

}  // namespace tensord::ctl
