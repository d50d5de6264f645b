#ifndef TENSORD_BACKENDS_VULKAN_KERNEL_TABLE_H_
#define TENSORD_BACKENDS_VULKAN_KERNEL_TABLE_H_

#include "absl/types/span.h"
#include "backends/api/kernel.h"

namespace tensord::vulkan {

// Every kernel of the backend, siblings in order of preference. Constant data.
absl::Span<const KernelEntry> VulkanKernels();

}  // namespace tensord::vulkan

#endif  // TENSORD_BACKENDS_VULKAN_KERNEL_TABLE_H_
