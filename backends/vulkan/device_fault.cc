#include "backends/vulkan/device_fault.h"

#include "backends/vulkan/vulkan_status.h"

namespace tensord::vulkan {

absl::Status DeviceFault::Check(VkResult result, absl::string_view call) {
  if (is_lost()) return status();
  if (result == VK_ERROR_DEVICE_LOST) return Lose(result, call);
  return VulkanStatus(result, call);
}

absl::Status DeviceFault::Lose(VkResult result, absl::string_view call) {
  return Note(VulkanStatus(result, call).message());
}

}  // namespace tensord::vulkan
