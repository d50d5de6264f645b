#include "engine/profile/striped_rows.h"

#include <cstdint>
#include <thread>
#include <vector>

#include "engine/profile/striped_counters.h"
#include "engine/profile/striped_histograms.h"
#include "gtest/gtest.h"

namespace tensord::op_profile {
namespace {

TEST(ThreadStripe, AThreadKeepsItsOwn) {
  const size_t stripe = ThreadStripe();
  EXPECT_LT(stripe, kStripeCount);
  std::thread([] { ThreadStripe(); }).join();
  EXPECT_EQ(ThreadStripe(), stripe);
}

TEST(StripedCounters, RowsAreUsedFromTheirFirstAdditionOn) {
  StripedCounters counters(3);
  EXPECT_FALSE(counters.IsUsed(1));
  EXPECT_EQ(counters.Read(1), 0);
  counters.Add(1, 0);
  EXPECT_TRUE(counters.IsUsed(1));
  EXPECT_FALSE(counters.IsUsed(0));
  EXPECT_FALSE(counters.IsUsed(2));
}

TEST(StripedCounters, ThreadsThatMeetAtANewRowLoseNothing) {
  constexpr int kThreads = 32;
  constexpr int kRows = 100;
  StripedCounters counters(kRows);
  StripedDurations durations(kRows);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int row = 0; row < kRows; ++row) {
        counters.Add(row, 2);
        durations.Add(row, 1'000);
        counters.Read(row);
        durations.Read(row);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int row = 0; row < kRows; ++row) {
    EXPECT_EQ(counters.Read(row), 2 * kThreads);
    const DurationHistogram histogram = ReadDurations(durations, row);
    EXPECT_EQ(histogram.count(), kThreads);
    EXPECT_EQ(histogram.sum_ns, 1'000 * kThreads);
  }
}

}  // namespace
}  // namespace tensord::op_profile
