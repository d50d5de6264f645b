#include "server/rpc/byte_budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "absl/synchronization/blocking_counter.h"

namespace tensord {
namespace {

using ::testing::ElementsAre;

TEST(ByteBudget, GrantsInTheOrderOfRequestsAndNotBySize) {
  ByteBudget budget(10);
  std::vector<int> granted;
  ByteBudget::Claim first, large, small;
  budget.Request(6, first, [&] { granted.push_back(1); });
  budget.Request(10, large, [&] { granted.push_back(2); });
  budget.Request(1, small, [&] { granted.push_back(3); });
  EXPECT_THAT(granted, ElementsAre(1));
  first.Release();
  EXPECT_THAT(granted, ElementsAre(1, 2));
  large.Release();
  EXPECT_THAT(granted, ElementsAre(1, 2, 3));
}

TEST(ByteBudget, ARequestThatIsWithdrawnMakesRoomForTheNext) {
  ByteBudget budget(10);
  bool is_granted = false;
  ByteBudget::Claim first, withdrawn, last;
  budget.Request(10, first, [] {});
  budget.Request(10, withdrawn, [] { FAIL() << "it was withdrawn"; });
  budget.Request(5, last, [&] { is_granted = true; });
  withdrawn.Release();
  withdrawn.Release();  // once more changes nothing
  EXPECT_FALSE(is_granted);
  first.Release();
  EXPECT_TRUE(is_granted);
}

TEST(ByteBudget, AClaimThatGoesGivesItsBytesBack) {
  ByteBudget budget(10);
  bool is_granted = false;
  {
    ByteBudget::Claim claim;
    budget.Request(10, claim, [] {});
  }
  ByteBudget::Claim next;
  budget.Request(10, next, [&] { is_granted = true; });
  EXPECT_TRUE(is_granted);
}

TEST(ByteBudget, NeverGrantsMoreThanThereIs) {
  constexpr int kThreads = 8, kRounds = 500;
  ByteBudget budget(100);
  std::atomic<int> in_use{0}, most{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < kRounds; ++round) {
        const int bytes = 1 + (i * 37 + round * 11) % 60;
        ByteBudget::Claim claim;
        absl::BlockingCounter granted(1);
        budget.Request(bytes, claim, [&] {
          const int now = in_use.fetch_add(bytes) + bytes;
          int seen = most.load();
          while (now > seen && !most.compare_exchange_weak(seen, now)) {
          }
          granted.DecrementCount();
        });
        granted.Wait();
        in_use.fetch_sub(bytes);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(most, 100);
}

}  // namespace
}  // namespace tensord
