#ifndef TENSORD_BACKENDS_CUDA_LIBRARIES_REVISION_H_
#define TENSORD_BACKENDS_CUDA_LIBRARIES_REVISION_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace tensord::cuda {

// The revision of a KernelEntry's source "library:name": a hash of the
// library's version, from which its choices follow, and of the code around it.
// 0 for a library that is not known, or that this machine lacks.
uint64_t LibraryRevision(absl::string_view source);

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_LIBRARIES_REVISION_H_
