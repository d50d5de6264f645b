#include "backends/vulkan/mapped_ring.h"

#include <algorithm>

#include "absl/memory/memory.h"

namespace tensord::vulkan {

absl::StatusOr<std::unique_ptr<MappedRing>> MappedRing::Create(
    MemoryBlocks& blocks, uint64_t size_bytes, MemoryKind kind) {
  absl::StatusOr<MemoryRange> range = blocks.Allocate(size_bytes, kind);
  if (!range.ok()) return range.status();
  return absl::WrapUnique(new MappedRing(blocks, *range));
}

MappedRing::~MappedRing() { blocks_.Free(range_); }

MappedRing::Piece MappedRing::Take(uint64_t size_bytes, uint64_t free_end) {
  const uint64_t ring = range_.size_bytes;
  const uint64_t offset = end_ % ring;
  const uint64_t size =
      std::min({size_bytes, ring / 4, ring - (end_ - free_end), ring - offset});
  // All of these are multiples of the alignment but for the size asked for, so
  // the ring's rest always takes the padding.
  end_ += (size + kAlignment - 1) / kAlignment * kAlignment;
  if (size == 0) return {};
  return {range_.host_address + offset, range_.buffer, range_.offset + offset,
          size};
}

}  // namespace tensord::vulkan
