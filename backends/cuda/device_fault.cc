#include "backends/cuda/device_fault.h"

#include "backends/cuda/cuda_status.h"

namespace tensord::cuda {

absl::Status DeviceFault::Check(cudaError_t error, absl::string_view call) {
  if (is_lost()) return status();
  if (error == cudaSuccess) return absl::OkStatus();
  if (IsSticky(error)) return Lose(error, call);
  // The runtime keeps it for whoever asks for the last error.
  static_cast<void>(cudaGetLastError());
  return CudaStatus(error, call);
}

absl::Status DeviceFault::Lose(cudaError_t error, absl::string_view call) {
  return Note(CudaStatus(error, call).message());
}

}  // namespace tensord::cuda
