#ifndef TENSORD_TESTS_SUPPORT_VULKAN_DEVICES_H_
#define TENSORD_TESTS_SUPPORT_VULKAN_DEVICES_H_

#include <string>
#include <vector>

#include "backends/vulkan/command_journal.h"
#include "tests/support/backend_test.h"

namespace tensord {

// The Vulkan devices of this machine: its GPUs, or Mesa's software driver. Each
// backend that is made has the validation layer on, and what the layer says is
// kept for ValidationMessages().
std::vector<DeviceParam> VulkanParams();

// What the lanes of those backends have recorded.
vulkan::CommandJournal& VulkanJournal();

// What the validation layer has said in this process. A test program that
// links this expects none, and no hazard in what was recorded: a listener of
// GoogleTest fails the test during which one came.
std::vector<std::string> ValidationMessages();

// Takes away what was said so far, for the test that provokes it.
void ForgetValidationMessages();

}  // namespace tensord

#endif  // TENSORD_TESTS_SUPPORT_VULKAN_DEVICES_H_
