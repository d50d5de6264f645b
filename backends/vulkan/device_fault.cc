#include "backends/vulkan/device_fault.h"

#include "absl/strings/str_cat.h"
#include "backends/vulkan/vulkan_status.h"

namespace tensord::vulkan {

absl::Status DeviceFault::Check(VkResult result, absl::string_view call) {
  if (is_lost()) return status();
  if (result == VK_ERROR_DEVICE_LOST) return Lose(result, call);
  return VulkanStatus(result, call);
}

absl::Status DeviceFault::Lose(VkResult result, absl::string_view call) {
  absl::MutexLock lock(&mu_);
  if (status_.ok()) {
    status_ = absl::UnavailableError(
        absl::StrCat("device ", device_.ToString(),
                     " is lost: ", VulkanStatus(result, call).message()));
    is_lost_.store(true, std::memory_order_release);
  }
  return status_;
}

absl::Status DeviceFault::status() const {
  if (!is_lost()) return absl::OkStatus();
  absl::MutexLock lock(&mu_);
  return status_;
}

}  // namespace tensord::vulkan
