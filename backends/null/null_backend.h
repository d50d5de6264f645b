#ifndef TENSORD_BACKENDS_NULL_NULL_BACKEND_H_
#define TENSORD_BACKENDS_NULL_NULL_BACKEND_H_

#include <cstdint>
#include <memory>

#include "backends/api/backend.h"
#include "backends/api/host_services.h"

namespace tensord {

struct NullOptions {
  // What one device may allocate.
  uint64_t memory_limit_bytes = uint64_t{1} << 30;
};

// A backend that completes without computing: it shows what everything but the
// kernels costs, and lets tests run any graph.
//
// It has one kernel for each op kind and any dtypes, whose run touches no
// tensor. An output keeps the bytes that its memory had; memory is zeroed when
// it is allocated, so nothing of another process or a freed tensor shows.
// Extents that a kernel would compute are 0. Copies do copy.
//
// Threading: as backends/api/backend.h says; lanes are synchronous.
// Ownership: `services` must outlive the backend. Errors: no device faults.
std::unique_ptr<Backend> MakeNullBackend(const HostServices& services,
                                         const NullOptions& options = {});

}  // namespace tensord

#endif  // TENSORD_BACKENDS_NULL_NULL_BACKEND_H_
