#ifndef TENSORD_BACKENDS_VULKAN_VULKAN_API_H_
#define TENSORD_BACKENDS_VULKAN_VULKAN_API_H_

// Every function of Vulkan comes from the table below, so none is linked.
#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

#include "absl/status/statusor.h"

namespace tensord::vulkan {

// The functions that the backend calls, by when they can be had: before there
// is an instance, with one, with a device.
#define TENSORD_VULKAN_GLOBAL(X) \
  X(CreateInstance)              \
  X(EnumerateInstanceExtensionProperties)
#define TENSORD_VULKAN_INSTANCE(X)      \
  X(CreateDevice)                       \
  X(DestroyInstance)                    \
  X(EnumerateDeviceExtensionProperties) \
  X(EnumeratePhysicalDevices)           \
  X(GetDeviceProcAddr)                  \
  X(GetPhysicalDeviceFeatures2)         \
  X(GetPhysicalDeviceMemoryProperties2) \
  X(GetPhysicalDeviceProperties2)       \
  X(GetPhysicalDeviceQueueFamilyProperties)
#define TENSORD_VULKAN_DEVICE(X) \
  X(AllocateCommandBuffers)      \
  X(AllocateMemory)              \
  X(BeginCommandBuffer)          \
  X(BindBufferMemory)            \
  X(CmdBindPipeline)             \
  X(CmdCopyBuffer)               \
  X(CmdDispatch)                 \
  X(CmdPipelineBarrier)          \
  X(CmdPushConstants)            \
  X(CmdResetQueryPool)           \
  X(CmdWriteTimestamp)           \
  X(CreateBuffer)                \
  X(CreateCommandPool)           \
  X(CreateComputePipelines)      \
  X(CreatePipelineCache)         \
  X(CreatePipelineLayout)        \
  X(CreateQueryPool)             \
  X(CreateSemaphore)             \
  X(CreateShaderModule)          \
  X(DestroyBuffer)               \
  X(DestroyCommandPool)          \
  X(DestroyDevice)               \
  X(DestroyPipeline)             \
  X(DestroyPipelineCache)        \
  X(DestroyPipelineLayout)       \
  X(DestroyQueryPool)            \
  X(DestroySemaphore)            \
  X(DestroyShaderModule)         \
  X(DeviceWaitIdle)              \
  X(EndCommandBuffer)            \
  X(FreeCommandBuffers)          \
  X(FreeMemory)                  \
  X(GetBufferDeviceAddress)      \
  X(GetBufferMemoryRequirements) \
  X(GetDeviceQueue)              \
  X(GetPipelineCacheData)        \
  X(GetQueryPoolResults)         \
  X(GetSemaphoreCounterValue)    \
  X(MapMemory)                   \
  X(QueueSubmit)                 \
  X(WaitSemaphores)

// The dispatch table: names without their "vk". Filled by the three functions
// below, each from what the one before gave; a test hands in a loader of its
// own, and so may stand in for any function.
//
// Threading: immutable once filled. Ownership: plain pointers; the loader's
// library is never closed.
struct VulkanApi {
  PFN_vkGetInstanceProcAddr GetInstanceProcAddr = nullptr;
#define TENSORD_VULKAN_MEMBER(name) PFN_vk##name name = nullptr;
  TENSORD_VULKAN_GLOBAL(TENSORD_VULKAN_MEMBER)
  TENSORD_VULKAN_INSTANCE(TENSORD_VULKAN_MEMBER)
  TENSORD_VULKAN_DEVICE(TENSORD_VULKAN_MEMBER)
#undef TENSORD_VULKAN_MEMBER
};

// Opens libvulkan.so.1; null without one.
PFN_vkGetInstanceProcAddr SystemLoader();

// kUnavailable that names the first function that a loader, an instance or a
// device does not have.
absl::StatusOr<VulkanApi> LoadGlobal(PFN_vkGetInstanceProcAddr loader);
absl::StatusOr<VulkanApi> LoadInstance(VulkanApi api, VkInstance instance);
absl::StatusOr<VulkanApi> LoadDevice(VulkanApi api, VkDevice device);

}  // namespace tensord::vulkan

#endif  // TENSORD_BACKENDS_VULKAN_VULKAN_API_H_
