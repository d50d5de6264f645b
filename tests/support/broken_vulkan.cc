#include "tests/support/broken_vulkan.h"

#include <cstring>

namespace tensord {

std::atomic<VkResult> BrokenVulkan::create_instance;
std::atomic<VkResult> BrokenVulkan::create_device;
std::atomic<VkResult> BrokenVulkan::allocate_memory;
std::atomic<VkResult> BrokenVulkan::queue_submit;
std::atomic<VkResult> BrokenVulkan::wait_semaphores;
std::string BrokenVulkan::missing;
std::atomic<int> BrokenVulkan::submission_count;
std::atomic<int> BrokenVulkan::allocation_count;
std::atomic<int> BrokenVulkan::barrier_count;

namespace {

// The system's own functions of the last instance and device.
PFN_vkCreateInstance real_create_instance;
PFN_vkCreateDevice real_create_device;
PFN_vkGetDeviceProcAddr real_get_device_proc_addr;
PFN_vkAllocateMemory real_allocate_memory;
PFN_vkQueueSubmit real_queue_submit;
PFN_vkWaitSemaphores real_wait_semaphores;
PFN_vkGetSemaphoreCounterValue real_counter_value;
PFN_vkCmdPipelineBarrier real_pipeline_barrier;

VKAPI_ATTR VkResult VKAPI_CALL
CreateInstance(const VkInstanceCreateInfo* info,
               const VkAllocationCallbacks* allocator, VkInstance* instance) {
  const VkResult fault = BrokenVulkan::create_instance;
  return fault != VK_SUCCESS ? fault
                             : real_create_instance(info, allocator, instance);
}

VKAPI_ATTR VkResult VKAPI_CALL
CreateDevice(VkPhysicalDevice gpu, const VkDeviceCreateInfo* info,
             const VkAllocationCallbacks* allocator, VkDevice* device) {
  const VkResult fault = BrokenVulkan::create_device;
  return fault != VK_SUCCESS ? fault
                             : real_create_device(gpu, info, allocator, device);
}

VKAPI_ATTR VkResult VKAPI_CALL
AllocateMemory(VkDevice device, const VkMemoryAllocateInfo* info,
               const VkAllocationCallbacks* allocator, VkDeviceMemory* memory) {
  ++BrokenVulkan::allocation_count;
  const VkResult fault = BrokenVulkan::allocate_memory;
  return fault != VK_SUCCESS
             ? fault
             : real_allocate_memory(device, info, allocator, memory);
}

VKAPI_ATTR VkResult VKAPI_CALL QueueSubmit(VkQueue queue, uint32_t count,
                                           const VkSubmitInfo* infos,
                                           VkFence fence) {
  ++BrokenVulkan::submission_count;
  const VkResult fault = BrokenVulkan::queue_submit;
  return fault != VK_SUCCESS ? fault
                             : real_queue_submit(queue, count, infos, fence);
}

VKAPI_ATTR VkResult VKAPI_CALL WaitSemaphores(VkDevice device,
                                              const VkSemaphoreWaitInfo* info,
                                              uint64_t timeout) {
  const VkResult fault = BrokenVulkan::wait_semaphores;
  return fault != VK_SUCCESS ? fault
                             : real_wait_semaphores(device, info, timeout);
}

// Work of which the waits tell nothing has not been done for the counter
// either.
VKAPI_ATTR VkResult VKAPI_CALL CounterValue(VkDevice device,
                                            VkSemaphore semaphore,
                                            uint64_t* value) {
  if (BrokenVulkan::wait_semaphores == VK_TIMEOUT) {
    *value = 0;
    return VK_SUCCESS;
  }
  return real_counter_value(device, semaphore, value);
}

VKAPI_ATTR void VKAPI_CALL
PipelineBarrier(VkCommandBuffer commands, VkPipelineStageFlags from,
                VkPipelineStageFlags to, VkDependencyFlags flags,
                uint32_t memory_count, const VkMemoryBarrier* memory,
                uint32_t buffer_count, const VkBufferMemoryBarrier* buffers,
                uint32_t image_count, const VkImageMemoryBarrier* images) {
  ++BrokenVulkan::barrier_count;
  real_pipeline_barrier(commands, from, to, flags, memory_count, memory,
                        buffer_count, buffers, image_count, images);
}

#define TENSORD_STAND_IN(name, function, real)                \
  if (std::strcmp(asked, name) == 0) {                        \
    real = reinterpret_cast<decltype(real)>(found);           \
    return reinterpret_cast<PFN_vkVoidFunction>(&(function)); \
  }

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL GetDeviceProcAddr(VkDevice device,
                                                           const char* asked) {
  if (BrokenVulkan::missing == asked) return nullptr;
  const PFN_vkVoidFunction found = real_get_device_proc_addr(device, asked);
  TENSORD_STAND_IN("vkAllocateMemory", AllocateMemory, real_allocate_memory)
  TENSORD_STAND_IN("vkQueueSubmit", QueueSubmit, real_queue_submit)
  TENSORD_STAND_IN("vkWaitSemaphores", WaitSemaphores, real_wait_semaphores)
  TENSORD_STAND_IN("vkGetSemaphoreCounterValue", CounterValue,
                   real_counter_value)
  TENSORD_STAND_IN("vkCmdPipelineBarrier", PipelineBarrier,
                   real_pipeline_barrier)
  return found;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
GetInstanceProcAddr(VkInstance instance, const char* asked) {
  if (BrokenVulkan::missing == asked) return nullptr;
  static const PFN_vkGetInstanceProcAddr system = vulkan::SystemLoader();
  const PFN_vkVoidFunction found = system(instance, asked);
  TENSORD_STAND_IN("vkCreateInstance", CreateInstance, real_create_instance)
  TENSORD_STAND_IN("vkCreateDevice", CreateDevice, real_create_device)
  TENSORD_STAND_IN("vkGetDeviceProcAddr", GetDeviceProcAddr,
                   real_get_device_proc_addr)
  return found;
}

#undef TENSORD_STAND_IN

void Reset() {
  for (auto* fault :
       {&BrokenVulkan::create_instance, &BrokenVulkan::create_device,
        &BrokenVulkan::allocate_memory, &BrokenVulkan::queue_submit,
        &BrokenVulkan::wait_semaphores}) {
    fault->store(VK_SUCCESS);
  }
  BrokenVulkan::missing.clear();
  BrokenVulkan::submission_count = 0;
  BrokenVulkan::allocation_count = 0;
  BrokenVulkan::barrier_count = 0;
}

}  // namespace

BrokenVulkan::BrokenVulkan() { Reset(); }
BrokenVulkan::~BrokenVulkan() { Reset(); }

PFN_vkGetInstanceProcAddr BrokenVulkan::loader() {
  return &GetInstanceProcAddr;
}

}  // namespace tensord
