#ifndef TENSORD_BACKENDS_VULKAN_MAPPED_RING_H_
#define TENSORD_BACKENDS_VULKAN_MAPPED_RING_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "backends/vulkan/memory_blocks.h"

namespace tensord::vulkan {

// Memory that host and device both see, given out in order and free again in
// order: bytes on their way to and from the device.
// Positions count all bytes that ever went through.
//
// Threading: the lane's thread. Ownership: the lane's; freed when the lane is
//   done with it.
class MappedRing {
 public:
  struct Piece {
    std::byte* host = nullptr;  // null: there is none now
    VkBuffer buffer = VK_NULL_HANDLE;
    uint64_t offset = 0;  // in the buffer
    uint64_t size_bytes = 0;
  };

  // `blocks` outlives it. `size_bytes` is a multiple of kAlignment.
  static absl::StatusOr<std::unique_ptr<MappedRing>> Create(
      MemoryBlocks& blocks, uint64_t size_bytes, MemoryKind kind);
  ~MappedRing();

  // The next at most `size_bytes` bytes (at most a quarter of the ring, so that
  // the host fills a piece while the device empties another), where all up to
  // position `free_end` are free.
  Piece Take(uint64_t size_bytes, uint64_t free_end);

  // The position behind all that was taken.
  uint64_t end() const { return end_; }

 private:
  static constexpr uint64_t kAlignment = 64;

  MappedRing(MemoryBlocks& blocks, const MemoryRange& range)
      : blocks_(blocks), range_(range) {}

  MemoryBlocks& blocks_;
  const MemoryRange range_;
  uint64_t end_ = 0;
};

}  // namespace tensord::vulkan

#endif  // TENSORD_BACKENDS_VULKAN_MAPPED_RING_H_
