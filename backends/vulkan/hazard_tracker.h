#ifndef TENSORD_BACKENDS_VULKAN_HAZARD_TRACKER_H_
#define TENSORD_BACKENDS_VULKAN_HAZARD_TRACKER_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace tensord::vulkan {

// Bytes that a command reads or writes, by device address.
struct ByteRange {
  uint64_t begin = 0;
  uint64_t end = 0;

  bool Overlaps(const ByteRange& other) const {
    return begin < other.end && other.begin < end;
  }
};

// What a command touches.
struct Accesses {
  std::vector<ByteRange> reads;
  std::vector<ByteRange> writes;

  void Clear() {
    reads.clear();
    writes.clear();
  }
};

// Which commands of one command buffer may run at once: knows what those since
// the last barrier touch. A command that reads what one of them writes, or
// writes what one of them reads or writes, has to wait for a barrier.
//
// Threading: the lane's thread. Ownership: the lane's.
class HazardTracker {
 public:
  // Whether a barrier must come ahead of a command with these accesses; notes
  // them, as the first behind the barrier where there is one.
  bool Add(absl::Span<const ByteRange> reads,
           absl::Span<const ByteRange> writes);

  // A barrier, or the begin of a command buffer.
  void Clear();

 private:
  // With more than so many accesses a barrier costs less than the comparisons.
  static constexpr size_t kMostNoted = 64;

  std::vector<ByteRange> reads_;
  std::vector<ByteRange> writes_;
};

}  // namespace tensord::vulkan

#endif  // TENSORD_BACKENDS_VULKAN_HAZARD_TRACKER_H_
