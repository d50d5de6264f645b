#ifndef TENSORD_BACKENDS_API_PACKED_WEIGHTS_H_
#define TENSORD_BACKENDS_API_PACKED_WEIGHTS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "backends/api/backend.h"
#include "backends/api/content_digest.h"
#include "backends/api/kernel.h"
#include "backends/api/storage.h"

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

  // What constants are known by: of those that are noted here by Remember(),
  // what is packed is found without another look at their bytes.
  virtual ContentDigests& digests() = 0;

 protected:
  ~HasPackedWeights() = default;
};

// What a KernelState is besides, where it uses such weights.
class UsesPackedWeights {
 public:
  using Packed = std::vector<std::shared_ptr<const Storage>>;

  // Adds what the state uses to `to`.
  virtual void AppendPacked(Packed& to) const = 0;

 protected:
  ~UsesPackedWeights() = default;
};

inline void AppendPackedOf(const KernelState* state,
                           UsesPackedWeights::Packed& to) {
  const auto* user = dynamic_cast<const UsesPackedWeights*>(state);
  if (user != nullptr) user->AppendPacked(to);
}

// 0 for a device that shares none.
inline uint64_t PackedBytesOf(const Device& device) {
  const auto* packed = dynamic_cast<const HasPackedWeights*>(&device);
  return packed == nullptr ? 0 : packed->packed_bytes();
}

}  // namespace tensord

#endif  // TENSORD_BACKENDS_API_PACKED_WEIGHTS_H_
