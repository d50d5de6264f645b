#include "engine/pool/flow_queue.h"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/allocation_count.h"

namespace tensord {
namespace {

using ::testing::ElementsAre;

class FlowQueueTest : public ::testing::Test {
 protected:
  Execution& Push(uint64_t flow, int64_t expected_ns = 1000) {
    executions_.push_back(std::make_unique<Execution>());
    Execution& execution = *executions_.back();
    execution.flow = flow;
    execution.expected_ns = expected_ns;
    queue_.Push(execution);
    return execution;
  }

  // The flows of the next `count`.
  std::vector<uint64_t> PopFlows(int count) {
    std::vector<uint64_t> flows;
    for (int i = 0; i < count; ++i) flows.push_back(queue_.Pop()->flow);
    return flows;
  }

  FlowQueue queue_;
  std::vector<std::unique_ptr<Execution>> executions_;
};

TEST_F(FlowQueueTest, OneFlowIsFirstInFirstOut) {
  Execution& a = Push(1);
  Execution& b = Push(1);
  Execution& c = Push(1);
  EXPECT_EQ(queue_.Pop(), &a);
  queue_.Remove(b);
  EXPECT_EQ(queue_.Pop(), &c);
  EXPECT_EQ(queue_.Pop(), nullptr);
}

TEST_F(FlowQueueTest, FlowsTakeTurnsHoweverManyEachHas) {
  for (int i = 0; i < 100; ++i) Push(1);
  Push(2);
  Push(3);
  Push(3);
  EXPECT_THAT(PopFlows(6), ElementsAre(1, 2, 3, 1, 3, 1));
}

TEST_F(FlowQueueTest, OneThatComesLateIsNextOrAfterIt) {
  for (int i = 0; i < 100; ++i) Push(1);
  PopFlows(50);
  Push(2);
  EXPECT_THAT(PopFlows(2), testing::Contains(2));
}

TEST_F(FlowQueueTest, TurnsAreOfTimeAndNotOfRuns) {
  for (int i = 0; i < 10; ++i) Push(1, 10'000);
  for (int i = 0; i < 100; ++i) Push(2, 1000);
  std::map<uint64_t, int> count;
  for (uint64_t flow : PopFlows(55)) ++count[flow];
  EXPECT_EQ(count[1], 5);
  EXPECT_EQ(count[2], 50);
}

// One run at a time is no way around what its runs take.
TEST_F(FlowQueueTest, AFlowThatComesBackOwesWhatItTook) {
  for (int i = 0; i < 100; ++i) Push(1, 1000);
  Push(2, 10'000);
  int others = 0;
  int turns = 0;
  while (turns < 5) {
    if (queue_.Pop()->flow == 2) {
      ++turns;
      Push(2, 10'000);
    } else {
      ++others;
    }
  }
  EXPECT_GE(others, 40);
}

TEST_F(FlowQueueTest, WhatARunReallyTookCounts) {
  for (int i = 0; i < 100; ++i) {
    Push(1, 1000);
    Push(2, 1000);
  }
  std::map<uint64_t, int> count;
  for (int i = 0; i < 55; ++i) {
    const uint64_t flow = queue_.Pop()->flow;
    ++count[flow];
    queue_.Settle(flow, 1000, flow == 1 ? 10'000 : 1000);
  }
  EXPECT_NEAR(count[1], 5, 1);
  EXPECT_NEAR(count[2], 50, 1);
}

// Every run is over at once, though a second was expected of it.
TEST_F(FlowQueueTest, WhoComesDoesNotPayForEstimatesThatWereTooLong) {
  for (int i = 0; i < 200; ++i) Push(1, 1'000'000'000);
  for (int i = 0; i < 100; ++i) {
    queue_.Settle(queue_.Pop()->flow, 1'000'000'000, 1000);
  }
  Push(2, 1'000'000'000);
  EXPECT_THAT(PopFlows(2), testing::Contains(2));
}

TEST_F(FlowQueueTest, NorForARunThatIsStillOnItsLane) {
  for (int i = 0; i < 100; ++i) Push(1, 1'000'000'000);
  queue_.Pop();
  queue_.Pop();
  Push(2, 1000);
  queue_.Settle(1, 1'000'000'000, 1000);
  queue_.Settle(1, 1'000'000'000, 1000);
  EXPECT_THAT(PopFlows(2), testing::Contains(2));
}

TEST_F(FlowQueueTest, WhatRanBeforeTheQueueWasEmptyIsNoCredit) {
  for (int i = 0; i < 4; ++i) Push(1, 1'000'000);
  PopFlows(4);
  for (int i = 0; i < 10; ++i) Push(1, 1000);
  Push(2, 1000);
  for (int i = 0; i < 4; ++i) queue_.Settle(1, 1'000'000, 1000);
  EXPECT_THAT(PopFlows(2), testing::Contains(2));
}

// A client may have a new connection for each of its calls.
TEST_F(FlowQueueTest, ThoseThatComeOnceEachDoNotHoldUpOneThatStays) {
  for (int i = 0; i < 20; ++i) Push(1);
  for (uint64_t flow = 100; flow < 108; ++flow) Push(flow);
  uint64_t next = 108;
  int turns = 0;
  for (int i = 0; i < 180; ++i) {
    const uint64_t flow = queue_.Pop()->flow;
    queue_.Settle(flow, 1000, 1000);
    if (flow == 1) {
      ++turns;
    } else {
      Push(next++);
    }
  }
  EXPECT_GE(turns, 18);
}

TEST_F(FlowQueueTest, RemembersNoMoreThanWaitsAndItsBound) {
  for (uint64_t flow = 2; flow < 3000; ++flow) {
    for (int i = 0; i < 4; ++i) Push(1);
    Push(flow);
    while (queue_.Pop()->flow != flow) {
    }
    queue_.Settle(flow, 1000, 1'000'000'000);  // what it owes is never passed
  }
  EXPECT_LE(queue_.flow_count(), FlowQueue::kMaxOwing + 1);
  while (queue_.Pop() != nullptr) {
  }
  EXPECT_EQ(queue_.flow_count(), 0);
}

TEST_F(FlowQueueTest, ASteadyStateAllocatesNothing) {
  for (uint64_t flow = 0; flow < 64; ++flow) Push(flow);
  std::vector<Execution*> out;
  out.reserve(64);
  uint64_t next = 64;
  const auto round = [&] {
    for (int i = 0; i < 1000; ++i) {
      while (Execution* execution = queue_.Pop()) out.push_back(execution);
      for (Execution* execution : out) {
        queue_.Settle(execution->flow, 1000, 1010);
        execution->flow = next++;
        queue_.Push(*execution);
      }
      out.clear();
    }
  };
  round();
  const int64_t before = AllocationCount();
  round();
  EXPECT_EQ(AllocationCount(), before);
}

// In a random order of pushes, removals and turns of random lengths: each is
// given once, flows are first in first out, and while two flows wait, neither
// gets more time than the other but for a run of each, and what one of them had
// begun with.
TEST_F(FlowQueueTest, NoFlowThatWaitsFallsBehindAnother) {
  constexpr int64_t kLongest = 1000;
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    FlowQueue queue;
    std::map<uint64_t, std::deque<Execution*>> model;
    std::map<uint64_t, int64_t> served;  // since all of them wait
    std::vector<std::unique_ptr<Execution>> executions;
    const auto push = [&](uint64_t flow) {
      executions.push_back(std::make_unique<Execution>());
      Execution& execution = *executions.back();
      execution.flow = flow;
      execution.expected_ns = 1 + static_cast<int64_t>(random() % kLongest);
      queue.Push(execution);
      model[flow].push_back(&execution);
    };
    const int flows = 2 + static_cast<int>(random() % 6);
    for (int flow = 0; flow < flows; ++flow) {
      for (int i = 0; i < 3; ++i) push(flow);
    }
    for (int step = 0; step < 2000; ++step) {
      Execution* execution = queue.Pop();
      ASSERT_NE(execution, nullptr);
      auto& waiting = model[execution->flow];
      ASSERT_EQ(waiting.front(), execution);
      waiting.pop_front();
      const int64_t took = 1 + static_cast<int64_t>(random() % kLongest);
      queue.Settle(execution->flow, execution->expected_ns, took);
      served[execution->flow] += took;
      if (waiting.size() < 2 || random() % 2 == 0) push(execution->flow);
      if (waiting.size() > 3) {
        const size_t at = random() % waiting.size();
        queue.Remove(*waiting[at]);
        waiting.erase(waiting.begin() + static_cast<int64_t>(at));
      }
      const auto [least, most] = std::minmax_element(
          served.begin(), served.end(),
          [](const auto& a, const auto& b) { return a.second < b.second; });
      if (static_cast<int>(served.size()) < flows) continue;
      ASSERT_LE(most->second - least->second, 2 * kLongest)
          << "round " << round << ", step " << step;
    }
  }
}

}  // namespace
}  // namespace tensord
