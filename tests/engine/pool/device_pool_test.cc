// The pool with a stand-in for the executor: the test decides how each run
// ends.

#include "engine/pool/device_pool.h"

#include <memory>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/fake_backend.h"
#include "tests/support/matchers.h"

namespace tensord {
namespace {

using ::testing::HasSubstr;

DeviceId Fake(uint16_t ordinal) { return {BackendId::kVulkan, ordinal}; }

// A run that waits on its lane until it is let go, and ends as it is told.
struct HeldRun {
  explicit HeldRun(const std::shared_ptr<const CompiledGraph>& compiled) {
    execution.compiled = compiled;
    execution.user = this;
    execution.on_done = [](Execution& done) {
      auto* run = static_cast<HeldRun*>(done.user);
      run->status = done.status;
      run->answered.Notify();
    };
  }

  static absl::Status Run(LaneSlot&, const CompiledGraph&, Execution& execution,
                          BufferPool&, PreparationChannel*, bool*) {
    auto* run = static_cast<HeldRun*>(execution.user);
    run->began.Notify();
    if (run->runs_until_stopped) {
      while (!execution.is_stopped.load()) std::this_thread::yield();
      return absl::DeadlineExceededError("stopped");
    }
    run->go.WaitForNotification();
    return run->outcome;
  }

  Execution execution;
  bool runs_until_stopped = false;
  absl::Notification began, go, answered;
  absl::Status outcome, status;
};

class DevicePoolTest : public ::testing::Test {
 protected:
  explicit DevicePoolTest(PoolOptions options = {}) {
    std::vector<std::unique_ptr<Device>> devices;
    for (int i = 0; i < 3; ++i) devices.push_back(*fake_.OpenDevice(i));
    options.lanes_per_device = 2;
    options.run = &HeldRun::Run;
    pool_ = *DevicePool::Create(
        std::move(devices), options,
        PoolServices{.buffers = &buffers_,
                     .open = &open_,
                     .watch = &watch_,
                     .reroute = [this](Execution& execution) {
                       rerouted_.push_back(&execution);
                     }});
    capable_[static_cast<int>(BackendId::kVulkan)] = true;
  }
  ~DevicePoolTest() override { watch_.Stop(); }

  PooledDevice& device(uint16_t ordinal) { return *pool_->Find(Fake(ordinal)); }

  struct Wish {
    Priority priority = Priority::kNormal;
    uint64_t flow = 0;
    absl::Duration queue_timeout = absl::InfiniteDuration();
    absl::Duration execution_timeout = absl::InfiniteDuration();
    bool runs_until_stopped = false;
  };
  std::unique_ptr<HeldRun> Queue(PooledDevice& device) {
    return Queue(device, Wish());
  }
  std::unique_ptr<HeldRun> Queue(PooledDevice& device, const Wish& wish) {
    auto run = std::make_unique<HeldRun>(compiled_);
    run->execution.priority = wish.priority;
    run->execution.flow = wish.flow;
    run->execution.queue_timeout = wish.queue_timeout;
    run->execution.execution_timeout = wish.execution_timeout;
    run->runs_until_stopped = wish.runs_until_stopped;
    open_.Open(run->execution);
    EXPECT_THAT(device.Enqueue(run->execution), IsOk());
    return run;
  }

  DeviceId Chosen(std::optional<DeviceId> wanted = std::nullopt) {
    return (*pool_->Choose(capable_, {.device = wanted}))->info().id;
  }

  FakeBackend fake_{BackendId::kVulkan, {.device_count = 3}};
  BufferPool buffers_{0};
  OpenExecutions open_{nullptr};
  DeadlineWatch watch_;
  std::vector<Execution*> rerouted_;
  std::shared_ptr<const CompiledGraph> compiled_ =
      std::make_shared<CompiledGraph>();
  BackendSet capable_;
  std::unique_ptr<DevicePool> pool_;
};

TEST_F(DevicePoolTest, ChoosesTheLeastLoadedAndOfEqualsTheFirst) {
  EXPECT_EQ(Chosen(), Fake(0));
  const auto a = Queue(device(0));
  EXPECT_EQ(Chosen(), Fake(1));
  const auto b = Queue(device(1));
  device(2).expected_count() = 1;  // somebody is being compiled for it
  EXPECT_EQ(Chosen(), Fake(0));
  const auto c = Queue(device(0));
  EXPECT_EQ(Chosen(), Fake(1));
  EXPECT_EQ(Chosen(Fake(0)), Fake(0));
  for (HeldRun* run : {a.get(), b.get(), c.get()}) {
    run->go.Notify();
    run->answered.WaitForNotification();
  }
  EXPECT_TRUE(open_.AwaitNone(absl::InfiniteFuture()));
  EXPECT_EQ(Chosen(), Fake(0));
}

TEST_F(DevicePoolTest, ChoosesWhereTheRunIsExpectedToEndFirst) {
  const auto chosen = [&](std::vector<DeviceEstimate> estimates) {
    return (*pool_->Choose(capable_, {}, estimates))->info().id;
  };
  EXPECT_EQ(chosen({{Fake(0), 900}, {Fake(1), 300}, {Fake(2), 500}}), Fake(1));
  EXPECT_EQ(chosen({{Fake(0), 300}, {Fake(1), 300}, {Fake(2), 300}}), Fake(0));
  // A device without an estimate has no kernels for it, however idle it is.
  EXPECT_EQ(chosen({{Fake(2), 9e9}}), Fake(2));
  // Three times as fast, and that much work is in front.
  const std::vector<DeviceEstimate> estimates = {{Fake(0), 9e6},
                                                 {Fake(1), 3e6}};
  auto compiled = std::make_shared<CompiledGraph>();
  compiled->device_estimates = estimates;
  compiled_ = compiled;
  std::vector<std::unique_ptr<HeldRun>> runs;
  const int lane_count = device(1).lane_count();
  for (int i = 0; i < 2 * lane_count; ++i) {
    EXPECT_EQ(chosen(estimates), Fake(1)) << i;
    runs.push_back(Queue(device(1)));
  }
  // 3 ms of its own behind 2 * 3 ms on each lane are no less than 9 ms.
  EXPECT_EQ(chosen(estimates), Fake(0));
  EXPECT_EQ(device(1).open_ns(), 2 * lane_count * 3'000'000);
  for (const auto& run : runs) {
    run->go.Notify();
    run->answered.WaitForNotification();
  }
  EXPECT_TRUE(open_.AwaitNone(absl::InfiniteFuture()));
  EXPECT_EQ(device(1).open_ns(), 0);
}

TEST_F(DevicePoolTest, IsBorrowedOnlyWhileNobodyWantsIt) {
  ASSERT_TRUE(device(0).TryBorrow());
  EXPECT_FALSE(device(0).must_yield());
  const auto run = Queue(device(0));
  EXPECT_TRUE(device(0).must_yield());
  EXPECT_FALSE(device(0).TryBorrow());
  run->go.Notify();
  run->answered.WaitForNotification();
  EXPECT_TRUE(open_.AwaitNone(absl::InfiniteFuture()));
  EXPECT_TRUE(device(0).must_yield());
  EXPECT_TRUE(device(0).TryBorrow());
  EXPECT_FALSE(device(0).must_yield());
}

// With nothing in its queue: an execution that comes or goes raises it anyway.
TEST_F(DevicePoolTest, ABorrowerYieldsToADrainALossAndTheEnd) {
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(device(i).TryBorrow());
  device(0).SetDraining(true);
  EXPECT_TRUE(device(0).must_yield());
  EXPECT_FALSE(device(0).TryBorrow());
  device(0).SetDraining(false);
  EXPECT_TRUE(device(0).TryBorrow());
  fake_.control(1).Fault("broken");
  device(1).CheckHealth();
  EXPECT_TRUE(device(1).must_yield());
  EXPECT_FALSE(device(1).TryBorrow());
  device(2).Close();
  EXPECT_TRUE(device(2).must_yield());
  EXPECT_FALSE(device(2).TryBorrow());
  EXPECT_TRUE(device(2).must_yield());
}

TEST_F(DevicePoolTest, RunsThatNobodyKnowsCountToo) {
  const std::vector<DeviceEstimate> estimates = {{Fake(0), 1000},
                                                 {Fake(1), 2000}};
  EXPECT_EQ((*pool_->Choose(capable_, {}, estimates))->info().id, Fake(0));
  const auto unknown = Queue(device(0));
  EXPECT_EQ((*pool_->Choose(capable_, {}, estimates))->info().id, Fake(1));
  unknown->go.Notify();
  unknown->answered.WaitForNotification();
}

TEST_F(DevicePoolTest, AWantedBackendIsAnyOfItsDevices) {
  const DeviceWish vulkan{.backend = BackendId::kVulkan};
  EXPECT_EQ((*pool_->Choose(BackendSet(), vulkan))->info().id, Fake(0));
  device(0).SetDraining(true);
  EXPECT_EQ((*pool_->Choose(BackendSet(), vulkan))->info().id, Fake(1));
  EXPECT_THAT(pool_->Choose(capable_, {.backend = BackendId::kCuda}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("'cuda'")));
}

TEST_F(DevicePoolTest, PassesOverWhatIsDrainingOrNotCapable) {
  device(0).SetDraining(true);
  EXPECT_EQ(Chosen(), Fake(1));
  EXPECT_THAT(pool_->Choose(capable_, {.device = Fake(0)}),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("draining")));
  EXPECT_THAT(pool_->Choose(capable_, {.device = Fake(9)}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("vulkan:9")));
  device(1).SetDraining(true);
  device(2).SetDraining(true);
  EXPECT_THAT(pool_->Choose(capable_, {}),
              StatusIs(absl::StatusCode::kUnavailable,
                       HasSubstr("vulkan:0 is draining; device vulkan:1 is")));
  device(1).SetDraining(false);
  EXPECT_EQ(Chosen(), Fake(1));
  EXPECT_THAT(pool_->Choose(BackendSet(), {}),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("no device")));
}

TEST_F(DevicePoolTest, CountsWhatIsOnLanesAndWhatIsQueuedExactly) {
  std::vector<std::unique_ptr<HeldRun>> runs;
  for (int i = 0; i < 5; ++i) runs.push_back(Queue(device(0)));
  runs[0]->began.WaitForNotification();
  runs[1]->began.WaitForNotification();
  EXPECT_EQ(device(0).counts().in_flight, 2);
  EXPECT_EQ(device(0).counts().queue_depth, 3);
  EXPECT_EQ(device(0).open_count(), 5);
  runs[1]->outcome = absl::InvalidArgumentError("an index out of range");
  for (auto& run : runs) run->go.Notify();
  for (auto& run : runs) run->answered.WaitForNotification();
  EXPECT_TRUE(open_.AwaitNone(absl::InfiniteFuture()));
  const PooledDevice::Counts counts = device(0).counts();
  EXPECT_EQ(counts.in_flight, 0);
  EXPECT_EQ(counts.queue_depth, 0);
  EXPECT_EQ(counts.completed, 4);
  EXPECT_EQ(counts.failed, 1);
  EXPECT_EQ(counts.faults, 0);
  EXPECT_EQ(runs[1]->status.message(), "an index out of range");
}

// One lane is busy to the end; the other takes what waits, one after another.
TEST_F(DevicePoolTest, TheHighestPriorityThatWaitsHasTheNextLane) {
  const auto busy = Queue(device(0));
  const auto first = Queue(device(0));
  busy->began.WaitForNotification();
  first->began.WaitForNotification();
  const auto low = Queue(device(0), {.priority = Priority::kLow});
  const auto normal = Queue(device(0));
  const auto high = Queue(device(0), {.priority = Priority::kHigh});
  first->go.Notify();
  high->began.WaitForNotification();
  EXPECT_FALSE(normal->began.HasBeenNotified());
  high->go.Notify();
  normal->began.WaitForNotification();
  EXPECT_FALSE(low->began.HasBeenNotified());
  normal->go.Notify();
  low->began.WaitForNotification();
  low->go.Notify();
  busy->go.Notify();
  EXPECT_TRUE(open_.AwaitNone(absl::InfiniteFuture()));
}

TEST_F(DevicePoolTest, AFlowThatFloodsHoldsUpAnotherByOneRun) {
  std::vector<std::unique_ptr<HeldRun>> flood;
  for (int i = 0; i < 20; ++i) flood.push_back(Queue(device(0), {.flow = 1}));
  flood[0]->began.WaitForNotification();
  flood[1]->began.WaitForNotification();
  const auto other = Queue(device(0), {.flow = 2});
  flood[0]->go.Notify();
  flood[1]->go.Notify();
  flood[2]->go.Notify();
  other->began.WaitForNotification();
  EXPECT_FALSE(flood[4]->began.HasBeenNotified());
  other->go.Notify();
  for (int i = 3; i < 20; ++i) flood[i]->go.Notify();
  EXPECT_TRUE(open_.AwaitNone(absl::InfiniteFuture()));
}

TEST_F(DevicePoolTest, WhatFindsNoLaneInItsTimeIsAnsweredWithTheLimit) {
  const auto a = Queue(device(0));
  const auto b = Queue(device(0));
  const auto late = Queue(device(0), {.queue_timeout = absl::Milliseconds(5)});
  late->answered.WaitForNotification();
  EXPECT_THAT(late->status,
              StatusIs(absl::StatusCode::kDeadlineExceeded,
                       HasSubstr("a lane of device vulkan:0 for 5ms, the limit "
                                 "queue_timeout")));
  EXPECT_FALSE(late->began.HasBeenNotified());
  EXPECT_EQ(device(0).counts().queue_depth, 0);
  a->go.Notify();
  b->go.Notify();
  EXPECT_TRUE(open_.AwaitNone(absl::InfiniteFuture()));
}

TEST_F(DevicePoolTest, WhatHoldsALaneTooLongIsStoppedAndToldTheLimit) {
  const auto run = Queue(device(0), {.execution_timeout = absl::Milliseconds(5),
                                     .runs_until_stopped = true});
  run->answered.WaitForNotification();
  EXPECT_THAT(run->status,
              StatusIs(absl::StatusCode::kDeadlineExceeded,
                       HasSubstr("held a lane of device vulkan:0 for 5ms, the "
                                 "limit execution_timeout")));
  // It may be given again, with the time that it had.
  EXPECT_EQ(run->execution.deadline, absl::InfiniteFuture());
}

class LimitedPoolTest : public DevicePoolTest {
 protected:
  LimitedPoolTest()
      : DevicePoolTest({.max_queue_time = absl::Milliseconds(5),
                        .max_execution_time = absl::Milliseconds(500),
                        .hang_timeout = absl::Milliseconds(200)}) {}
};

TEST_F(LimitedPoolTest, TheDaemonsLimitsHoldWhereARequestAsksForMore) {
  const Wish wish = {.queue_timeout = absl::Hours(1),
                     .execution_timeout = absl::Hours(1),
                     .runs_until_stopped = true};
  const auto a = Queue(device(0), wish);
  const auto b = Queue(device(0), wish);
  a->began.WaitForNotification();
  b->began.WaitForNotification();
  const auto late = Queue(device(0), wish);
  late->answered.WaitForNotification();
  EXPECT_THAT(late->status, StatusIs(absl::StatusCode::kDeadlineExceeded,
                                     HasSubstr("--max-queue-time")));
  a->answered.WaitForNotification();
  EXPECT_THAT(a->status,
              StatusIs(absl::StatusCode::kDeadlineExceeded,
                       HasSubstr("500ms, the limit max_execution_time")));
  b->answered.WaitForNotification();
}

TEST_F(LimitedPoolTest, ARunThatNeverEndsLosesTheDevice) {
  const auto run = Queue(device(0));
  run->began.WaitForNotification();
  while (!device(0).is_lost()) std::this_thread::yield();
  EXPECT_THAT(device(0).health(),
              StatusIs(absl::StatusCode::kUnavailable,
                       HasSubstr("has a run that does not end")));
  EXPECT_FALSE(run->answered.HasBeenNotified());
  run->go.Notify();
  run->answered.WaitForNotification();
}

class ProbedPoolTest : public DevicePoolTest {
 protected:
  ProbedPoolTest()
      : DevicePoolTest({.hang_timeout = absl::Milliseconds(200),
                        .probe_interval = absl::Milliseconds(2),
                        .max_stall_time = absl::Milliseconds(5)}) {}
};

TEST_F(ProbedPoolTest, AnIdleDeviceIsAskedAgainAndAgain) {
  for (int i = 0; i < 3; ++i) {
    const absl::Time before = device(0).counts().last_answer;
    while (device(0).counts().last_answer == before) std::this_thread::yield();
  }
  EXPECT_EQ(device(0).counts().completed, 0);
  EXPECT_EQ(device(0).device().allocated_bytes(), 0);
}

TEST_F(ProbedPoolTest, OneThatDoesNotAnswerIsLost) {
  {
    FakePause pause(fake_.control(0));
    while (!device(0).is_lost()) std::this_thread::yield();
  }
  EXPECT_THAT(device(0).health(), StatusIs(absl::StatusCode::kUnavailable,
                                           HasSubstr("does not answer")));
  EXPECT_FALSE(device(1).is_lost());
}

TEST_F(ProbedPoolTest, AQueueThatDoesNotMoveIsStalledUntilItDoes) {
  std::vector<std::unique_ptr<HeldRun>> runs;
  for (int i = 0; i < 2; ++i) runs.push_back(Queue(device(0)));
  for (auto& run : runs) run->began.WaitForNotification();
  // At work for as long as it likes, while nobody waits.
  const absl::Time start = absl::Now();
  while (absl::Now() - start < absl::Milliseconds(20)) {
    EXPECT_FALSE(device(0).counts().is_stalled);
  }
  runs.push_back(Queue(device(0)));
  while (!device(0).counts().is_stalled) std::this_thread::yield();
  runs[0]->go.Notify();
  runs[2]->began.WaitForNotification();
  EXPECT_FALSE(device(0).counts().is_stalled);
  for (int i : {1, 2}) runs[i]->go.Notify();
  EXPECT_TRUE(open_.AwaitNone(absl::InfiniteFuture()));
}

// kInternal alone is a bug of ours or of one kernel; only a device that says so
// itself is lost.
TEST_F(DevicePoolTest, AFailedRunOfAHealthyDeviceLosesNothing) {
  const auto run = Queue(device(0));
  run->outcome = absl::InternalError("a bug");
  run->go.Notify();
  run->answered.WaitForNotification();
  EXPECT_THAT(device(0).Availability(), IsOk());
}

TEST_F(DevicePoolTest, AFaultMovesTheQueueAndLeavesOtherLanesToEnd) {
  std::vector<std::unique_ptr<HeldRun>> runs;
  for (int i = 0; i < 4; ++i) runs.push_back(Queue(device(0)));
  runs[0]->began.WaitForNotification();
  runs[1]->began.WaitForNotification();
  fake_.control(0).Fault("GONE");
  runs[0]->outcome = absl::UnavailableError("GONE");
  runs[0]->go.Notify();
  runs[0]->answered.WaitForNotification();
  EXPECT_TRUE(device(0).is_lost());
  EXPECT_THAT(rerouted_,
              testing::ElementsAre(&runs[2]->execution, &runs[3]->execution));
  EXPECT_FALSE(runs[1]->answered.HasBeenNotified());
  EXPECT_EQ(device(0).counts().in_flight, 1);
  EXPECT_EQ(Chosen(), Fake(1));
  HeldRun late(compiled_);
  EXPECT_THAT(device(0).Enqueue(late.execution),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("GONE")));

  for (Execution* execution : rerouted_) {
    EXPECT_THAT(device(1).Enqueue(*execution), IsOk());
  }
  for (int i = 1; i < 4; ++i) runs[i]->go.Notify();
  for (auto& run : runs) run->answered.WaitForNotification();
  EXPECT_EQ(runs[2]->execution.ran_on, Fake(1));
  EXPECT_EQ(device(0).counts().faults, 1);
}

TEST_F(DevicePoolTest, ClosingRefusesTheQueueAndWaitsForTheLanes) {
  std::vector<std::unique_ptr<HeldRun>> runs;
  for (int i = 0; i < 4; ++i) runs.push_back(Queue(device(0)));
  runs[0]->began.WaitForNotification();
  runs[1]->began.WaitForNotification();
  pool_->Close();
  for (int i : {2, 3}) {
    runs[i]->answered.WaitForNotification();
    EXPECT_EQ(runs[i]->status.code(), absl::StatusCode::kUnavailable);
    EXPECT_FALSE(runs[i]->began.HasBeenNotified());
  }
  EXPECT_EQ(open_.count(), 2);
  for (int i : {0, 1}) runs[i]->go.Notify();
  pool_->Join();
  EXPECT_EQ(open_.count(), 0);
  EXPECT_THAT(runs[0]->status, IsOk());
}

}  // namespace
}  // namespace tensord
