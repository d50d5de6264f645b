#include "backends/cuda/kernels/launch.h"
#include "tests/backends/cuda/fault_gpu/trap_kernel.h"

namespace tensord::cuda {
namespace {

__global__ void Trap() { __trap(); }

}  // namespace

absl::Status RunTrap(const KernelCall& call) {
  return Launch(call.context, &Trap, {dim3(1), dim3(1)});
}

}  // namespace tensord::cuda
