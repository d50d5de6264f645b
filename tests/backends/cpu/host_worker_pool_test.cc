#include "backends/cpu/host_worker_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <latch>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/allocation_count.h"

namespace tensord {
namespace {

// How often each index of [0, count) was visited.
std::vector<int> Visits(WorkerPool& pool, int64_t count, int64_t grain) {
  std::vector<std::atomic<int>> visits(count);
  pool.ParallelFor(count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) visits[i].fetch_add(1);
  });
  return {visits.begin(), visits.end()};
}

class HostWorkerPoolTest : public ::testing::TestWithParam<int> {
 protected:
  HostWorkerPool pool_{GetParam()};
};

TEST_P(HostWorkerPoolTest, VisitsEachIndexOnce) {
  for (int64_t count : {0, 1, 2, 7, 64, 1000, 4097}) {
    for (int64_t grain : {0, 1, 3, 64, 5000}) {
      EXPECT_THAT(Visits(pool_, count, grain), ::testing::Each(1))
          << count << " by " << grain;
    }
  }
}

TEST_P(HostWorkerPoolTest, RangesAreAtLeastOfTheGrainButForTheLast) {
  constexpr int64_t kCount = 1003;
  constexpr int64_t kGrain = 10;
  std::mutex mu;
  std::vector<std::pair<int64_t, int64_t>> ranges;
  pool_.ParallelFor(kCount, kGrain, [&](int64_t begin, int64_t end) {
    std::lock_guard<std::mutex> lock(mu);
    ranges.emplace_back(begin, end);
  });
  std::sort(ranges.begin(), ranges.end());
  int64_t expected_begin = 0;
  for (const auto& [begin, end] : ranges) {
    EXPECT_EQ(begin, expected_begin);
    if (end != kCount) {
      EXPECT_GE(end - begin, kGrain);
    }
    expected_begin = end;
  }
  EXPECT_EQ(expected_begin, kCount);
}

TEST_P(HostWorkerPoolTest, AnInnerCallRunsOnItsThread) {
  std::atomic<int> total{0};
  pool_.ParallelFor(16, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const std::thread::id outer = std::this_thread::get_id();
      pool_.ParallelFor(100, 1, [&](int64_t inner_begin, int64_t inner_end) {
        EXPECT_EQ(std::this_thread::get_id(), outer);
        total += static_cast<int>(inner_end - inner_begin);
      });
    }
  });
  EXPECT_EQ(total, 1600);
}

TEST_P(HostWorkerPoolTest, ManyCallersShareTheWorkers) {
  constexpr int kCallers = 32;
  constexpr int kRounds = 50;
  std::latch start(kCallers);
  std::vector<std::thread> callers;
  std::vector<int64_t> sums(kCallers, 0);
  for (int caller = 0; caller < kCallers; ++caller) {
    callers.emplace_back([&, caller] {
      start.arrive_and_wait();
      std::vector<int64_t> values(257);
      for (int round = 0; round < kRounds; ++round) {
        // Plain stores: what the helpers wrote must be visible afterwards.
        pool_.ParallelFor(values.size(), 8, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) values[i] = round + i;
        });
        for (int64_t value : values) sums[caller] += value;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  const int64_t expected =
      257 * (kRounds * (kRounds - 1) / 2) + kRounds * (257 * 256 / 2);
  EXPECT_THAT(sums, ::testing::Each(expected));
}

TEST_P(HostWorkerPoolTest, AllocatesNothing) {
  std::vector<double> values(1 << 14, 1.0);
  const auto work = [&] {
    pool_.ParallelFor(values.size(), 64, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) values[i] *= 1.5;
    });
  };
  work();
  const int64_t before = AllocationCount();
  for (int i = 0; i < 100; ++i) work();
  EXPECT_EQ(AllocationCount(), before);
  // The counter does count.
  auto* one = new int(1);
  EXPECT_GT(AllocationCount(), before);
  delete one;
}

INSTANTIATE_TEST_SUITE_P(Concurrency, HostWorkerPoolTest,
                         ::testing::Values(1, 2, 3, 8),
                         ::testing::PrintToStringParamName());

// Each range waits until every thread of the pool is inside one, so the call
// returns only if the workers really help.
TEST(HostWorkerPoolConcurrencyTest, AllThreadsWorkAtOnce) {
  constexpr int kThreads = 4;
  HostWorkerPool pool(kThreads);
  for (int round = 0; round < 20; ++round) {
    std::latch all_inside(kThreads);
    std::mutex mu;
    std::set<std::thread::id> threads;
    pool.ParallelFor(kThreads, 1, [&](int64_t, int64_t) {
      {
        std::lock_guard<std::mutex> lock(mu);
        threads.insert(std::this_thread::get_id());
      }
      all_inside.arrive_and_wait();
    });
    EXPECT_EQ(threads.size(), kThreads);
    EXPECT_TRUE(threads.contains(std::this_thread::get_id()));
  }
}

// Ranges as short as they get, so that threads meet at the counter all the time.
TEST(HostWorkerPoolConcurrencyTest, NoRangeIsTakenTwice) {
  HostWorkerPool pool(4);
  std::atomic<int64_t> total{0};
  constexpr int64_t kRounds = 5000;
  for (int64_t round = 0; round < kRounds; ++round) {
    pool.ParallelFor(16, 1, [&total](int64_t begin, int64_t end) {
      total.fetch_add(end - begin, std::memory_order_relaxed);
    });
    ASSERT_EQ(total, (round + 1) * 16);
  }
}

TEST(HostWorkerPoolConcurrencyTest, OfLessThanOneIsOne) {
  HostWorkerPool pool(0);
  EXPECT_EQ(pool.concurrency(), 1);
  EXPECT_THAT(Visits(pool, 10, 1), ::testing::Each(1));
}

}  // namespace
}  // namespace tensord
