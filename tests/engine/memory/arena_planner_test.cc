#include "engine/memory/arena_planner.h"

#include <iterator>
#include <map>
#include <random>
#include <vector>

#include "backends/api/storage.h"
#include "gtest/gtest.h"

namespace tensord {
namespace {

// Whether two ranges that are alive together share a byte: what a plan must
// never do. The check is shown to be able to fail below.
bool HasOverlap(const std::vector<LiveRange>& ranges, const ArenaPlan& plan) {
  for (size_t a = 0; a < ranges.size(); ++a) {
    for (size_t b = a + 1; b < ranges.size(); ++b) {
      const bool together = ranges[a].first_step <= ranges[b].last_step &&
                            ranges[b].first_step <= ranges[a].last_step;
      const bool share =
          plan.offsets[a] < plan.offsets[b] + ranges[b].size_bytes &&
          plan.offsets[b] < plan.offsets[a] + ranges[a].size_bytes;
      if (together && share) return true;
    }
  }
  return false;
}

TEST(ArenaPlanner, NoRangesNeedNoBytes) {
  EXPECT_EQ(PlanArena({}).arena_bytes, 0);
  EXPECT_EQ(ArenaLowerBound({}), 0);
}

TEST(ArenaPlanner, AChainNeedsTwoSlotsWhateverItsLength) {
  std::vector<LiveRange> ranges;
  for (int step = 0; step < 50; ++step)
    ranges.push_back({1024, step, step + 1});
  const ArenaPlan plan = PlanArena(ranges);
  EXPECT_FALSE(HasOverlap(ranges, plan));
  EXPECT_EQ(plan.arena_bytes, 2048);
}

TEST(ArenaPlanner, OffsetsAreAligned) {
  const std::vector<LiveRange> ranges = {{1, 0, 2}, {65, 0, 2}, {7, 1, 2}};
  for (uint64_t offset : PlanArena(ranges).offsets) {
    EXPECT_EQ(offset % kStorageAlignment, 0);
  }
}

TEST(ArenaPlanner, EmptyRangesTakeNoSpace) {
  const std::vector<LiveRange> ranges = {{0, 0, 9}, {64, 0, 9}, {0, 3, 3}};
  EXPECT_EQ(PlanArena(ranges).arena_bytes, 64);
}

TEST(ArenaPlanner, ASmallRangeFitsTheGapBetweenLargeOnes) {
  // The middle slot is free after step 1; the last range fits there.
  const std::vector<LiveRange> ranges = {
      {4096, 0, 9}, {2048, 0, 1}, {1024, 0, 9}, {2048, 2, 9}};
  const ArenaPlan plan = PlanArena(ranges);
  EXPECT_FALSE(HasOverlap(ranges, plan));
  EXPECT_EQ(plan.arena_bytes, 4096 + 2048 + 1024);
}

TEST(ArenaPlanner, RandomPlansNeverOverlapAndAreNearTheLowerBound) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<LiveRange> ranges;
    const int count = 1 + static_cast<int>(random() % 60);
    for (int i = 0; i < count; ++i) {
      const auto first = static_cast<int32_t>(random() % 40);
      ranges.push_back({random() % 5000, first,
                        first + static_cast<int32_t>(random() % 10)});
    }
    const ArenaPlan plan = PlanArena(ranges);
    ASSERT_FALSE(HasOverlap(ranges, plan)) << "round " << round;
    ASSERT_GE(plan.arena_bytes, ArenaLowerBound(ranges));
    ASSERT_LE(plan.arena_bytes, 2 * ArenaLowerBound(ranges)) << round;
  }
}

// 50,000 ranges: the small ones are placed by step. HasOverlap() would look at
// all pairs, so what is alive is followed here.
TEST(ArenaPlanner, VeryManyRangesNeverOverlapAndStayNearTheLowerBound) {
  std::mt19937 random(11);
  std::vector<LiveRange> ranges;
  for (int i = 0; i < 50'000; ++i) {
    ranges.push_back(
        {1 + random() % 5'000, i, i + static_cast<int32_t>(random() % 200)});
  }
  const ArenaPlan plan = PlanArena(ranges);
  std::map<uint64_t, uint64_t> alive;  // offset to end
  std::multimap<int32_t, size_t> ends;
  for (size_t i = 0; i < ranges.size(); ++i) {
    while (!ends.empty() && ends.begin()->first < ranges[i].first_step) {
      alive.erase(plan.offsets[ends.begin()->second]);
      ends.erase(ends.begin());
    }
    const uint64_t begin = plan.offsets[i];
    const uint64_t end = begin + ranges[i].size_bytes;
    const auto after = alive.lower_bound(begin);
    ASSERT_TRUE(after == alive.end() || after->first >= end) << i;
    ASSERT_TRUE(after == alive.begin() || std::prev(after)->second <= begin)
        << i;
    ASSERT_LE(end, plan.arena_bytes);
    alive.emplace(begin, end);
    ends.emplace(ranges[i].last_step, i);
  }
  EXPECT_LT(static_cast<double>(plan.arena_bytes),
            1.6 * static_cast<double>(ArenaLowerBound(ranges)));
}

TEST(ArenaPlanner, TheOverlapCheckFindsAnOverlap) {
  const std::vector<LiveRange> ranges = {{64, 0, 2}, {64, 2, 3}};
  EXPECT_TRUE(HasOverlap(ranges, ArenaPlan{{0, 32}, 128}));
}

}  // namespace
}  // namespace tensord
