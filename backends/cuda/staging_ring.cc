#include "backends/cuda/staging_ring.h"

#include <algorithm>

namespace tensord::cuda {

absl::StatusOr<std::unique_ptr<StagingRing>> StagingRing::Create(
    DeviceFault& fault) {
  void* bytes = nullptr;
  absl::Status status = fault.Check(
      cudaHostAlloc(&bytes, kBytes, cudaHostAllocPortable), "cudaHostAlloc");
  if (!status.ok()) return status;
  return std::unique_ptr<StagingRing>(
      new StagingRing(static_cast<std::byte*>(bytes)));
}

StagingRing::~StagingRing() { cudaFreeHost(bytes_); }

absl::Span<std::byte> StagingRing::Take(uint64_t size_bytes,
                                        uint64_t free_end) {
  constexpr uint64_t kAlignment = 64;
  const uint64_t free_bytes = kBytes - (end_ - free_end);
  const uint64_t offset = end_ % kBytes;
  const uint64_t size =
      std::min({size_bytes, kPieceBytes, free_bytes, kBytes - offset});
  // All of these are multiples of the alignment but for the size asked for, so
  // the ring's rest always takes the padding.
  end_ += (size + kAlignment - 1) / kAlignment * kAlignment;
  return {bytes_ + offset, size};
}

}  // namespace tensord::cuda
