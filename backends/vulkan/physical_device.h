#ifndef TENSORD_BACKENDS_VULKAN_PHYSICAL_DEVICE_H_
#define TENSORD_BACKENDS_VULKAN_PHYSICAL_DEVICE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/api/backend.h"
#include "backends/vulkan/vulkan_api.h"

namespace tensord::vulkan {

// What a device of the driver is and can do, as far as the backend asks.
// Threading and ownership: a plain value; the handle is the instance's.
struct PhysicalDevice {
  VkPhysicalDevice handle = nullptr;
  std::string name;    // "llvmpipe (LLVM 15.0.6, 256 bits)"
  std::string driver;  // "llvmpipe Mesa 22.3.6 (LLVM 15.0.6)"
  std::string uuid;    // with the driver's version
  VkPhysicalDeviceType type = VK_PHYSICAL_DEVICE_TYPE_OTHER;
  VkPhysicalDeviceLimits limits = {};
  VkPhysicalDeviceMemoryProperties memory = {};
  uint64_t free_bytes = 0;  // of its own memory
  uint64_t max_allocation_bytes = 0;
  uint32_t queue_family = 0;
  uint32_t subgroup_size = 1;
  bool has_timestamps = false;

  // A driver that computes on the CPU.
  bool is_software() const { return type == VK_PHYSICAL_DEVICE_TYPE_CPU; }
};

// Features that every device has to have: a plain list, so that what is asked
// for at creation is what was looked for.
struct RequiredFeatures {
  RequiredFeatures();
  RequiredFeatures(const RequiredFeatures&) = delete;
  RequiredFeatures& operator=(const RequiredFeatures&) = delete;

  VkPhysicalDeviceVulkan12Features vulkan12 = {};
  VkPhysicalDeviceVulkan11Features vulkan11 = {};
  VkPhysicalDeviceFeatures2 features = {};  // the head of the chain
};

// kFailedPrecondition that says what the device lacks.
absl::StatusOr<PhysicalDevice> InspectDevice(const VulkanApi& api,
                                             VkPhysicalDevice handle);

// Those of `found` that the backend offers, in the driver's order: graphics
// processors, and where there is none the software drivers.
std::vector<PhysicalDevice> ChooseDevices(std::vector<PhysicalDevice> found);

// What the engine is told. `memory_limit_bytes` of 0 becomes what is free, less
// a part that is left to the driver.
DeviceInfo InfoOf(const PhysicalDevice& gpu, DeviceId id,
                  uint64_t memory_limit_bytes);

}  // namespace tensord::vulkan

#endif  // TENSORD_BACKENDS_VULKAN_PHYSICAL_DEVICE_H_
