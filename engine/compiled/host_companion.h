#ifndef TENSORD_ENGINE_COMPILED_HOST_COMPANION_H_
#define TENSORD_ENGINE_COMPILED_HOST_COMPANION_H_

#include "backends/api/backend.h"
#include "engine/memory/weight_store.h"

namespace tensord {

// What runs nodes that a device has no kernel for, in the same compiled graph:
// a device whose kernels work in host memory, on the calling thread.
//
// Threading: immutable. Ownership: borrows both, which outlive the compiled
// graphs and the lanes that run them.
struct HostCompanion {
  // Synchronous and host addressable; it computes and imports host memory.
  Device* device = nullptr;
  WeightStore* weights = nullptr;  // of that device

  // Whether a device can be one.
  static bool CanBe(const DeviceInfo& info) {
    return info.is_synchronous && info.is_host_addressable && info.computes &&
           info.imports_host_memory;
  }
  // Whether a graph for such a device may have steps on the host.
  static bool Helps(const DeviceInfo& info) {
    return info.computes && !info.is_host_addressable;
  }
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_COMPILED_HOST_COMPANION_H_
