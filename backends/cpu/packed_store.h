#ifndef TENSORD_BACKENDS_CPU_PACKED_STORE_H_
#define TENSORD_BACKENDS_CPU_PACKED_STORE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "backends/api/backend.h"
#include "backends/api/content_digest.h"
#include "backends/api/kernel.h"
#include "backends/api/storage.h"

namespace tensord {

// Constants in the forms that kernels made of them ahead of the runs, each once
// per device: a graph that is compiled for many shapes, or two graphs with the
// same weights, pack them once and hold them once.
//
// A form is found by the SHA-256 of the constant's bytes and of what was made
// of them, never by an address, which is given out again.
//
// Threading: every method may be called from any thread.
// Ownership: holds forms weakly; borrows the device, which outlives them.
class PackedStore {
 public:
  explicit PackedStore(Device& device) : device_(device) {}

  // A constant that is noted here is not hashed each time.
  ContentDigests& digests() { return digests_; }

  // What fill(address) makes of `content`, in `size_bytes` of the device's
  // memory. `form` says all else that the result depends on. Of two callers at
  // once both may fill, and one result stays.
  // Errors: kResourceExhausted when the device is full; fill's.
  absl::StatusOr<std::shared_ptr<const Storage>> Get(
      absl::Span<const std::byte> content, absl::string_view form,
      uint64_t size_bytes, absl::FunctionRef<absl::Status(std::byte*)> fill);

  // Bytes of all forms that are alive.
  uint64_t packed_bytes() const {
    return packed_bytes_->load(std::memory_order_relaxed);
  }

 private:
  std::shared_ptr<const Storage> Find(const ContentDigest& key);
  std::shared_ptr<const Storage> Share(std::unique_ptr<Storage> storage) const;

  Device& device_;
  ContentDigests digests_;
  // Shared with the forms, which count themselves out.
  const std::shared_ptr<std::atomic<uint64_t>> packed_bytes_ =
      std::make_shared<std::atomic<uint64_t>>(0);

  absl::Mutex mu_;
  absl::flat_hash_map<ContentDigest, std::weak_ptr<const Storage>> forms_
      ABSL_GUARDED_BY(mu_);
  // How many there may be before the dead ones are looked for.
  size_t limit_ ABSL_GUARDED_BY(mu_) = 64;
};

// The bytes of input i, which is known before the run.
absl::Span<const std::byte> HostBytes(const NodeSite& site, int i);

// The store of the device that CPU kernels are prepared for.
PackedStore& PackedStoreOf(Device& device);

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_PACKED_STORE_H_
