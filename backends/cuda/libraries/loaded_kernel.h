#ifndef TENSORD_BACKENDS_CUDA_LIBRARIES_LOADED_KERNEL_H_
#define TENSORD_BACKENDS_CUDA_LIBRARIES_LOADED_KERNEL_H_

#include <cuda_runtime_api.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/cuda/libraries/nvrtc.h"

namespace tensord::cuda {

// A kernel that was compiled at run time, loaded for the device that is
// current. The same text is loaded once while somebody holds it.
//
// Threading: immutable; any number of lanes launch it. Ownership: shared; it
//   outlives the launches in flight.
class LoadedKernel {
 public:
  // The function `name` of the text, compiled or taken from the disk
  // (cubin_cache.h) for the architecture of the device with this ordinal.
  static absl::StatusOr<std::shared_ptr<const LoadedKernel>> Load(
      const DeviceText& text, const char* name, int ordinal);

  LoadedKernel(const LoadedKernel&) = delete;
  LoadedKernel& operator=(const LoadedKernel&) = delete;
  ~LoadedKernel();

  // `arguments` are addresses of the function's parameters.
  absl::Status Launch(cudaStream_t stream, unsigned blocks, unsigned threads,
                      absl::Span<void*> arguments) const;

 private:
  LoadedKernel() = default;

  std::string cubin_;  // stays while it is loaded
  cudaLibrary_t library_ = nullptr;
  cudaKernel_t kernel_ = nullptr;
};

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_LIBRARIES_LOADED_KERNEL_H_
