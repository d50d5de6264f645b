#ifndef TENSORD_BACKENDS_CUDA_LIBRARIES_CUBLASLT_H_
#define TENSORD_BACKENDS_CUDA_LIBRARIES_CUBLASLT_H_

#include <cublasLt.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tensord::cuda {

// clang-format off
#define TENSORD_CUBLASLT_FUNCTIONS(X)     \
  X(cublasLtCreate)                       \
  X(cublasLtGetStatusName)                \
  X(cublasLtGetVersion)                   \
  X(cublasLtMatmul)                       \
  X(cublasLtMatmulAlgoGetHeuristic)       \
  X(cublasLtMatmulDescInit_internal)      \
  X(cublasLtMatmulDescSetAttribute)       \
  X(cublasLtMatmulPreferenceInit_internal) \
  X(cublasLtMatmulPreferenceSetAttribute) \
  X(cublasLtMatrixLayoutInit_internal)    \
  X(cublasLtMatrixLayoutSetAttribute)
// clang-format on

// cuBLASLt's functions by their own names, from the library that this machine
// has.
//
// Threading: immutable; made once.
struct CublasLt {
#define TENSORD_MEMBER(name) decltype(&::name) name = nullptr;
  TENSORD_CUBLASLT_FUNCTIONS(TENSORD_MEMBER)
#undef TENSORD_MEMBER

  // kUnavailable with the reason on a machine without the library.
  static const absl::StatusOr<CublasLt>& Get();
};

// The one place where the library's codes become statuses.
absl::Status CublasLtStatus(cublasStatus_t status, absl::string_view call);

// The library's context on the device that is current, made at first use and
// never destroyed. `ordinal` is that device's.
// Threading: thread-safe, and so is what the library does with it.
absl::StatusOr<cublasLtHandle_t> CublasLtHandle(int ordinal);

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_LIBRARIES_CUBLASLT_H_
