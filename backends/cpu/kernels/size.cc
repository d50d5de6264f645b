// Size: y = the number of x's elements, an int64 scalar. For extents that are
// only known while the graph runs; all others are known before.

#include <cstdint>

#include "backends/api/kernel.h"

namespace tensord {

absl::Status RunSize(const KernelCall& call) {
  *call.output<int64_t>(0) = call.input_layout(0).shape.element_count();
  return absl::OkStatus();
}

}  // namespace tensord
