#ifndef TENSORD_BACKENDS_API_PACKED_WEIGHTS_H_
#define TENSORD_BACKENDS_API_PACKED_WEIGHTS_H_

#include <cstdint>

#include "backends/api/backend.h"

namespace tensord {

// What a device is besides, where its kernels share the weights that they
// packed ahead of the runs: by content, so that a graph that is compiled for
// many shapes packs each once.
//
// Threading: thread-safe.
class HasPackedWeights {
 public:
  // Bytes of all that is packed and in use, each counted once. They are part of
  // Device::allocated_bytes() and of no KernelState's footprint.
  virtual uint64_t packed_bytes() const = 0;

 protected:
  ~HasPackedWeights() = default;
};

// 0 for a device that shares none.
inline uint64_t PackedBytesOf(const Device& device) {
  const auto* packed = dynamic_cast<const HasPackedWeights*>(&device);
  return packed == nullptr ? 0 : packed->packed_bytes();
}

}  // namespace tensord

#endif  // TENSORD_BACKENDS_API_PACKED_WEIGHTS_H_
