#include "backends/cuda/libraries/cudnn.h"

#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "backends/cuda/libraries/dynamic_library.h"

namespace tensord::cuda {
namespace {

absl::StatusOr<Cudnn> Load() {
  absl::StatusOr<DynamicLibrary> library =
      DynamicLibrary::Open({"libcudnn.so.9"});
  if (!library.ok()) return library.status();
  Cudnn functions;
  absl::Status status;
#define TENSORD_FIND(name) \
  if (status.ok()) status = library->Find(#name, functions.name);
  TENSORD_CUDNN_FUNCTIONS(TENSORD_FIND)
#undef TENSORD_FIND
  if (!status.ok()) return status;
  return functions;
}

struct FreeHandles {
  absl::Mutex mu;
  absl::flat_hash_map<int, std::vector<cudnnHandle_t>> by_ordinal
      ABSL_GUARDED_BY(mu);
};
FreeHandles& AllFreeHandles() {
  static auto* const handles = new FreeHandles;
  return *handles;
}

}  // namespace

const absl::StatusOr<Cudnn>& Cudnn::Get() {
  static const auto* const functions = new absl::StatusOr<Cudnn>(Load());
  return *functions;
}

absl::Status CudnnStatus(cudnnStatus_t status, absl::string_view call) {
  if (status == CUDNN_STATUS_SUCCESS) return absl::OkStatus();
  const absl::StatusOr<Cudnn>& library = Cudnn::Get();
  if (!library.ok()) return library.status();
  char words[256] = {};
  library->cudnnGetLastErrorString(words, sizeof(words));
  const std::string text = absl::StrCat(
      call, ": ", library->cudnnGetErrorString(status), ": ", words);
  // The hundreds are kinds of error; those between are details.
  switch (status / 1000) {
    case CUDNN_STATUS_NOT_SUPPORTED / 1000:
      return absl::UnimplementedError(text);
    default:
      break;
  }
  if (status == CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED ||
      status == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED) {
    return absl::ResourceExhaustedError(text);
  }
  return absl::InternalError(text);
}

absl::StatusOr<CudnnHandle> CudnnHandle::Lend(int ordinal,
                                              cudaStream_t stream) {
  const absl::StatusOr<Cudnn>& library = Cudnn::Get();
  if (!library.ok()) return library.status();
  cudnnHandle_t handle = nullptr;
  FreeHandles& free = AllFreeHandles();
  {
    absl::MutexLock lock(&free.mu);
    std::vector<cudnnHandle_t>& handles = free.by_ordinal[ordinal];
    if (!handles.empty()) {
      handle = handles.back();
      handles.pop_back();
    }
  }
  if (handle == nullptr) {
    absl::Status status =
        CudnnStatus(library->cudnnCreate(&handle), "cudnnCreate");
    if (!status.ok()) return status;
  }
  CudnnHandle lent(ordinal, handle);
  absl::Status status =
      CudnnStatus(library->cudnnSetStream(handle, stream), "cudnnSetStream");
  if (!status.ok()) return status;
  return lent;
}

CudnnHandle::~CudnnHandle() {
  if (handle_ == nullptr) return;
  FreeHandles& free = AllFreeHandles();
  absl::MutexLock lock(&free.mu);
  free.by_ordinal[ordinal_].push_back(handle_);
}

}  // namespace tensord::cuda
