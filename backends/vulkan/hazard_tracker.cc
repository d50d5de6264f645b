#include "backends/vulkan/hazard_tracker.h"

#include <algorithm>

namespace tensord::vulkan {
namespace {

bool AnyOverlap(absl::Span<const ByteRange> some,
                absl::Span<const ByteRange> others) {
  return std::any_of(some.begin(), some.end(), [others](const ByteRange& one) {
    return std::any_of(
        others.begin(), others.end(),
        [&one](const ByteRange& other) { return one.Overlaps(other); });
  });
}

}  // namespace

bool HazardTracker::Add(absl::Span<const ByteRange> reads,
                        absl::Span<const ByteRange> writes) {
  const bool needs_barrier = reads_.size() + writes_.size() > kMostNoted ||
                             AnyOverlap(reads, writes_) ||
                             AnyOverlap(writes, writes_) ||
                             AnyOverlap(writes, reads_);
  if (needs_barrier) Clear();
  reads_.insert(reads_.end(), reads.begin(), reads.end());
  writes_.insert(writes_.end(), writes.begin(), writes.end());
  return needs_barrier;
}

void HazardTracker::Clear() {
  reads_.clear();
  writes_.clear();
}

}  // namespace tensord::vulkan
