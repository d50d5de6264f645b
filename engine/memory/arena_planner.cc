#include "engine/memory/arena_planner.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <utility>

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

// Placed slots that a search may look at in one plan: some tenths of a second.
constexpr int64_t kMaxLooks = int64_t{1} << 25;

// The lowest offset with `size` free bytes below and between the placed slots
// that are alive together with the range. `placed` is ordered by offset.
uint64_t LowestGap(absl::Span<const LiveRange> ranges, const LiveRange& range,
                   const std::multimap<uint64_t, size_t>& placed, uint64_t size,
                   int64_t& looks) {
  uint64_t candidate = 0;
  for (const auto& [offset, index] : placed) {
    ++looks;
    if (!Overlap(ranges[index], range)) continue;
    if (offset >= candidate + size) break;
    candidate = std::max(candidate, offset + AlignUp(ranges[index].size_bytes));
  }
  return candidate;
}

// Memory from `begin` on, given out step by step: the smallest hole that is
// large enough, or the end.
class GrowingRegion {
 public:
  explicit GrowingRegion(uint64_t begin) : end_(begin) {}

  uint64_t Take(uint64_t size) {
    const auto hole = by_size_.lower_bound({size, 0});
    if (hole == by_size_.end()) {
      const uint64_t offset = end_;
      end_ += size;
      return offset;
    }
    const auto [hole_size, offset] = *hole;
    Remove(offset, hole_size);
    if (hole_size > size) Insert(offset + size, hole_size - size);
    return offset;
  }

  void GiveBack(uint64_t offset, uint64_t size) {
    auto after = by_offset_.lower_bound(offset);
    if (after != by_offset_.end() && after->first == offset + size) {
      const uint64_t more = after->second;
      Remove(offset + size, more);
      size += more;
    }
    after = by_offset_.lower_bound(offset);
    if (after != by_offset_.begin()) {
      const auto [before, length] = *std::prev(after);
      if (before + length == offset) {
        Remove(before, length);
        offset = before;
        size += length;
      }
    }
    Insert(offset, size);
  }

  uint64_t end() const { return end_; }

 private:
  void Insert(uint64_t offset, uint64_t size) {
    by_offset_.emplace(offset, size);
    by_size_.emplace(size, offset);
  }
  void Remove(uint64_t offset, uint64_t size) {
    by_offset_.erase(offset);
    by_size_.erase({size, offset});
  }

  uint64_t end_;
  std::map<uint64_t, uint64_t> by_offset_;
  std::set<std::pair<uint64_t, uint64_t>> by_size_;
};

// Places these ranges above everything else, in the order of their steps.
void PlaceByStep(absl::Span<const LiveRange> ranges, std::vector<size_t> order,
                 ArenaPlan& plan) {
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return ranges[a].first_step < ranges[b].first_step;
  });
  GrowingRegion region(plan.arena_bytes);
  std::multimap<int32_t, size_t> alive;  // by last step
  for (size_t index : order) {
    const LiveRange& range = ranges[index];
    const uint64_t size = AlignUp(range.size_bytes);
    if (size == 0) continue;
    while (!alive.empty() && alive.begin()->first < range.first_step) {
      const size_t dead = alive.begin()->second;
      region.GiveBack(plan.offsets[dead], AlignUp(ranges[dead].size_bytes));
      alive.erase(alive.begin());
    }
    plan.offsets[index] = region.Take(size);
    alive.emplace(range.last_step, index);
  }
  plan.arena_bytes = region.end();
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
  int64_t looks = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    if (looks > kMaxLooks) {
      PlaceByStep(ranges,
                  {order.begin() + static_cast<ptrdiff_t>(i), order.end()},
                  plan);
      break;
    }
    const size_t index = order[i];
    const uint64_t size = AlignUp(ranges[index].size_bytes);
    if (size == 0) continue;
    const uint64_t offset =
        LowestGap(ranges, ranges[index], placed, size, looks);
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
