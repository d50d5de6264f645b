#ifndef TENSORD_BACKENDS_VULKAN_VULKAN_STATUS_H_
#define TENSORD_BACKENDS_VULKAN_VULKAN_STATUS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "backends/vulkan/vulkan_api.h"

namespace tensord::vulkan {

// "VK_ERROR_DEVICE_LOST", or the number of a result without a name here.
absl::string_view ResultName(VkResult result);

// What `call` gave, as a status: kResourceExhausted for memory, kUnavailable
// for a lost device, kInternal for other errors; OK for every result that is
// none, such as VK_TIMEOUT.
absl::Status VulkanStatus(VkResult result, absl::string_view call);

}  // namespace tensord::vulkan

#endif  // TENSORD_BACKENDS_VULKAN_VULKAN_STATUS_H_
