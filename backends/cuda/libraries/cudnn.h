#ifndef TENSORD_BACKENDS_CUDA_LIBRARIES_CUDNN_H_
#define TENSORD_BACKENDS_CUDA_LIBRARIES_CUDNN_H_

#include <cudnn_graph.h>

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tensord::cuda {

// clang-format off
#define TENSORD_CUDNN_FUNCTIONS(X)  \
  X(cudnnBackendCreateDescriptor)   \
  X(cudnnBackendDestroyDescriptor)  \
  X(cudnnBackendExecute)            \
  X(cudnnBackendFinalize)           \
  X(cudnnBackendGetAttribute)       \
  X(cudnnBackendSetAttribute)       \
  X(cudnnCreate)                    \
  X(cudnnDestroy)                   \
  X(cudnnGetErrorString)            \
  X(cudnnGetLastErrorString)        \
  X(cudnnGetVersion)                \
  X(cudnnSetStream)
// clang-format on

// cuDNN's functions by their own names, from the library that this machine has.
//
// Threading: immutable; made once.
struct Cudnn {
#define TENSORD_MEMBER(name) decltype(&::name) name = nullptr;
  TENSORD_CUDNN_FUNCTIONS(TENSORD_MEMBER)
#undef TENSORD_MEMBER

  // kUnavailable with the reason on a machine without the library.
  static const absl::StatusOr<Cudnn>& Get();
};

// The one place where the library's codes become statuses; the text has the
// library's last words on this thread.
absl::Status CudnnStatus(cudnnStatus_t status, absl::string_view call);

// A context of the library on one device, lent to one thread at a time; there
// are as many as threads have needed at once, and none is destroyed.
//
// Threading: one thread. Ownership: given back when this goes.
class CudnnHandle {
 public:
  // One whose work goes to `stream`. The device with the ordinal is current.
  static absl::StatusOr<CudnnHandle> Lend(int ordinal, cudaStream_t stream);

  CudnnHandle(CudnnHandle&& other) noexcept
      : ordinal_(other.ordinal_),
        handle_(std::exchange(other.handle_, nullptr)) {}
  CudnnHandle& operator=(CudnnHandle&&) = delete;
  ~CudnnHandle();

  cudnnHandle_t get() const { return handle_; }

 private:
  CudnnHandle(int ordinal, cudnnHandle_t handle)
      : ordinal_(ordinal), handle_(handle) {}

  int ordinal_;
  cudnnHandle_t handle_;
};

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_LIBRARIES_CUDNN_H_
