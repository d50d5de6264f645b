#ifndef TENSORD_TESTS_BACKENDS_CUDA_FAULT_GPU_TRAP_KERNEL_H_
#define TENSORD_TESTS_BACKENDS_CUDA_FAULT_GPU_TRAP_KERNEL_H_

#include "absl/status/status.h"
#include "backends/api/kernel.h"

namespace tensord::cuda {

// A kernel's `run`: OK, and on the device a trap, which loses the context.
absl::Status RunTrap(const KernelCall& call);

}  // namespace tensord::cuda

#endif  // TENSORD_TESTS_BACKENDS_CUDA_FAULT_GPU_TRAP_KERNEL_H_
