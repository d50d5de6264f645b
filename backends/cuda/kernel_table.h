#ifndef TENSORD_BACKENDS_CUDA_KERNEL_TABLE_H_
#define TENSORD_BACKENDS_CUDA_KERNEL_TABLE_H_

#include "absl/types/span.h"
#include "backends/api/kernel.h"

namespace tensord::cuda {

// Every kernel of the backend: the families of kernels/rows.h one after the
// other. Put together at the first call, from any thread, and never freed.
absl::Span<const KernelEntry> CudaKernels();

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_KERNEL_TABLE_H_
