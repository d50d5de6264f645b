#ifndef TENSORD_BACKENDS_API_CONTENT_DIGEST_H_
#define TENSORD_BACKENDS_API_CONTENT_DIGEST_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"

namespace tensord {

// SHA-256 of some bytes: what a constant is known by.
using ContentDigest = std::array<uint8_t, 32>;

ContentDigest DigestOf(absl::Span<const std::byte> bytes);

// Digests of bytes that are asked for again and again, as a graph's weights are
// for each set of shapes that it is compiled for: of those with an owner, each
// is hashed once while the owner lives.
//
// Threading: thread-safe. Ownership: holds owners weakly.
class ContentDigests {
 public:
  // These bytes do not change while `owner` is alive, nor is their address
  // given out again. Small ones are not noted: hashing them costs less.
  void Remember(absl::Span<const std::byte> bytes,
                const std::shared_ptr<const void>& owner);

  // Of bytes that are alive for the call's length.
  ContentDigest Of(absl::Span<const std::byte> bytes);

  // How often Of() had to hash: for tests.
  int64_t hash_count() const;

 private:
  struct Known {
    size_t size_bytes = 0;
    std::weak_ptr<const void> owner;
    ContentDigest digest{};
    bool is_hashed = false;
  };

  Known* Find(absl::Span<const std::byte> bytes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  mutable absl::Mutex mu_;
  absl::flat_hash_map<const std::byte*, Known> known_ ABSL_GUARDED_BY(mu_);
  int64_t hash_count_ ABSL_GUARDED_BY(mu_) = 0;
  // How many entries there may be before the dead ones are looked for.
  size_t limit_ ABSL_GUARDED_BY(mu_) = 64;
};

}  // namespace tensord

#endif  // TENSORD_BACKENDS_API_CONTENT_DIGEST_H_
