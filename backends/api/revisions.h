#ifndef TENSORD_BACKENDS_API_REVISIONS_H_
#define TENSORD_BACKENDS_API_REVISIONS_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace tensord {

// Which source code stands behind a kernel, and behind this build.
//
// A kernel's revision is 64 bits of SHA-256 over its source file, every project
// file that it includes, directly or not, and, for each header among them, the
// source of the same name that defines what it declares. It changes when any of
// these changes by a byte, and with nothing else, so a result can be traced to
// the code that made it. Each backend library has a table of its own,
// generated at build time (a plugin carries its own, which the daemon never
// saw): the backend declares a function such as CpuKernelRevision() beside its
// kernels, and tensord_kernel_revisions() in its CMakeLists.txt generates the
// definition.
//
// Threading: constant data; call from anywhere. The views point to static
// storage of the library.
struct KernelRevision {
  absl::string_view kernel_source;  // Path from the repository root:
                                    // "backends/cpu/kernels/conv.cc".
  uint64_t revision_hash = 0;
};

// The revision of `kernel_source` in `table`, which is sorted by path; 0 if it
// is not there.
uint64_t FindKernelRevision(absl::Span<const KernelRevision> table,
                            absl::string_view kernel_source);

// 16 hexadecimal digits over the headers of backends/api, the compiler, its
// options and the Abseil version: everything that must be equal on both sides
// for C++ types to cross a plugin's border.
absl::string_view BuildId();

}  // namespace tensord

#endif  // TENSORD_BACKENDS_API_REVISIONS_H_
