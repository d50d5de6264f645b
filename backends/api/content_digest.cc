#include "backends/api/content_digest.h"

#include <openssl/sha.h>

#include <algorithm>

namespace tensord {
namespace {

// Below, hashing takes some hundred nanoseconds.
constexpr size_t kMinRemembered = 512;

}  // namespace

ContentDigest DigestOf(absl::Span<const std::byte> bytes) {
  ContentDigest digest;
  SHA256(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(),
         digest.data());
  return digest;
}

void ContentDigests::Remember(absl::Span<const std::byte> bytes,
                              const std::shared_ptr<const void>& owner) {
  if (bytes.size() < kMinRemembered || owner == nullptr) return;
  absl::MutexLock lock(&mu_);
  if (Find(bytes) != nullptr) return;
  known_.insert_or_assign(bytes.data(),
                          Known{.size_bytes = bytes.size(), .owner = owner});
  if (known_.size() < limit_) return;
  absl::erase_if(
      known_, [](const auto& entry) { return entry.second.owner.expired(); });
  limit_ = std::max(limit_, 2 * known_.size());
}

ContentDigest ContentDigests::Of(absl::Span<const std::byte> bytes) {
  // Alive until the digest is noted, so that it is of these very bytes.
  std::shared_ptr<const void> owner;
  {
    absl::MutexLock lock(&mu_);
    if (const Known* known = Find(bytes)) {
      if (known->is_hashed) return known->digest;
      owner = known->owner.lock();
    }
    ++hash_count_;
  }
  // Without the lock: hashing takes long.
  const ContentDigest digest = DigestOf(bytes);
  if (owner == nullptr) return digest;
  absl::MutexLock lock(&mu_);
  if (Known* known = Find(bytes)) {
    known->digest = digest;
    known->is_hashed = true;
  }
  return digest;
}

int64_t ContentDigests::hash_count() const {
  absl::MutexLock lock(&mu_);
  return hash_count_;
}

// An address is given out again when its owner is gone.
ContentDigests::Known* ContentDigests::Find(absl::Span<const std::byte> bytes) {
  const auto found = known_.find(bytes.data());
  if (found == known_.end() || found->second.size_bytes != bytes.size() ||
      found->second.owner.expired()) {
    return nullptr;
  }
  return &found->second;
}

}  // namespace tensord
