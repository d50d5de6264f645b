#ifndef TENSORD_BACKENDS_VULKAN_DEVICE_FAULT_H_
#define TENSORD_BACKENDS_VULKAN_DEVICE_FAULT_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "backends/api/device_loss.h"
#include "backends/vulkan/vulkan_api.h"

namespace tensord::vulkan {

// The loss of a device as Vulkan tells it. A lost VkDevice can only be
// destroyed.
// Threading and ownership: as DeviceLoss.
class DeviceFault : public DeviceLoss {
 public:
  using DeviceLoss::DeviceLoss;

  // What a call gave, as a status: VK_ERROR_DEVICE_LOST is noted, and once it
  // is that is what every call gives (kUnavailable).
  absl::Status Check(VkResult result, absl::string_view call);

  // The same for an error after which nothing of the device can be trusted,
  // whatever its kind.
  absl::Status Lose(VkResult result, absl::string_view call);
};

}  // namespace tensord::vulkan

#endif  // TENSORD_BACKENDS_VULKAN_DEVICE_FAULT_H_
