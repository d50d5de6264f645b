#ifndef TENSORD_BACKENDS_CPU_CPU_BACKEND_H_
#define TENSORD_BACKENDS_CPU_CPU_BACKEND_H_

#include <cstdint>
#include <memory>

#include "backends/api/backend.h"
#include "backends/api/host_memory_budget.h"
#include "backends/api/host_services.h"

namespace tensord {

struct CpuOptions {
  // What one device may allocate; 0 stands for HostMemoryLimitBytes(). Devices
  // of several ordinals share the machine's memory but not this budget: whoever
  // opens more than one divides it.
  uint64_t memory_limit_bytes = 0;
  // What every allocation is taken from as well, where others share it;
  // outlives the backend.
  HostMemoryBudget* host_memory = nullptr;
};

// The host's own processors as a backend: synchronous lanes, host memory, and a
// kernel for every operator that tensord has.
//
// Threading: as backends/api/backend.h says; a kernel runs on the thread that
//   holds the lane, and spreads over services.workers.
// Ownership: `services` must be complete, and outlive the backend.
// Errors: the device never faults.
std::unique_ptr<Backend> MakeCpuBackend(const HostServices& services,
                                        const CpuOptions& options = {});

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_CPU_BACKEND_H_
