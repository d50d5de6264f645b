#ifndef TENSORD_BACKENDS_API_PACKED_WEIGHTS_H_
#define TENSORD_BACKENDS_API_PACKED_WEIGHTS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "backends/api/backend.h"
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

  // These bytes, which kernels may see as a host constant, do not change while
  // `owner` is alive: what is packed of them is found without a look at them.
  virtual void RememberConstant(absl::Span<const std::byte> bytes,
                                const std::shared_ptr<const void>& owner) = 0;

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
