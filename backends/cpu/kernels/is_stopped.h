#ifndef TENSORD_BACKENDS_CPU_KERNELS_IS_STOPPED_H_
#define TENSORD_BACKENDS_CPU_KERNELS_IS_STOPPED_H_

#include <atomic>

#include "absl/status/status.h"
#include "backends/api/launch_context.h"

namespace tensord {

// Whether the run was stopped. ParallelFor hands out nothing more then; this is
// for loops that it does not see: serial ones, and those of one index that can
// take seconds by itself. A relaxed load.
inline bool IsStopped(const LaunchContext& context) {
  return context.is_stopped != nullptr &&
         context.is_stopped->load(std::memory_order_relaxed);
}

// What a kernel returns that found so.
inline absl::Status StoppedError() {
  return absl::CancelledError("the run was stopped inside the launch");
}

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_IS_STOPPED_H_
