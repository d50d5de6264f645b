#ifndef TENSORD_TESTS_SUPPORT_BROKEN_VULKAN_H_
#define TENSORD_TESTS_SUPPORT_BROKEN_VULKAN_H_

#include <atomic>
#include <string>

#include "backends/vulkan/vulkan_api.h"

namespace tensord {

// A Vulkan loader that hands out the system's functions, but for those that a
// test has broken: what drivers do not do on demand. There is one, since
// Vulkan's functions have no place for a test's own pointer; each BrokenVulkan
// resets it.
//
// Threading: the faults may be set while devices work. Ownership: the test's;
//   it outlives the backends that it is the loader of.
class BrokenVulkan {
 public:
  BrokenVulkan();
  ~BrokenVulkan();

  static PFN_vkGetInstanceProcAddr loader();

  // What these give instead of being called; VK_SUCCESS: they are called.
  static std::atomic<VkResult> create_instance;
  static std::atomic<VkResult> create_device;
  static std::atomic<VkResult> allocate_memory;
  static std::atomic<VkResult> queue_submit;
  static std::atomic<VkResult> wait_semaphores;  // VK_TIMEOUT: nothing ends

  // A function that the driver lacks, such as "vkCmdDispatch". Set before the
  // backend is made.
  static std::string missing;

  // How often these were called.
  static std::atomic<int> submission_count;
  static std::atomic<int> allocation_count;
  static std::atomic<int> barrier_count;
};

}  // namespace tensord

#endif  // TENSORD_TESTS_SUPPORT_BROKEN_VULKAN_H_
