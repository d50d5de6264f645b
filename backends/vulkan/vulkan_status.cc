#include "backends/vulkan/vulkan_status.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace tensord::vulkan {

absl::string_view ResultName(VkResult result) {
  switch (result) {
#define TENSORD_VULKAN_NAME(name) \
  case name:                      \
    return #name;
    TENSORD_VULKAN_NAME(VK_SUCCESS)
    TENSORD_VULKAN_NAME(VK_TIMEOUT)
    TENSORD_VULKAN_NAME(VK_NOT_READY)
    TENSORD_VULKAN_NAME(VK_INCOMPLETE)
    TENSORD_VULKAN_NAME(VK_ERROR_OUT_OF_HOST_MEMORY)
    TENSORD_VULKAN_NAME(VK_ERROR_OUT_OF_DEVICE_MEMORY)
    TENSORD_VULKAN_NAME(VK_ERROR_INITIALIZATION_FAILED)
    TENSORD_VULKAN_NAME(VK_ERROR_DEVICE_LOST)
    TENSORD_VULKAN_NAME(VK_ERROR_MEMORY_MAP_FAILED)
    TENSORD_VULKAN_NAME(VK_ERROR_LAYER_NOT_PRESENT)
    TENSORD_VULKAN_NAME(VK_ERROR_EXTENSION_NOT_PRESENT)
    TENSORD_VULKAN_NAME(VK_ERROR_FEATURE_NOT_PRESENT)
    TENSORD_VULKAN_NAME(VK_ERROR_INCOMPATIBLE_DRIVER)
    TENSORD_VULKAN_NAME(VK_ERROR_TOO_MANY_OBJECTS)
    TENSORD_VULKAN_NAME(VK_ERROR_FRAGMENTED_POOL)
    TENSORD_VULKAN_NAME(VK_ERROR_FRAGMENTATION)
    TENSORD_VULKAN_NAME(VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS)
    TENSORD_VULKAN_NAME(VK_ERROR_UNKNOWN)
#undef TENSORD_VULKAN_NAME
    default:
      return "";
  }
}

absl::Status VulkanStatus(VkResult result, absl::string_view call) {
  if (result >= 0) return absl::OkStatus();
  const absl::string_view name = ResultName(result);
  const std::string text = name.empty()
                               ? absl::StrCat(call, ": VkResult ", int{result})
                               : absl::StrCat(call, ": ", name);
  switch (result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
    case VK_ERROR_TOO_MANY_OBJECTS:
    case VK_ERROR_FRAGMENTED_POOL:
    case VK_ERROR_FRAGMENTATION:
      return absl::ResourceExhaustedError(text);
    case VK_ERROR_DEVICE_LOST:
      return absl::UnavailableError(text);
    default:
      return absl::InternalError(text);
  }
}

}  // namespace tensord::vulkan
