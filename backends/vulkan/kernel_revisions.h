#ifndef TENSORD_BACKENDS_VULKAN_KERNEL_REVISIONS_H_
#define TENSORD_BACKENDS_VULKAN_KERNEL_REVISIONS_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace tensord {

// The revision (see backends/api/revisions.h) of one file in
// backends/vulkan/kernels, named by its path from the
// repository root; 0 for any other name. The definition is generated.
uint64_t VulkanKernelRevision(absl::string_view kernel_source);

}  // namespace tensord

#endif  // TENSORD_BACKENDS_VULKAN_KERNEL_REVISIONS_H_
