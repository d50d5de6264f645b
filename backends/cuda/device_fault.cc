#include "backends/cuda/device_fault.h"

#include "absl/strings/str_cat.h"
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
  absl::MutexLock lock(&mu_);
  if (status_.ok()) {
    status_ = absl::UnavailableError(
        absl::StrCat("device ", device_.ToString(),
                     " is lost: ", CudaStatus(error, call).message()));
    is_lost_.store(true, std::memory_order_release);
  }
  return status_;
}

absl::Status DeviceFault::status() const {
  if (!is_lost()) return absl::OkStatus();
  absl::MutexLock lock(&mu_);
  return status_;
}

}  // namespace tensord::cuda
