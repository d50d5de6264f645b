#ifndef TENSORD_BACKENDS_VULKAN_VULKAN_BACKEND_H_
#define TENSORD_BACKENDS_VULKAN_VULKAN_BACKEND_H_

#include <cstdint>
#include <memory>

#include "backends/api/backend.h"
#include "backends/api/host_services.h"
#include "backends/vulkan/command_journal.h"
#include "backends/vulkan/vulkan_instance.h"

namespace tensord::vulkan {

struct VulkanOptions {
  // What each device may allocate; 0: nearly all that is free when it is
  // opened.
  uint64_t memory_limit_bytes = 0;

  // Where the first function comes from; null: libvulkan.so.1. Tests put a
  // driver of their own, or a broken one, in its place.
  PFN_vkGetInstanceProcAddr loader = nullptr;

  // With one, the validation layer is on. It outlives the backend's devices.
  ValidationListener validation = nullptr;

  // With one, lanes note what they record. For tests.
  CommandJournal* journal = nullptr;
};

// The devices that Vulkan drivers show and that can do what kernels need:
// graphics processors, and where there is none a software driver. On a machine
// without a driver there are none, and why_none() says so.
//
// Threading: as backends/api/backend.h says; lanes are asynchronous.
// Ownership: `services` must outlive the backend.
// Errors: a device that was lost stays so; OpenDevice() opens it anew.
std::unique_ptr<Backend> MakeVulkanBackend(const HostServices& services,
                                           const VulkanOptions& options = {});

}  // namespace tensord::vulkan

#endif  // TENSORD_BACKENDS_VULKAN_VULKAN_BACKEND_H_
