#include "engine/memory/weight_store.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "backends/api/packed_weights.h"

namespace tensord {
namespace {

// Far more than the largest weight takes over the slowest bus: past it the
// device hangs, and the compiler's thread must not hang with it.
constexpr absl::Duration kUploadTimeout = absl::Seconds(60);

ContentDigests& DigestsOf(Device& device, ContentDigests& otherwise) {
  auto* packed = dynamic_cast<HasPackedWeights*>(&device);
  return packed == nullptr ? otherwise : packed->digests();
}

}  // namespace

WeightStore::WeightStore(Device& device)
    : device_(device), digests_(DigestsOf(device, own_digests_)) {}

absl::StatusOr<std::shared_ptr<const Weight>> WeightStore::Get(
    const HostTensor& tensor, Lane& lane) {
  // Also of a tensor whose bytes another graph has brought: kernels see this
  // one's.
  digests_.Remember(tensor.bytes(), tensor.owner());
  const ContentDigest digest = digests_.Of(tensor.bytes());
  {
    absl::MutexLock lock(&mu_);
    const auto it = weights_.find(digest);
    if (it != weights_.end()) {
      if (std::shared_ptr<const Weight> weight = it->second.lock()) {
        return weight;
      }
    }
  }
  // Without the lock: an upload takes long. Of two at once, the first one
  // stays.
  absl::StatusOr<std::shared_ptr<const Weight>> uploaded = Upload(tensor, lane);
  if (!uploaded.ok()) return uploaded.status();
  absl::MutexLock lock(&mu_);
  std::weak_ptr<const Weight>& kept = weights_[digest];
  if (std::shared_ptr<const Weight> weight = kept.lock()) return weight;
  kept = *uploaded;
  absl::erase_if(weights_,
                 [](const auto& entry) { return entry.second.expired(); });
  return *std::move(uploaded);
}

absl::StatusOr<std::shared_ptr<const Weight>> WeightStore::Upload(
    const HostTensor& tensor, Lane& lane) {
  auto weight = std::make_shared<Weight>();
  weight->size_bytes = tensor.size_bytes();
  if (device_.info().imports_host_memory) {
    absl::StatusOr<std::unique_ptr<Storage>> storage =
        device_.ImportHostMemory(tensor.bytes(), tensor.owner());
    if (!storage.ok()) return storage.status();
    weight->storage = *std::move(storage);
    return weight;
  }
  absl::StatusOr<std::unique_ptr<Storage>> storage =
      device_.Allocate(tensor.size_bytes());
  if (!storage.ok()) return storage.status();
  const StorageView view{storage->get(), 0, tensor.size_bytes()};
  if (absl::Status s = lane.CopyToDevice(tensor.bytes(), view); !s.ok()) {
    return s;
  }
  uploaded_bytes_.fetch_add(tensor.size_bytes(), std::memory_order_relaxed);
  weight->storage = *std::move(storage);
  // A device that does not finish in time may still be reading and writing.
  lane.Retain(weight);
  lane.Retain(tensor.owner());
  absl::StatusOr<CompletionHandle> done = lane.RecordCompletion();
  if (!done.ok()) return done.status();
  absl::Status status = done->WaitUntil(absl::Now() + kUploadTimeout);
  if (absl::IsDeadlineExceeded(status)) {
    return absl::UnavailableError(
        absl::StrCat("device ", device_.info().id.ToString(),
                     " did not take a weight of ", tensor.size_bytes(),
                     " bytes within ", absl::FormatDuration(kUploadTimeout)));
  }
  if (!status.ok()) return status;
  return weight;
}

uint64_t WeightStore::resident_bytes() const {
  absl::MutexLock lock(&mu_);
  uint64_t bytes = 0;
  for (const auto& [digest, weak] : weights_) {
    if (std::shared_ptr<const Weight> weight = weak.lock()) {
      bytes += weight->size_bytes;
    }
  }
  return bytes;
}

}  // namespace tensord
