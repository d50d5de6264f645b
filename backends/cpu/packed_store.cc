#include "backends/cpu/packed_store.h"

#include <algorithm>
#include <string>
#include <utility>

#include "backends/cpu/cpu_device.h"

namespace tensord {
namespace {

ContentDigest KeyOf(const ContentDigest& content, absl::string_view form) {
  std::string both(content.begin(), content.end());
  both.append(form.data(), form.size());
  return DigestOf(absl::MakeConstSpan(
      reinterpret_cast<const std::byte*>(both.data()), both.size()));
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Storage>> PackedStore::Get(
    absl::Span<const std::byte> content, absl::string_view form,
    uint64_t size_bytes, absl::FunctionRef<absl::Status(std::byte*)> fill) {
  const ContentDigest key = KeyOf(digests_.Of(content), form);
  if (std::shared_ptr<const Storage> found = Find(key)) return found;
  // Without the lock: filling takes long.
  absl::StatusOr<std::unique_ptr<Storage>> storage =
      device_.Allocate(size_bytes);
  if (!storage.ok()) return storage.status();
  if (absl::Status status = fill((*storage)->address()); !status.ok()) {
    return status;
  }
  std::shared_ptr<const Storage> made = Share(*std::move(storage));
  absl::MutexLock lock(&mu_);
  std::weak_ptr<const Storage>& kept = forms_[key];
  if (std::shared_ptr<const Storage> first = kept.lock()) return first;
  kept = made;
  if (forms_.size() >= limit_) {
    absl::erase_if(forms_,
                   [](const auto& entry) { return entry.second.expired(); });
    limit_ = std::max(limit_, 2 * forms_.size());
  }
  return made;
}

std::shared_ptr<const Storage> PackedStore::Find(const ContentDigest& key) {
  absl::MutexLock lock(&mu_);
  const auto found = forms_.find(key);
  return found == forms_.end() ? nullptr : found->second.lock();
}

std::shared_ptr<const Storage> PackedStore::Share(
    std::unique_ptr<Storage> storage) const {
  packed_bytes_->fetch_add(storage->size_bytes(), std::memory_order_relaxed);
  return {storage.release(), [count = packed_bytes_](const Storage* dead) {
            count->fetch_sub(dead->size_bytes(), std::memory_order_relaxed);
            delete dead;
          }};
}

absl::Span<const std::byte> HostBytes(const NodeSite& site, int i) {
  return absl::MakeConstSpan(
      site.host_constant(i),
      ByteSize(site.input_dtype(i), site.input(i).shape.element_count()));
}

PackedStore& PackedStoreOf(Device& device) {
  return static_cast<CpuDevice&>(device).packed_store();
}

}  // namespace tensord
