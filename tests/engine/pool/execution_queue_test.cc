#include "engine/pool/execution_queue.h"

#include <algorithm>
#include <memory>
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
  ExecutionQueue queue_{room_, "device cpu:0", 4, 100};
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
  EXPECT_EQ(queue_.NextDeadline(), At(10));
  EXPECT_EQ(queue_.PopExpired(At(9)), nullptr);
  EXPECT_EQ(queue_.PopExpired(At(30)), &b);
  EXPECT_EQ(queue_.PopExpired(At(30)), &a);
  EXPECT_EQ(queue_.PopExpired(At(1000)), nullptr);
  EXPECT_EQ(queue_.NextDeadline(), absl::InfiniteFuture());
  EXPECT_EQ(queue_.Pop(), &c);
}

// The heap against a plain list, in a random order of pushes and removals.
TEST_F(ExecutionQueueTest, KnowsTheEarliestDeadlineAfterAnyRemovals) {
  constexpr int kCount = 64;
  ExecutionQueue queue(room_, "device cpu:0", kCount, 0);
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
      ASSERT_THAT(queue.Push(*execution), IsOk());
      inside.push_back(execution);
    } else {
      ASSERT_TRUE(queue.Remove(*execution));
      inside.erase(at);
    }
    absl::Time earliest = absl::InfiniteFuture();
    for (const Execution* e : inside)
      earliest = std::min(earliest, e->deadline);
    ASSERT_EQ(queue.NextDeadline(), earliest) << "step " << step;
    ASSERT_EQ(queue.length(), static_cast<int64_t>(inside.size()));
  }
}

}  // namespace
}  // namespace tensord
