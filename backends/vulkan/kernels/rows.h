#ifndef TENSORD_BACKENDS_VULKAN_KERNELS_ROWS_H_
#define TENSORD_BACKENDS_VULKAN_KERNELS_ROWS_H_

#include "absl/types/span.h"
#include "backends/api/kernel.h"

namespace tensord::vulkan {

// The rows of each family of kernels, in the order in which an operator's rows
// are tried. Constant data of the backend's library.
absl::Span<const KernelEntry> CopyRows();

}  // namespace tensord::vulkan

#endif  // TENSORD_BACKENDS_VULKAN_KERNELS_ROWS_H_
