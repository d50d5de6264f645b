#include "backends/cuda/libraries/cublaslt.h"

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "backends/cuda/libraries/dynamic_library.h"

namespace tensord::cuda {
namespace {

absl::StatusOr<CublasLt> Load() {
  absl::StatusOr<DynamicLibrary> library =
      DynamicLibrary::Open({"libcublasLt.so.13", "libcublasLt.so.12"});
  if (!library.ok()) return library.status();
  CublasLt functions;
  absl::Status status;
#define TENSORD_FIND(name) \
  if (status.ok()) status = library->Find(#name, functions.name);
  TENSORD_CUBLASLT_FUNCTIONS(TENSORD_FIND)
#undef TENSORD_FIND
  if (!status.ok()) return status;
  return functions;
}

struct Handles {
  absl::Mutex mu;
  absl::flat_hash_map<int, cublasLtHandle_t> by_ordinal ABSL_GUARDED_BY(mu);
};

}  // namespace

const absl::StatusOr<CublasLt>& CublasLt::Get() {
  static const auto* const functions = new absl::StatusOr<CublasLt>(Load());
  return *functions;
}

absl::Status CublasLtStatus(cublasStatus_t status, absl::string_view call) {
  if (status == CUBLAS_STATUS_SUCCESS) return absl::OkStatus();
  const absl::StatusOr<CublasLt>& library = CublasLt::Get();
  const std::string text = absl::StrCat(
      call, ": ",
      library.ok() ? library->cublasLtGetStatusName(status) : "not loaded");
  switch (status) {
    case CUBLAS_STATUS_ALLOC_FAILED:
      return absl::ResourceExhaustedError(text);
    case CUBLAS_STATUS_NOT_SUPPORTED:
    case CUBLAS_STATUS_ARCH_MISMATCH:
      return absl::UnimplementedError(text);
    default:
      return absl::InternalError(text);
  }
}

absl::StatusOr<cublasLtHandle_t> CublasLtHandle(int ordinal) {
  const absl::StatusOr<CublasLt>& library = CublasLt::Get();
  if (!library.ok()) return library.status();
  static auto* const handles = new Handles;
  absl::MutexLock lock(&handles->mu);
  if (auto it = handles->by_ordinal.find(ordinal);
      it != handles->by_ordinal.end()) {
    return it->second;
  }
  // Under the lock, as an exception: two contexts for one device would each
  // take memory, and this happens once.
  cublasLtHandle_t handle = nullptr;
  absl::Status status =
      CublasLtStatus(library->cublasLtCreate(&handle), "cublasLtCreate");
  if (!status.ok()) return status;
  handles->by_ordinal[ordinal] = handle;
  return handle;
}

}  // namespace tensord::cuda
