// Executions of the engine on a device that the test holds in its hand: each is
// answered once, in time, whatever the device does.

#include <memory>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/engine.h"
#include "engine/limit_exceeded.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/engine_harness.h"
#include "tests/support/fake_backend.h"
#include "tests/support/matchers.h"

namespace tensord {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr DeviceId kFake0{BackendId::kVulkan, 0};
constexpr DeviceId kFake1{BackendId::kVulkan, 1};

const std::vector<float> kZeros = {0, 0, 0, 0};

EngineOptions OneLane() {
  EngineOptions options;
  options.lanes_per_device = 1;
  return options;
}

class EngineExecutionsTest : public ::testing::Test {
 protected:
  FakeControl& control(int ordinal = 0) { return fake_.control(ordinal); }

  std::unique_ptr<TestRun> NewRun(EngineHarness& harness,
                                  std::shared_ptr<const LoadedGraph> graph) {
    return std::make_unique<TestRun>(std::move(graph), harness.engine(),
                                     kZeros);
  }

  FakeBackend fake_{BackendId::kVulkan, {.device_count = 2}};
};

TEST_F(EngineExecutionsTest, InputsThatDoNotFitAreRefusedByNameAndNumbers) {
  EngineHarness harness({&fake_}, {kFake0});
  const auto graph = harness.MustSubmit("a", AddChain(1, 1));
  Engine& engine = harness.engine();

  auto run = NewRun(harness, graph);
  run->execution().inputs.push_back(FloatInput(engine, {1}));
  run->Start();
  EXPECT_THAT(run->Wait(), StatusIs(absl::StatusCode::kInvalidArgument,
                                    HasSubstr("2 inputs for a graph with 1")));

  run = NewRun(harness, graph);
  run->execution().inputs[0].dtype = DType::kInt32;
  run->Start();
  EXPECT_THAT(run->Wait(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("input 'x' is int32; the graph takes "
                                 "float32")));

  run = NewRun(harness, graph);
  run->execution().inputs[0].shape = Shape{2, 2};
  run->Start();
  EXPECT_THAT(run->Wait(), StatusIs(absl::StatusCode::kInvalidArgument,
                                    HasSubstr("[2, 2] of rank 2")));

  run = NewRun(harness, graph);
  run->execution().inputs[0] = FloatInput(engine, {1, 2, 3});
  run->Start();
  EXPECT_THAT(run->Wait(), StatusIs(absl::StatusCode::kInvalidArgument,
                                    HasSubstr("is 3; declared is 4")));

  run = NewRun(harness, graph);
  run->execution().inputs[0].bytes = *engine.buffers().Allocate(12);
  run->Start();
  EXPECT_THAT(run->Wait(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("input 'x' has 12 bytes; float32 [4] takes "
                                 "16")));
}

TEST_F(EngineExecutionsTest, AFullQueueRefusesAndSaysWhichAndHowMuch) {
  EngineOptions options = OneLane();
  options.max_queue_length = 2;
  EngineHarness harness({&fake_}, {kFake0}, options);
  const auto graph = harness.MustSubmit("a", AddChain(1, 1));
  std::vector<std::unique_ptr<TestRun>> runs;
  {
    FakePause pause(control());
    runs.push_back(NewRun(harness, graph));
    runs.back()->Start();
    // Once the first is on its lane, two fit the queue.
    while (harness.StatusOf(kFake0).in_flight == 0) std::this_thread::yield();
    for (int i = 0; i < 2; ++i) {
      runs.push_back(NewRun(harness, graph));
      runs.back()->Start();
    }
    EXPECT_EQ(harness.StatusOf(kFake0).queue_depth, 2);
    EXPECT_EQ(harness.StatusOf(kFake0).queued_bytes, 32);
    const auto refused = NewRun(harness, graph);
    refused->Start();
    const auto details = LimitDetails::FromStatus(refused->Wait());
    ASSERT_TRUE(details.has_value()) << refused->Wait();
    EXPECT_EQ(details->limit, "max_queue_length");
    EXPECT_EQ(details->scope, "device vulkan:0");
    EXPECT_TRUE(details->may_retry);
  }
  for (auto& run : runs) EXPECT_THAT(run->Output(), Each(1));
  const DeviceStatus status = harness.StatusOf(kFake0);
  EXPECT_EQ(status.completed, 3);
  EXPECT_EQ(status.in_flight, 0);
  EXPECT_EQ(status.queued_bytes, 0);
}

// The lane stays busy all the while: who waited for it would wait for ever.
TEST_F(EngineExecutionsTest, ADeadlineThatPassesInTheQueueIsAnsweredAtOnce) {
  EngineHarness harness({&fake_}, {kFake0}, OneLane());
  const auto graph = harness.MustSubmit("a", AddChain(1, 1));
  const auto blocker = NewRun(harness, graph);
  FakePause pause(control());
  blocker->Start();
  const auto late = NewRun(harness, graph);
  late->execution().deadline = absl::Now() + absl::Milliseconds(20);
  late->Start();
  EXPECT_THAT(late->Wait(), StatusIs(absl::StatusCode::kDeadlineExceeded,
                                     HasSubstr("for a lane")));
  EXPECT_LT(absl::Now() - late->execution().deadline, absl::Seconds(10));
  EXPECT_FALSE(blocker->is_done());
  EXPECT_EQ(harness.StatusOf(kFake0).queue_depth, 0);
  control().Resume();
  EXPECT_THAT(blocker->Output(), Each(1));
}

TEST_F(EngineExecutionsTest, CancelAnswersWhatIsQueuedInsideTheCall) {
  EngineHarness harness({&fake_}, {kFake0}, OneLane());
  const auto graph = harness.MustSubmit("a", AddChain(1, 1));
  const auto blocker = NewRun(harness, graph);
  const auto cancelled = NewRun(harness, graph);
  const auto next = NewRun(harness, graph);
  {
    FakePause pause(control());
    blocker->Start();
    while (harness.StatusOf(kFake0).in_flight == 0) std::this_thread::yield();
    cancelled->Start();
    next->Start();
    harness.engine().Cancel(cancelled->execution());
    EXPECT_TRUE(cancelled->is_done());
    EXPECT_EQ(cancelled->Wait().code(), absl::StatusCode::kCancelled);
  }
  EXPECT_THAT(next->Output(), Each(1));
  EXPECT_THAT(blocker->Output(), Each(1));
  // What was answered already stays as it is.
  harness.engine().Cancel(blocker->execution());
  EXPECT_THAT(blocker->Wait(), IsOk());
}

TEST_F(EngineExecutionsTest, CancelEndsARunWhoseDeviceIsSlow) {
  EngineHarness harness({&fake_}, {kFake0}, OneLane());
  const auto graph = harness.MustSubmit("a", AddChain(1, 1));
  const auto run = NewRun(harness, graph);
  {
    FakePause pause(control());
    run->Start();
    while (harness.StatusOf(kFake0).in_flight == 0) std::this_thread::yield();
    harness.engine().Cancel(run->execution());
    EXPECT_EQ(run->Wait().code(), absl::StatusCode::kCancelled);
  }
  const auto next = NewRun(harness, graph);
  next->Start();
  EXPECT_THAT(next->Output(), Each(1));
  EXPECT_EQ(control().counts().dropped_in_flight, 0);
  EXPECT_THAT(harness.StatusOf(kFake0).health, IsOk());
}

TEST_F(EngineExecutionsTest, ARunAboveMaxExecutionTimeSaysSo) {
  EngineOptions options = OneLane();
  options.max_execution_time = absl::Milliseconds(30);
  EngineHarness harness({&fake_}, {kFake0}, options);
  const auto graph = harness.MustSubmit("a", AddChain(1, 1));
  const auto run = NewRun(harness, graph);
  {
    FakePause pause(control());
    run->Start();
    EXPECT_THAT(run->Wait(), StatusIs(absl::StatusCode::kDeadlineExceeded,
                                      HasSubstr("max_execution_time")));
  }
  EXPECT_EQ(run->execution().deadline, absl::InfiniteFuture());
}

TEST_F(EngineExecutionsTest, WhatWasQueuedOnALostDeviceRunsOnAnother) {
  EngineHarness harness({&fake_}, {kFake0, kFake1}, OneLane());
  const auto graph = harness.MustSubmit("a", AddChain(1, 1));
  std::vector<std::unique_ptr<TestRun>> runs;
  for (DeviceId device : {kFake0, kFake1}) {  // compiled for both
    const auto first = NewRun(harness, graph);
    first->execution().wish.device = device;
    first->Start();
    EXPECT_THAT(first->Output(), Each(1));
  }
  {
    // Both devices stand still, so that both queues fill.
    FakePause pause0(control(0));
    FakePause pause1(control(1));
    for (int i = 0; i < 12; ++i) {
      runs.push_back(NewRun(harness, graph));
      runs.back()->Start();
    }
    while (harness.StatusOf(kFake0).in_flight == 0) std::this_thread::yield();
    EXPECT_GT(harness.StatusOf(kFake0).queue_depth, 0);
    control(0).Fault("ERROR_DEVICE_LOST");
    // The one on the lane fails with the device's fault.
    while (harness.StatusOf(kFake0).failed == 0) std::this_thread::yield();
  }
  int moved = 0, failed = 0;
  for (auto& run : runs) {
    if (run->Wait().ok()) {
      EXPECT_THAT(run->Output(), Each(1));
      EXPECT_EQ(run->execution().ran_on, kFake1);
      ++moved;
    } else {
      EXPECT_EQ(run->Wait().code(), absl::StatusCode::kUnavailable);
      ++failed;
    }
  }
  EXPECT_EQ(failed, 1);
  EXPECT_EQ(moved, 11);
  const DeviceStatus lost = harness.StatusOf(kFake0);
  EXPECT_THAT(lost.health, StatusIs(absl::StatusCode::kUnavailable,
                                    HasSubstr("ERROR_DEVICE_LOST")));
  EXPECT_EQ(lost.faults, 1);
  EXPECT_EQ(lost.in_flight, 0);
  EXPECT_EQ(lost.queue_depth, 0);
}

TEST_F(EngineExecutionsTest, WithoutAnotherDeviceEverythingQueuedIsRefused) {
  EngineHarness harness({&fake_}, {kFake0}, OneLane());
  const auto graph = harness.MustSubmit("a", AddChain(1, 1));
  std::vector<std::unique_ptr<TestRun>> runs;
  FakePause pause(control());
  for (int i = 0; i < 5; ++i) {
    runs.push_back(NewRun(harness, graph));
    runs.back()->Start();
  }
  control().Fault("ERROR_DEVICE_LOST");
  for (auto& run : runs) {
    EXPECT_EQ(run->Wait().code(), absl::StatusCode::kUnavailable);
  }
  const auto after = NewRun(harness, graph);
  after->Start();
  EXPECT_THAT(after->Wait(), StatusIs(absl::StatusCode::kUnavailable,
                                      HasSubstr("vulkan:0 is lost: ")));
}

TEST_F(EngineExecutionsTest, ARunThatNamedTheLostDeviceIsNotMoved) {
  EngineHarness harness({&fake_}, {kFake0, kFake1}, OneLane());
  const auto graph = harness.MustSubmit("a", AddChain(1, 1));
  const auto blocker = NewRun(harness, graph);
  const auto pinned = NewRun(harness, graph);
  blocker->execution().wish.device = kFake0;
  pinned->execution().wish.device = kFake0;
  FakePause pause(control());
  blocker->Start();
  pinned->Start();
  control().Fault("ERROR_DEVICE_LOST");
  EXPECT_EQ(blocker->Wait().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(pinned->Wait(),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("vulkan:0")));
}

TEST_F(EngineExecutionsTest, AHungLaneIsGivenUpAndItsDeviceIsNotChosenAgain) {
  EngineOptions options = OneLane();
  options.hang_timeout = absl::Milliseconds(20);
  EngineHarness harness({&fake_}, {kFake0, kFake1}, options);
  const auto graph = harness.MustSubmit("a", AddChain(1, 1));
  control(0).HangLaunch(0);
  const auto hung = NewRun(harness, graph);
  hung->execution().wish.device = kFake0;
  hung->execution().deadline = absl::Now() + absl::Milliseconds(20);
  hung->Start();
  EXPECT_EQ(hung->Wait().code(), absl::StatusCode::kDeadlineExceeded);
  while (harness.StatusOf(kFake0).health.ok()) std::this_thread::yield();
  EXPECT_THAT(harness.StatusOf(kFake0).health,
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("hangs")));
  for (int i = 0; i < 4; ++i) {
    const auto run = NewRun(harness, graph);
    run->Start();
    EXPECT_THAT(run->Output(), Each(1));
    EXPECT_EQ(run->execution().ran_on, kFake1);
  }
  control(0).ReleaseHang();
}

TEST_F(EngineExecutionsTest, ADrainingDeviceFinishesItsQueueAndTakesNothing) {
  EngineHarness harness({&fake_}, {kFake0, kFake1}, OneLane());
  const auto graph = harness.MustSubmit("a", AddChain(1, 1));
  std::vector<std::unique_ptr<TestRun>> before;
  {
    FakePause pause(control());
    for (int i = 0; i < 3; ++i) {
      before.push_back(NewRun(harness, graph));
      before.back()->execution().wish.device = kFake0;
      before.back()->Start();
    }
    ASSERT_THAT(harness.engine().SetDraining(kFake0, true), IsOk());
    EXPECT_TRUE(harness.StatusOf(kFake0).is_draining);
    const auto refused = NewRun(harness, graph);
    refused->execution().wish.device = kFake0;
    refused->Start();
    EXPECT_THAT(refused->Wait(), StatusIs(absl::StatusCode::kUnavailable,
                                          HasSubstr("vulkan:0 is draining")));
    const auto elsewhere = NewRun(harness, graph);
    elsewhere->Start();
    EXPECT_THAT(elsewhere->Output(), Each(1));
    EXPECT_EQ(elsewhere->execution().ran_on, kFake1);
  }
  for (auto& run : before) EXPECT_THAT(run->Output(), Each(1));
  ASSERT_THAT(harness.engine().SetDraining(kFake0, false), IsOk());
  const auto again = NewRun(harness, graph);
  again->execution().wish.device = kFake0;
  again->Start();
  EXPECT_THAT(again->Output(), Each(1));
  EXPECT_THAT(harness.engine().SetDraining({BackendId::kCuda, 3}, true),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("cuda:3")));
}

TEST_F(EngineExecutionsTest, AfterStopAcceptingWhatIsOpenIsFinished) {
  EngineHarness harness({&fake_}, {kFake0}, OneLane());
  const auto graph = harness.MustSubmit("a", AddChain(1, 1));
  std::vector<std::unique_ptr<TestRun>> open;
  {
    FakePause pause(control());
    for (int i = 0; i < 3; ++i) {
      open.push_back(NewRun(harness, graph));
      open.back()->Start();
    }
    harness.engine().StopAccepting();
    const auto refused = NewRun(harness, graph);
    refused->Start();
    EXPECT_THAT(refused->Wait(), StatusIs(absl::StatusCode::kUnavailable,
                                          HasSubstr("draining")));
    EXPECT_FALSE(
        harness.engine().AwaitIdle(absl::Now() + absl::Milliseconds(5)));
  }
  EXPECT_TRUE(harness.engine().AwaitIdle(absl::InfiniteFuture()));
  for (auto& run : open) {
    EXPECT_TRUE(run->is_done());
    EXPECT_THAT(run->Output(), Each(1));
  }
}

TEST_F(EngineExecutionsTest, TheDestructorAnswersWhatIsQueuedAndWhatRuns) {
  EngineHarness harness({&fake_}, {kFake0}, OneLane());
  const auto graph = harness.MustSubmit("a", AddChain(1, 1));
  std::vector<std::unique_ptr<TestRun>> runs;
  control().Pause();
  for (int i = 0; i < 4; ++i) {
    runs.push_back(NewRun(harness, graph));
    runs.back()->ReleaseBuffersWhenDone();
    runs.back()->Start();
  }
  while (harness.StatusOf(kFake0).in_flight == 0) std::this_thread::yield();
  // The queued ones are refused while the lane is still busy; its run ends when
  // the device goes on.
  runs.back()->OnDone([this](TestRun&) { control().Resume(); });
  harness.Destroy();
  EXPECT_THAT(runs[0]->Wait(), IsOk());
  for (int i = 1; i < 4; ++i) {
    EXPECT_EQ(runs[i]->Wait().code(), absl::StatusCode::kUnavailable);
  }
}

TEST_F(EngineExecutionsTest, ATraceHasALaunchARowAndNoMoreThanAsked) {
  EngineHarness harness({&fake_}, {kFake0}, OneLane());
  const auto graph = harness.MustSubmit("a", AddChain(3, 1));
  const auto run = NewRun(harness, graph);
  run->execution().trace_capacity = 2;
  run->Start();
  EXPECT_THAT(run->Output(), Each(3));
  ASSERT_NE(run->execution().trace, nullptr);
  EXPECT_EQ(run->execution().trace->rows().size(), 2);
  EXPECT_EQ(run->execution().trace->dropped_count(), 1);
}

TEST_F(EngineExecutionsTest, PhasesAreFilledAndAccounted) {
  EngineHarness harness({&fake_}, {kFake0}, OneLane());
  const auto graph = harness.MustSubmit("a", AddChain(1, 1, 0));
  TestRun run(graph, harness.engine(), {1, 2});
  run.execution().phase_ns[static_cast<int>(Phase::kDecode)] = 77;
  run.Start();
  ASSERT_THAT(run.Output(), ElementsAre(2, 3));
  const auto& ns = run.execution().phase_ns;
  EXPECT_GT(ns[static_cast<int>(Phase::kQueue)], 0);
  EXPECT_GT(ns[static_cast<int>(Phase::kCompile)], 0);
  EXPECT_GT(ns[static_cast<int>(Phase::kRun)], 0);
  EXPECT_EQ(ns[static_cast<int>(Phase::kDecode)], 77);
  std::vector<Phase> phases;
  for (const auto& row : harness.phases().Snapshot()) {
    EXPECT_EQ(row.backend, BackendId::kVulkan);
    phases.push_back(row.phase);
  }
  EXPECT_THAT(phases, testing::Contains(Phase::kQueue));
  EXPECT_THAT(phases, testing::Contains(Phase::kRun));
  EXPECT_THAT(phases, testing::Not(testing::Contains(Phase::kDecode)));
}

}  // namespace
}  // namespace tensord
