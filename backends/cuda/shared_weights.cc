#include "backends/cuda/shared_weights.h"

#include <cuda_runtime_api.h>

#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "backends/api/content_digest.h"
#include "backends/api/packed_weights.h"
#include "backends/cuda/cuda_status.h"
#include "backends/cuda/current_device.h"

namespace tensord::cuda {
namespace {

struct Known {
  absl::Mutex mu;
  absl::flat_hash_map<std::string, std::weak_ptr<const Storage>> by_key
      ABSL_GUARDED_BY(mu);
};
Known& AllKnown() {
  static auto* const known = new Known;
  return *known;
}

absl::Status Upload(Device& device, const std::vector<std::byte>& bytes,
                    const Storage& to) {
  absl::Status status =
      CudaStatus(MakeCurrent(device.info().id.ordinal), "cudaSetDevice");
  if (!status.ok()) return status;
  cudaStream_t stream = nullptr;
  status = CudaStatus(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking),
                      "cudaStreamCreateWithFlags");
  if (!status.ok()) return status;
  status = CudaStatus(cudaMemcpyAsync(to.address(), bytes.data(), bytes.size(),
                                      cudaMemcpyHostToDevice, stream),
                      "cudaMemcpyAsync");
  const absl::Status done =
      CudaStatus(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  (void)cudaStreamDestroy(stream);
  return status.ok() ? done : status;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Storage>> SharedWeights(
    Device& device, absl::Span<const std::byte> content,
    absl::string_view order, absl::FunctionRef<std::vector<std::byte>()> make) {
  auto* const packed = dynamic_cast<HasPackedWeights*>(&device);
  const ContentDigest digest =
      packed != nullptr ? packed->digests().Of(content) : DigestOf(content);
  const std::string key = absl::StrCat(
      device.info().id.ToString(), " ", order, " ",
      absl::string_view(reinterpret_cast<const char*>(digest.data()),
                        digest.size()));
  Known& known = AllKnown();
  {
    absl::MutexLock lock(&known.mu);
    if (auto it = known.by_key.find(key); it != known.by_key.end()) {
      if (std::shared_ptr<const Storage> storage = it->second.lock()) {
        return storage;
      }
    }
  }
  const std::vector<std::byte> bytes = make();
  absl::StatusOr<std::unique_ptr<Storage>> storage =
      device.Allocate(bytes.size());
  if (!storage.ok()) return storage.status();
  absl::Status status = Upload(device, bytes, **storage);
  if (!status.ok()) return status;
  std::shared_ptr<const Storage> shared = *std::move(storage);
  absl::MutexLock lock(&known.mu);
  absl::erase_if(known.by_key,
                 [](const auto& entry) { return entry.second.expired(); });
  known.by_key[key] = shared;
  return shared;
}

}  // namespace tensord::cuda
