#ifndef TENSORD_BACKENDS_CPU_ONEDNN_REVISION_H_
#define TENSORD_BACKENDS_CPU_ONEDNN_REVISION_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace tensord::onednn {

// What KernelEntry::source says of the kernels on oneDNN.
inline constexpr absl::string_view kSource = "library:onednn";

// Its revision: a hash of the library's version, of the instruction sets that
// it may use on this machine (which of its implementations it takes for an
// operation follows from the two), and of the code around it.
uint64_t SourceRevision();

}  // namespace tensord::onednn

#endif  // TENSORD_BACKENDS_CPU_ONEDNN_REVISION_H_
