#ifndef TENSORD_BACKENDS_VULKAN_VULKAN_INSTANCE_H_
#define TENSORD_BACKENDS_VULKAN_VULKAN_INSTANCE_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/vulkan/physical_device.h"
#include "backends/vulkan/vulkan_api.h"

namespace tensord::vulkan {

// What the validation layer says, each message once. Called from any thread
// that calls Vulkan.
using ValidationListener = std::function<void(absl::string_view message)>;

// The process's connection to the drivers.
//
// Threading: immutable. Ownership: shared by the backend and its devices.
class VulkanInstance {
 public:
  // With a listener the Khronos validation layer is switched on. kUnavailable
  // without a driver, a layer, or with a driver that lacks something.
  static absl::StatusOr<std::shared_ptr<const VulkanInstance>> Create(
      PFN_vkGetInstanceProcAddr loader, ValidationListener listener);
  ~VulkanInstance();

  const VulkanApi& api() const { return api_; }

  // Those that the backend can use, in its order; and why others are none.
  const std::vector<PhysicalDevice>& devices() const { return devices_; }
  const std::vector<std::string>& refused() const { return refused_; }

 private:
  explicit VulkanInstance(ValidationListener listener)
      : listener_(std::move(listener)) {}
  absl::Status Connect(PFN_vkGetInstanceProcAddr loader);
  absl::Status AddListener();
  absl::Status FindDevices();

  const ValidationListener listener_;
  VulkanApi api_;
  VkInstance instance_ = nullptr;
  VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
  std::vector<PhysicalDevice> devices_;
  std::vector<std::string> refused_;
};

}  // namespace tensord::vulkan

#endif  // TENSORD_BACKENDS_VULKAN_VULKAN_INSTANCE_H_
