#include "backends/api/memory_budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "tests/support/matchers.h"

namespace tensord {
namespace {

constexpr DeviceId kDevice{BackendId::kCuda, 3};

TEST(MemoryBudgetTest, RefusesWithAllTheNumbers) {
  MemoryBudget budget(kDevice, 100);
  EXPECT_THAT(budget.Reserve(60), IsOk());
  EXPECT_THAT(
      budget.Reserve(41),
      StatusIs(absl::StatusCode::kResourceExhausted,
               "device cuda:3: 41 bytes of memory asked for, 60 of 100 in "
               "use"));
  EXPECT_EQ(budget.used_bytes(), 60u);
  EXPECT_THAT(budget.Reserve(40), IsOk());
  EXPECT_THAT(budget.Reserve(0), IsOk());
  budget.Release(100);
  EXPECT_EQ(budget.used_bytes(), 0u);
}

TEST(MemoryBudgetTest, SumsCannotWrapAround) {
  MemoryBudget budget(kDevice, UINT64_MAX);
  EXPECT_THAT(budget.Reserve(UINT64_MAX - 1), IsOk());
  EXPECT_FALSE(budget.Reserve(2).ok());
  EXPECT_THAT(budget.Reserve(1), IsOk());
}

TEST(MemoryBudgetTest, TheSystemsRefusalIsSaidToo) {
  MemoryBudget budget(kDevice, 100);
  ASSERT_THAT(budget.Reserve(10), IsOk());
  ASSERT_THAT(budget.Reserve(50), IsOk());
  EXPECT_THAT(budget.RefusedBySystem(50, "too fragmented"),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       "device cuda:3: 50 bytes of memory asked for, 10 of 100 "
                       "in use, and the system refused: too fragmented"));
}

TEST(MemoryBudgetTest, NeverGoesAboveTheLimit) {
  MemoryBudget budget(kDevice, 1000);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&budget, i] {
      for (int round = 0; round < 1000; ++round) {
        if (!budget.Reserve(100 + i).ok()) continue;
        EXPECT_LE(budget.used_bytes(), budget.limit_bytes());
        budget.Release(100 + i);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(budget.used_bytes(), 0u);
}

}  // namespace
}  // namespace tensord
