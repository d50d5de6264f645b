#ifndef TENSORD_BACKENDS_CUDA_LIBRARIES_CUBIN_CACHE_H_
#define TENSORD_BACKENDS_CUDA_LIBRARIES_CUBIN_CACHE_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/cuda/libraries/nvrtc.h"

namespace tensord::cuda {

// Compiled kernels on disk, so that a text is compiled once for an architecture
// and a version of the compiler, whatever the number of processes and restarts.
//
// A file is named by what it was made of and holds the code with a digest
// behind it; one that was cut short or damaged is made again. Files appear
// whole, by a rename. What the disk refuses only costs the next process a
// compilation.
//
// Threading: thread-safe; processes may share the folder. Ownership: owns
// nothing but the folder's name.
class CubinCache {
 public:
  // An empty folder keeps nothing. It is made when it is first written to.
  explicit CubinCache(std::string folder) : folder_(std::move(folder)) {}

  // Where kernels are kept: TENSORD_CUDA_KERNEL_CACHE (empty: nowhere), else
  // tensord/kernels below XDG_CACHE_HOME or below .cache in HOME.
  static std::string DefaultFolder();

  // The kernel's code, from disk or compiled. Errors: CompileToCubin()'s.
  absl::StatusOr<std::string> Get(const DeviceText& text,
                                  absl::string_view architecture) const;

  // The file of a text, for tests.
  std::string FileOf(const DeviceText& text,
                     absl::string_view architecture) const;

 private:
  const std::string folder_;
};

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_LIBRARIES_CUBIN_CACHE_H_
