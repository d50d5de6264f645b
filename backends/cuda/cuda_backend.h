#ifndef TENSORD_BACKENDS_CUDA_CUDA_BACKEND_H_
#define TENSORD_BACKENDS_CUDA_CUDA_BACKEND_H_

#include <cstdint>
#include <memory>

#include "backends/api/backend.h"
#include "backends/api/host_services.h"

namespace tensord::cuda {

struct CudaOptions {
  // What each device may allocate; 0: nearly all that is free when it is
  // opened.
  uint64_t memory_limit_bytes = 0;
};

// The GPUs that the CUDA driver shows, in its order. On a machine without a
// driver, or with one that is too old, there are none, and why_none() says
// which.
//
// Threading: as backends/api/backend.h says; lanes are asynchronous.
// Ownership: `services` must outlive the backend.
// Errors: a device that was lost stays so until the process is started again.
std::unique_ptr<Backend> MakeCudaBackend(const HostServices& services,
                                         const CudaOptions& options = {});

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_CUDA_BACKEND_H_
