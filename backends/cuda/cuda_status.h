#ifndef TENSORD_BACKENDS_CUDA_CUDA_STATUS_H_
#define TENSORD_BACKENDS_CUDA_CUDA_STATUS_H_

#include <cuda_runtime_api.h>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tensord::cuda {

// The one place where the CUDA runtime's codes become statuses. `call` is the
// function that returned it: "cudaMallocAsync".
// OK for cudaSuccess; kResourceExhausted for memory; kUnavailable for an error
// after which the device's context is of no use any more (IsSticky); else
// kInternal. The text has the runtime's own name of the error.
absl::Status CudaStatus(cudaError_t error, absl::string_view call);

// Whether every later call on the device fails with the same error: its
// context is lost, and the process has to do without the device.
bool IsSticky(cudaError_t error);

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_CUDA_STATUS_H_
