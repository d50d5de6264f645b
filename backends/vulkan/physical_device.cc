#include "backends/vulkan/physical_device.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/vulkan/vulkan_status.h"

namespace tensord::vulkan {
namespace {

constexpr uint32_t kLeastVersion = VK_API_VERSION_1_2;

// As on CUDA: two lanes keep copies and kernels busy at once, more add little.
constexpr int kLanes = 4;

std::string VersionText(uint32_t version) {
  return absl::StrCat(VK_API_VERSION_MAJOR(version), ".",
                      VK_API_VERSION_MINOR(version), ".",
                      VK_API_VERSION_PATCH(version));
}

std::string HexText(const uint8_t (&bytes)[VK_UUID_SIZE]) {
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(bytes), VK_UUID_SIZE));
}

// A field of the features' structs and its name.
#define TENSORD_VULKAN_FEATURES(X)      \
  X(features.features, shaderInt16)     \
  X(features.features, shaderInt64)     \
  X(vulkan11, storageBuffer16BitAccess) \
  X(vulkan12, storageBuffer8BitAccess)  \
  X(vulkan12, shaderInt8)               \
  X(vulkan12, scalarBlockLayout)        \
  X(vulkan12, timelineSemaphore)        \
  X(vulkan12, bufferDeviceAddress)

absl::Status CheckFeatures(const VulkanApi& api, VkPhysicalDevice handle) {
  RequiredFeatures found;
  api.GetPhysicalDeviceFeatures2(handle, &found.features);
  std::vector<std::string> missing;
#define TENSORD_VULKAN_CHECK(where, name) \
  if (found.where.name == VK_FALSE) missing.push_back(#name);
  TENSORD_VULKAN_FEATURES(TENSORD_VULKAN_CHECK)
#undef TENSORD_VULKAN_CHECK
  if (missing.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("it lacks ", absl::StrJoin(missing, ", ")));
}

// One that computes and, where there is such, does not draw: on some devices
// that is another engine than the desktop's.
absl::Status FindQueueFamily(const VulkanApi& api, PhysicalDevice& gpu) {
  uint32_t count = 0;
  api.GetPhysicalDeviceQueueFamilyProperties(gpu.handle, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  api.GetPhysicalDeviceQueueFamilyProperties(gpu.handle, &count,
                                             families.data());
  int best = -1;
  bool best_draws = true;
  for (uint32_t i = 0; i < count; ++i) {
    const VkQueueFlags flags = families[i].queueFlags;
    if ((flags & VK_QUEUE_COMPUTE_BIT) == 0 || families[i].queueCount == 0) {
      continue;
    }
    const bool draws = (flags & VK_QUEUE_GRAPHICS_BIT) != 0;
    if (best >= 0 && (draws || !best_draws)) continue;
    best = static_cast<int>(i);
    best_draws = draws;
  }
  if (best < 0) {
    return absl::FailedPreconditionError("it has no queue that computes");
  }
  gpu.queue_family = static_cast<uint32_t>(best);
  gpu.has_timestamps = families[best].timestampValidBits >= 64;
  return absl::OkStatus();
}

bool HasExtension(const VulkanApi& api, VkPhysicalDevice handle,
                  absl::string_view name) {
  uint32_t count = 0;
  api.EnumerateDeviceExtensionProperties(handle, nullptr, &count, nullptr);
  std::vector<VkExtensionProperties> extensions(count);
  api.EnumerateDeviceExtensionProperties(handle, nullptr, &count,
                                         extensions.data());
  return std::any_of(extensions.begin(), extensions.end(),
                     [name](const VkExtensionProperties& extension) {
                       return absl::string_view(extension.extensionName) ==
                              name;
                     });
}

// The largest heap of its own, and what others have left of it where the
// driver tells.
void ReadMemory(const VulkanApi& api, PhysicalDevice& gpu) {
  VkPhysicalDeviceMemoryBudgetPropertiesEXT budget = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT};
  VkPhysicalDeviceMemoryProperties2 properties = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2};
  const bool has_budget =
      HasExtension(api, gpu.handle, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
  if (has_budget) properties.pNext = &budget;
  api.GetPhysicalDeviceMemoryProperties2(gpu.handle, &properties);
  gpu.memory = properties.memoryProperties;
  for (uint32_t i = 0; i < gpu.memory.memoryHeapCount; ++i) {
    const VkMemoryHeap& heap = gpu.memory.memoryHeaps[i];
    if ((heap.flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) == 0) continue;
    uint64_t free_bytes = heap.size;
    if (has_budget) {
      const uint64_t used = std::min(budget.heapUsage[i], budget.heapBudget[i]);
      free_bytes = std::min(free_bytes, budget.heapBudget[i] - used);
    }
    gpu.free_bytes = std::max(gpu.free_bytes, free_bytes);
  }
}

}  // namespace

RequiredFeatures::RequiredFeatures() {
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  features.pNext = &vulkan11;
  vulkan11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
  vulkan11.pNext = &vulkan12;
  vulkan12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
#define TENSORD_VULKAN_ASK(where, name) where.name = VK_TRUE;
  TENSORD_VULKAN_FEATURES(TENSORD_VULKAN_ASK)
#undef TENSORD_VULKAN_ASK
}

absl::StatusOr<PhysicalDevice> InspectDevice(const VulkanApi& api,
                                             VkPhysicalDevice handle) {
  VkPhysicalDeviceSubgroupProperties subgroup = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES};
  VkPhysicalDeviceMaintenance3Properties maintenance = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES,
      .pNext = &subgroup};
  VkPhysicalDeviceDriverProperties driver = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES,
      .pNext = &maintenance};
  VkPhysicalDeviceIDProperties id = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES,
      .pNext = &driver};
  VkPhysicalDeviceProperties2 properties = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &id};
  api.GetPhysicalDeviceProperties2(handle, &properties);
  const VkPhysicalDeviceProperties& own = properties.properties;
  const auto refuse = [&own](absl::string_view why) {
    return absl::FailedPreconditionError(
        absl::StrCat(own.deviceName, ": ", why));
  };
  if (own.apiVersion < kLeastVersion) {
    return refuse(absl::StrCat("Vulkan ", VersionText(own.apiVersion),
                               ", and 1.2 is needed"));
  }
  PhysicalDevice gpu;
  gpu.handle = handle;
  gpu.name = own.deviceName;
  gpu.driver = absl::StrCat(driver.driverName, " ", driver.driverInfo);
  // What was measured under one driver is not believed under another.
  gpu.uuid = absl::StrCat(HexText(id.deviceUUID), "/", HexText(id.driverUUID),
                          "/", own.driverVersion);
  gpu.type = own.deviceType;
  gpu.limits = own.limits;
  gpu.subgroup_size = subgroup.subgroupSize;
  gpu.max_allocation_bytes = maintenance.maxMemoryAllocationSize;
  absl::Status status = CheckFeatures(api, handle);
  if (status.ok()) status = FindQueueFamily(api, gpu);
  if (!status.ok()) return refuse(status.message());
  ReadMemory(api, gpu);
  return gpu;
}

std::vector<PhysicalDevice> ChooseDevices(std::vector<PhysicalDevice> found) {
  const auto hardware = std::stable_partition(
      found.begin(), found.end(),
      [](const PhysicalDevice& gpu) { return !gpu.is_software(); });
  if (hardware != found.begin()) found.erase(hardware, found.end());
  return found;
}

DeviceInfo InfoOf(const PhysicalDevice& gpu, DeviceId id,
                  uint64_t memory_limit_bytes) {
  DeviceInfo info;
  info.id = id;
  info.description =
      absl::StrCat(gpu.name, gpu.is_software() ? ", a software driver" : "",
                   ", ", gpu.driver);
  info.uuid = gpu.uuid;
  info.is_synchronous = false;
  info.is_host_addressable = false;
  info.has_timestamps = gpu.has_timestamps;
  info.records_programs = true;
  info.max_lanes = kLanes;
  info.memory_limit_bytes = memory_limit_bytes != 0
                                ? memory_limit_bytes
                                : gpu.free_bytes - gpu.free_bytes / 16;
  // Until somebody measures (engine/place/calibration.h): Vulkan tells no
  // rates.
  const bool is_software = gpu.is_software();
  const bool is_discrete = gpu.type == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
  info.flops_per_ns = is_software ? 2 : is_discrete ? 5000 : 500;
  info.bytes_per_ns = is_software ? 2 : is_discrete ? 300 : 30;
  info.launch_overhead_ns = is_software ? 20'000 : 3000;
  info.copy_bytes_per_ns = is_software ? 2 : 10;
  info.copy_latency_ns = is_software ? 50'000 : 15'000;
  return info;
}

}  // namespace tensord::vulkan
