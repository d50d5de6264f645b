#include "engine/pool/execution_queue.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "engine/limit_exceeded.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/matchers.h"

namespace tensord {
namespace {

using ::testing::HasSubstr;

class NoRoom final : public WaitingRoom {
 public:
  bool Withdraw(Execution&) override { return false; }
  absl::Time AnswerExpired(absl::Time) override {
    return absl::InfiniteFuture();
  }
};

absl::Time At(int64_t seconds) { return absl::FromUnixSeconds(seconds); }

class ExecutionQueueTest : public ::testing::Test {
 protected:
  NoRoom room_;
  ExecutionQueue queue_{
      room_, {.scope = "device cpu:0", .max_length = 4, .max_bytes = 100}};
};

TEST_F(ExecutionQueueTest, GivesThemInTheOrderInWhichTheyCame) {
  Execution a, b, c;
  ASSERT_THAT(queue_.Push(a), IsOk());
  ASSERT_THAT(queue_.Push(b), IsOk());
  ASSERT_THAT(queue_.Push(c), IsOk());
  EXPECT_EQ(queue_.length(), 3);
  EXPECT_EQ(queue_.Pop(), &a);
  EXPECT_EQ(queue_.Pop(), &b);
  EXPECT_EQ(queue_.Pop(), &c);
  EXPECT_EQ(queue_.Pop(), nullptr);
}

TEST_F(ExecutionQueueTest, RefusesMoreThanItsLengthAndSaysWhich) {
  std::vector<Execution> executions(5);
  for (int i = 0; i < 4; ++i) ASSERT_THAT(queue_.Push(executions[i]), IsOk());
  const absl::Status status = queue_.Push(executions[4]);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted,
                               HasSubstr("device cpu:0 has 4 executions")));
  const auto details = LimitDetails::FromStatus(status);
  ASSERT_TRUE(details.has_value());
  EXPECT_EQ(details->limit, "max_queue_length");
  EXPECT_EQ(details->requested, 5);
  EXPECT_TRUE(details->may_retry);
  EXPECT_EQ(queue_.length(), 4);
}

TEST_F(ExecutionQueueTest, RefusesMoreThanItsBytes) {
  Execution small, large, huge;
  small.admitted_bytes = 60;
  large.admitted_bytes = 41;
  huge.admitted_bytes = UINT64_MAX;
  ASSERT_THAT(queue_.Push(small), IsOk());
  absl::Status status = queue_.Push(large);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted,
                               HasSubstr("asked for 41 more")));
  EXPECT_TRUE(LimitDetails::FromStatus(status)->may_retry);
  status = queue_.Push(huge);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted,
                               HasSubstr("max_queued_bytes is 100")));
  EXPECT_FALSE(LimitDetails::FromStatus(status)->may_retry);

  EXPECT_TRUE(queue_.Remove(small));
  EXPECT_EQ(queue_.bytes(), 0);
  EXPECT_THAT(queue_.Push(large), IsOk());
}

TEST_F(ExecutionQueueTest, TakesNothingThatWasCancelledBefore) {
  Execution execution;
  execution.is_cancelled = true;
  EXPECT_THAT(queue_.Push(execution),
              StatusIs(absl::StatusCode::kCancelled, HasSubstr("cancelled")));
  EXPECT_TRUE(queue_.empty());
  EXPECT_EQ(execution.links.room.load(), nullptr);
}

TEST_F(ExecutionQueueTest, RemovesOnlyWhatIsThere) {
  Execution a, b;
  ASSERT_THAT(queue_.Push(a), IsOk());
  EXPECT_FALSE(queue_.Remove(b));
  EXPECT_TRUE(queue_.Remove(a));
  EXPECT_FALSE(queue_.Remove(a));
}

TEST_F(ExecutionQueueTest, GivesOnlyTheExpiredTheEarliestFirst) {
  Execution a, b, c;
  a.deadline = At(30);
  b.deadline = At(10);
  ASSERT_THAT(queue_.Push(a), IsOk());
  ASSERT_THAT(queue_.Push(b), IsOk());
  ASSERT_THAT(queue_.Push(c), IsOk());
  EXPECT_EQ(queue_.NextDueTime(), At(10));
  EXPECT_EQ(queue_.PopExpired(At(9)), nullptr);
  EXPECT_EQ(queue_.PopExpired(At(30)), &b);
  EXPECT_EQ(queue_.PopExpired(At(30)), &a);
  EXPECT_EQ(queue_.PopExpired(At(1000)), nullptr);
  EXPECT_EQ(queue_.NextDueTime(), absl::InfiniteFuture());
  EXPECT_EQ(queue_.Pop(), &c);
}

// The heap against a plain list, in a random order of pushes and removals.
TEST_F(ExecutionQueueTest, KnowsTheEarliestDeadlineAfterAnyRemovals) {
  constexpr int kCount = 64;
  ExecutionQueue queue(room_, {.scope = "cpu:0", .max_length = 2 * kCount});
  std::mt19937 random(1);
  std::vector<std::unique_ptr<Execution>> executions;
  for (int i = 0; i < kCount; ++i) {
    executions.push_back(std::make_unique<Execution>());
  }
  std::vector<Execution*> inside;
  for (int step = 0; step < 5000; ++step) {
    Execution* execution = executions[random() % kCount].get();
    const auto at = std::find(inside.begin(), inside.end(), execution);
    if (at == inside.end()) {
      execution->deadline =
          random() % 4 == 0 ? absl::InfiniteFuture() : At(random() % 50);
      execution->queue_deadline =
          random() % 4 == 0 ? absl::InfiniteFuture() : At(random() % 50);
      execution->priority = static_cast<Priority>(random() % kPriorityCount);
      execution->flow = random() % 5;
      ASSERT_THAT(queue.Push(*execution), IsOk());
      inside.push_back(execution);
    } else {
      ASSERT_TRUE(queue.Remove(*execution));
      inside.erase(at);
    }
    absl::Time earliest = absl::InfiniteFuture();
    for (const Execution* e : inside) {
      earliest = std::min({earliest, e->deadline, e->queue_deadline});
    }
    ASSERT_EQ(queue.NextDueTime(), earliest) << "step " << step;
    ASSERT_EQ(queue.length(), static_cast<int64_t>(inside.size()));
  }
}

// --- Priorities.

class PriorityTest : public ::testing::Test {
 protected:
  void Push(Priority priority, uint64_t flow = 1, int64_t expected_ns = 1000) {
    executions_.push_back(std::make_unique<Execution>());
    Execution& execution = *executions_.back();
    execution.priority = priority;
    execution.flow = flow;
    execution.expected_ns = expected_ns;
    EXPECT_THAT(queue_.Push(execution), IsOk());
  }

  // The next one's, which takes as long as expected, or as it is told.
  Priority Pop(std::optional<int64_t> held_ns = std::nullopt) {
    const Execution* execution = queue_.Pop();
    queue_.Settle(*execution, held_ns.value_or(execution->expected_ns));
    return execution->priority;
  }

  std::map<Priority, int> CountPops(int count) {
    std::map<Priority, int> counts;
    for (int i = 0; i < count; ++i) ++counts[Pop()];
    return counts;
  }

  NoRoom room_;
  ExecutionQueue queue_{
      room_, {.scope = "cpu:0", .max_length = 100'000, .max_bytes = 1}};
  std::vector<std::unique_ptr<Execution>> executions_;
};

TEST_F(PriorityTest, TheHighestGoesFirst) {
  Push(Priority::kLow);
  Push(Priority::kNormal);
  Push(Priority::kHigh);
  Push(Priority::kNormal);
  EXPECT_EQ(Pop(), Priority::kHigh);
  EXPECT_EQ(Pop(), Priority::kNormal);
  Push(Priority::kHigh);
  EXPECT_EQ(Pop(), Priority::kHigh);
  EXPECT_EQ(Pop(), Priority::kNormal);
  EXPECT_EQ(Pop(), Priority::kLow);
}

TEST_F(PriorityTest, ALowerOneThatWaitsGetsItsShareOfTheTime) {
  for (int i = 0; i < 2000; ++i) {
    Push(Priority::kHigh);
    Push(Priority::kNormal);
    Push(Priority::kLow);
  }
  auto counts = CountPops(1000);
  EXPECT_NEAR(counts[Priority::kNormal], 1000 / 18, 6);
  EXPECT_NEAR(counts[Priority::kLow], 1000 / 18, 6);
}

TEST_F(PriorityTest, LongRunsOfLowPriorityComeSeldom) {
  for (int i = 0; i < 5000; ++i) Push(Priority::kHigh);
  for (int i = 0; i < 10; ++i) Push(Priority::kLow, 1, 50'000);
  // Each of them is owed 50 * 16 of the short ones.
  const auto counts = CountPops(2500);
  EXPECT_EQ(counts.at(Priority::kLow), 3);
}

TEST_F(PriorityTest, WhatALowRunReallyTookIsPaidBack) {
  for (int i = 0; i < 5000; ++i) Push(Priority::kHigh);
  for (int i = 0; i < 10; ++i) Push(Priority::kLow);
  int low = 0;
  for (int i = 0; i < 2000; ++i) {
    // Unlike what was expected.
    const Execution* execution = queue_.Pop();
    const bool is_low = execution->priority == Priority::kLow;
    queue_.Settle(*execution, is_low ? 50'000 : 1000);
    low += is_low ? 1 : 0;
  }
  EXPECT_EQ(low, 3);
}

// What nobody held up has nothing to claim later.
TEST_F(PriorityTest, CreditDoesNotOutlastTheWait) {
  for (int i = 0; i < 15; ++i) Push(Priority::kHigh);
  Push(Priority::kLow);
  CountPops(16);
  for (int i = 0; i < 15; ++i) Push(Priority::kHigh);
  Push(Priority::kLow);
  for (int i = 0; i < 15; ++i) EXPECT_EQ(Pop(), Priority::kHigh) << i;
}

// --- A queue that is nearly full.

class FullQueueTest : public ::testing::Test {
 protected:
  absl::Status Push(uint64_t flow, uint64_t bytes = 0) {
    executions_.push_back(std::make_unique<Execution>());
    executions_.back()->flow = flow;
    executions_.back()->admitted_bytes = bytes;
    return queue_.Push(*executions_.back());
  }
  int PushUntilRefused(uint64_t flow, uint64_t bytes = 0) {
    int count = 0;
    while ((last_ = Push(flow, bytes)).ok()) ++count;
    return count;
  }

  NoRoom room_;
  ExecutionQueue queue_{room_,
                        {.scope = "device cpu:0",
                         .max_length = 1000,
                         .max_bytes = 1'000'000,
                         .lane_count = 2}};
  std::vector<std::unique_ptr<Execution>> executions_;
  absl::Status last_;
};

TEST_F(FullQueueTest, OneFlowLeavesRoomForOthers) {
  EXPECT_EQ(PushUntilRefused(1), 800);
  EXPECT_THAT(last_, StatusIs(absl::StatusCode::kResourceExhausted,
                              HasSubstr("200 places are left for others")));
  const auto details = LimitDetails::FromStatus(last_);
  ASSERT_TRUE(details.has_value());
  EXPECT_EQ(details->subject, "share of one session");
  EXPECT_EQ(PushUntilRefused(2), 160);
  EXPECT_EQ(PushUntilRefused(3), 32);
  // It may have more once there is more.
  queue_.Pop();
  EXPECT_EQ(PushUntilRefused(4), 8);
}

TEST_F(FullQueueTest, OfBytesToo) {
  EXPECT_EQ(PushUntilRefused(1, 10'000), 80);
  EXPECT_THAT(last_, StatusIs(absl::StatusCode::kResourceExhausted,
                              HasSubstr("200000 bytes are left for others")));
  // A first one only needs room.
  EXPECT_THAT(Push(2, 200'000), IsOk());
  EXPECT_THAT(Push(3, 1), StatusIs(absl::StatusCode::kResourceExhausted,
                                   HasSubstr("max_queued_bytes")));
}

TEST_F(FullQueueTest, SaysWhenHalfOfItWillBeTaken) {
  EXPECT_EQ(PushUntilRefused(1), 800);
  EXPECT_EQ(LimitDetails::FromStatus(last_)->retry_ns, 0);  // nobody knows
  constexpr int64_t kHeldNs = 5'000'000;
  for (int i = 0; i < 100; ++i) {
    const Execution* execution = queue_.Pop();
    queue_.Settle(*execution, kHeldNs);
  }
  PushUntilRefused(1);
  EXPECT_EQ(LimitDetails::FromStatus(last_)->retry_ns, 800 * kHeldNs / 2 / 2);
}

}  // namespace
}  // namespace tensord
