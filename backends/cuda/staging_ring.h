#ifndef TENSORD_BACKENDS_CUDA_STAGING_RING_H_
#define TENSORD_BACKENDS_CUDA_STAGING_RING_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/cuda/device_fault.h"

namespace tensord::cuda {

// Pinned host memory through which bytes of ordinary memory go to and from the
// device, in order. Positions count all bytes that ever went through.
//
// Threading: the lane's thread. Ownership: the lane's; freed when the lane is
//   done with it.
class StagingRing {
 public:
  static constexpr uint64_t kBytes = uint64_t{8} << 20;
  // The most that is given at once, so that the host fills a piece while the
  // device copies another.
  static constexpr uint64_t kPieceBytes = kBytes / 4;

  // kResourceExhausted when the host has no memory to pin.
  static absl::StatusOr<std::unique_ptr<StagingRing>> Create(
      DeviceFault& fault);
  ~StagingRing();

  // The next at most `size_bytes` bytes, aligned to 64. Empty when none are
  // free, where all up to position `free_end` are.
  absl::Span<std::byte> Take(uint64_t size_bytes, uint64_t free_end);

  // The position behind all that was taken.
  uint64_t end() const { return end_; }

 private:
  explicit StagingRing(std::byte* bytes) : bytes_(bytes) {}

  std::byte* const bytes_;
  uint64_t end_ = 0;
};

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_STAGING_RING_H_
