#ifndef TENSORD_BACKENDS_CPU_KERNELS_EXTENT_CELLS_H_
#define TENSORD_BACKENDS_CPU_KERNELS_EXTENT_CELLS_H_

#include <algorithm>
#include <cstdint>

#include "absl/types/span.h"
#include "backends/api/launch_context.h"

namespace tensord {

// Tells the extents of a kernel's outputs, one output after the other. A node
// whose arguments are all known before the run has no cells, and nothing is
// written.
//
// Threading: one thread. Ownership: borrows the launch's memory.
class ExtentCells {
 public:
  explicit ExtentCells(const LaunchContext& context) {
    if (!context.extent_cells.is_present()) return;
    next_ = reinterpret_cast<int64_t*>(context.extent_cells.address());
  }

  // All extents of the next output that is present.
  void Write(absl::Span<const int64_t> extents) {
    if (next_ != nullptr) {
      next_ = std::copy(extents.begin(), extents.end(), next_);
    }
  }

 private:
  int64_t* next_ = nullptr;
};

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_EXTENT_CELLS_H_
