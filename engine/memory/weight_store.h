#ifndef TENSORD_ENGINE_MEMORY_WEIGHT_STORE_H_
#define TENSORD_ENGINE_MEMORY_WEIGHT_STORE_H_

#include <atomic>
#include <cstdint>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "backends/api/backend.h"
#include "backends/api/content_digest.h"
#include "engine/graph/host_tensor.h"

namespace tensord {

// A constant that is resident on one device.
// Threading: immutable. Ownership: shared by every compiled graph with the same
// bytes; the storage goes with the last of them.
struct Weight {
  std::unique_ptr<const Storage> storage;
  uint64_t size_bytes = 0;
};

// Constants of one device, each resident once whatever number of graphs has the
// same bytes. On a device that imports host memory the graph's own bytes are
// used in place.
//
// Threading: every method may be called from any thread.
// Ownership: holds weights weakly; borrows the device, which outlives it.
class WeightStore {
 public:
  explicit WeightStore(Device& device);

  // The weight with these bytes, uploaded if nobody has it yet. `lane` carries
  // the upload and may be one that nobody else uses meanwhile; the bytes are
  // there when the call returns. Equal bytes are found by their SHA-256, which
  // is computed once for each tensor that is not tiny, and which a device that
  // packs weights goes by as well.
  // Errors: kResourceExhausted when the device is full, kUnavailable when it
  // does not take the bytes within a minute.
  absl::StatusOr<std::shared_ptr<const Weight>> Get(const HostTensor& tensor,
                                                    Lane& lane);

  // Bytes of all weights that are alive.
  uint64_t resident_bytes() const;
  // Bytes of all weights that were ever copied to the device.
  uint64_t uploaded_bytes() const { return uploaded_bytes_.load(); }

 private:
  absl::StatusOr<std::shared_ptr<const Weight>> Upload(const HostTensor& tensor,
                                                       Lane& lane);

  Device& device_;
  ContentDigests own_digests_;
  ContentDigests& digests_;  // the device's, where it packs weights; else own
  std::atomic<uint64_t> uploaded_bytes_{0};
  mutable absl::Mutex mu_;
  absl::flat_hash_map<ContentDigest, std::weak_ptr<const Weight>> weights_
      ABSL_GUARDED_BY(mu_);
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_MEMORY_WEIGHT_STORE_H_
