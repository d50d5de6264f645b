#include "backends/api/host_memory_budget.h"

#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tensord {
namespace {

TEST(HostMemoryBudget, RefusesAboveTheLimitAndSaysHowMuch) {
  HostMemoryBudget budget(100);
  EXPECT_TRUE(budget.Reserve(60, "a tensor").ok());
  EXPECT_EQ(
      budget.Reserve(41, "a tensor"),
      absl::ResourceExhaustedError(
          "host memory: 41 bytes asked for (a tensor), 60 of 100 in use"));
  EXPECT_TRUE(budget.Reserve(40, "a tensor").ok());
  budget.Release(60);
  EXPECT_EQ(budget.used_bytes(), 40);
}

TEST(HostMemoryBudget, AskingForAlmostEverythingDoesNotWrap) {
  HostMemoryBudget budget(100);
  EXPECT_TRUE(budget.Reserve(1, "x").ok());
  EXPECT_FALSE(budget.Reserve(UINT64_MAX, "x").ok());
  EXPECT_EQ(budget.used_bytes(), 1);
}

TEST(HostMemoryBudget, ALeaseGivesBackOnce) {
  HostMemoryBudget budget(100);
  {
    HostMemoryBudget::Lease kept;
    {
      auto lease = budget.Take(70, "x");
      ASSERT_TRUE(lease.ok());
      EXPECT_FALSE(budget.Take(31, "x").ok());
      kept = *std::move(lease);
    }
    EXPECT_EQ(budget.used_bytes(), 70);
    kept.Release();
    EXPECT_EQ(budget.used_bytes(), 0);
  }
  EXPECT_EQ(budget.used_bytes(), 0);
}

TEST(HostMemoryBudget, ThreadsNeverHaveMoreThanTheLimitTogether) {
  HostMemoryBudget budget(3);
  std::atomic<int> holders = 0;
  std::atomic<bool> was_above = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 10'000; ++round) {
        if (!budget.Reserve(1, "x").ok()) continue;
        if (holders.fetch_add(1) >= 3) was_above = true;
        holders.fetch_sub(1);
        budget.Release(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(was_above);
  EXPECT_EQ(budget.used_bytes(), 0);
}

}  // namespace
}  // namespace tensord
