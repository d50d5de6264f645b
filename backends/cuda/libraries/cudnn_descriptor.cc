#include "backends/cuda/libraries/cudnn_descriptor.h"

#include "absl/strings/str_cat.h"

namespace tensord::cuda {

CudnnDescriptor::CudnnDescriptor(cudnnBackendDescriptorType_t type,
                                 absl::Status& status)
    : status_(&status) {
  if (!status_->ok()) return;
  *status_ = CudnnStatus(
      Cudnn::Get()->cudnnBackendCreateDescriptor(type, &descriptor_),
      "cudnnBackendCreateDescriptor");
}

CudnnDescriptor::~CudnnDescriptor() {
  if (descriptor_ != nullptr) {
    (void)Cudnn::Get()->cudnnBackendDestroyDescriptor(descriptor_);
  }
}

void CudnnDescriptor::Set(cudnnBackendAttributeName_t name,
                          cudnnBackendAttributeType_t type, int64_t count,
                          const void* values) {
  if (!status_->ok()) return;
  *status_ = CudnnStatus(Cudnn::Get()->cudnnBackendSetAttribute(
                             descriptor_, name, type, count, values),
                         absl::StrCat("setting cuDNN's attribute ", name));
}

void CudnnDescriptor::Finalize() {
  if (!status_->ok()) return;
  *status_ = CudnnStatus(Cudnn::Get()->cudnnBackendFinalize(descriptor_),
                         "cudnnBackendFinalize");
}

int64_t CudnnDescriptor::Get(cudnnBackendAttributeName_t name,
                             cudnnBackendAttributeType_t type, int64_t count,
                             void* values) const {
  if (!status_->ok()) return 0;
  int64_t actual = 0;
  *status_ = CudnnStatus(Cudnn::Get()->cudnnBackendGetAttribute(
                             descriptor_, name, type, count, &actual, values),
                         absl::StrCat("getting cuDNN's attribute ", name));
  return status_->ok() ? actual : 0;
}

}  // namespace tensord::cuda
