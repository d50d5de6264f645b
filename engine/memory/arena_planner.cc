#include "engine/memory/arena_planner.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "backends/api/storage.h"

namespace tensord {
namespace {

uint64_t AlignUp(uint64_t bytes) {
  return (bytes + kStorageAlignment - 1) / kStorageAlignment *
         kStorageAlignment;
}

bool Overlap(const LiveRange& a, const LiveRange& b) {
  return a.first_step <= b.last_step && b.first_step <= a.last_step;
}

// The lowest offset with `size` free bytes below and between the placed slots
// that are alive together with the range. `placed` is ordered by offset.
uint64_t LowestGap(absl::Span<const LiveRange> ranges, const LiveRange& range,
                   const std::multimap<uint64_t, size_t>& placed,
                   uint64_t size) {
  uint64_t candidate = 0;
  for (const auto& [offset, index] : placed) {
    if (!Overlap(ranges[index], range)) continue;
    if (offset >= candidate + size) break;
    candidate = std::max(candidate, offset + AlignUp(ranges[index].size_bytes));
  }
  return candidate;
}

}  // namespace

ArenaPlan PlanArena(absl::Span<const LiveRange> ranges) {
  ArenaPlan plan;
  plan.offsets.resize(ranges.size());
  std::vector<size_t> order(ranges.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return ranges[a].size_bytes > ranges[b].size_bytes;
  });
  std::multimap<uint64_t, size_t> placed;
  for (size_t index : order) {
    const uint64_t size = AlignUp(ranges[index].size_bytes);
    if (size == 0) continue;
    const uint64_t offset = LowestGap(ranges, ranges[index], placed, size);
    plan.offsets[index] = offset;
    plan.arena_bytes = std::max(plan.arena_bytes, offset + size);
    placed.emplace(offset, index);
  }
  return plan;
}

uint64_t ArenaLowerBound(absl::Span<const LiveRange> ranges) {
  // Bytes that become alive at a step, and that die after it.
  std::map<int32_t, int64_t> change;
  for (const LiveRange& range : ranges) {
    const auto size = static_cast<int64_t>(AlignUp(range.size_bytes));
    change[range.first_step] += size;
    change[range.last_step + 1] -= size;
  }
  int64_t alive = 0;
  int64_t most = 0;
  for (const auto& [step, delta] : change) {
    alive += delta;
    most = std::max(most, alive);
  }
  return static_cast<uint64_t>(most);
}

}  // namespace tensord
