#ifndef TENSORD_BACKENDS_CUDA_LIBRARIES_CUDNN_DESCRIPTOR_H_
#define TENSORD_BACKENDS_CUDA_LIBRARIES_CUDNN_DESCRIPTOR_H_

#include <cudnn_graph.h>

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "backends/cuda/libraries/cudnn.h"

namespace tensord::cuda {

// One of cuDNN's descriptors while it is made and after: attributes are set,
// then it is finalised.
//
// Threading: one thread until it is finalised, then immutable. Ownership: owns
//   the library's object; what it refers to must outlive it.
// Errors: the first of all descriptors that share a status stays in it, and
//   everything after it does nothing.
class CudnnDescriptor {
 public:
  CudnnDescriptor(cudnnBackendDescriptorType_t type, absl::Status& status);
  CudnnDescriptor(CudnnDescriptor&& other) noexcept
      : status_(other.status_),
        descriptor_(std::exchange(other.descriptor_, nullptr)) {}
  CudnnDescriptor& operator=(CudnnDescriptor&&) = delete;
  ~CudnnDescriptor();

  cudnnBackendDescriptor_t get() const { return descriptor_; }

  void Set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
           int64_t count, const void* values);

  void SetInt64s(cudnnBackendAttributeName_t name,
                 absl::Span<const int64_t> values) {
    Set(name, CUDNN_TYPE_INT64, static_cast<int64_t>(values.size()),
        values.data());
  }
  void SetInt64(cudnnBackendAttributeName_t name, int64_t value) {
    Set(name, CUDNN_TYPE_INT64, 1, &value);
  }
  void SetBool(cudnnBackendAttributeName_t name, bool value) {
    Set(name, CUDNN_TYPE_BOOLEAN, 1, &value);
  }
  void SetFloat(cudnnBackendAttributeName_t name, float value) {
    Set(name, CUDNN_TYPE_FLOAT, 1, &value);
  }
  void SetDouble(cudnnBackendAttributeName_t name, double value) {
    Set(name, CUDNN_TYPE_DOUBLE, 1, &value);
  }
  void SetDataType(cudnnBackendAttributeName_t name, cudnnDataType_t value) {
    Set(name, CUDNN_TYPE_DATA_TYPE, 1, &value);
  }
  void SetDescriptor(cudnnBackendAttributeName_t name,
                     const CudnnDescriptor& value) {
    cudnnBackendDescriptor_t descriptor = value.get();
    Set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &descriptor);
  }
  void SetHandle(cudnnBackendAttributeName_t name, cudnnHandle_t value) {
    Set(name, CUDNN_TYPE_HANDLE, 1, &value);
  }
  void Finalize();

  // How many values the attribute has, of which up to `count` are copied out.
  int64_t Get(cudnnBackendAttributeName_t name,
              cudnnBackendAttributeType_t type, int64_t count,
              void* values) const;

  // From here on errors go to another status.
  void ReportTo(absl::Status& status) { status_ = &status; }

 private:
  absl::Status* status_;
  cudnnBackendDescriptor_t descriptor_ = nullptr;
};

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_LIBRARIES_CUDNN_DESCRIPTOR_H_
