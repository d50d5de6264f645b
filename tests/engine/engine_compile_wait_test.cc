// Executions that meet a graph which is not compiled yet.

#include <memory>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "engine/engine.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/engine_harness.h"
#include "tests/support/fake_backend.h"
#include "tests/support/matchers.h"

namespace tensord {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

constexpr DeviceId kFake0{BackendId::kVulkan, 0};

// Preparing the third node (and those behind it) waits until the device has
// executed the first.
class EngineCompileWaitTest : public ::testing::Test {
 protected:
  static constexpr int kNodes = 5;

  void WaitForTheFirstLaunch(absl::Duration timeout) {
    fake_.control(0).SetPrepareHook([this, timeout](const NodeSite&) {
      if (++prepared_ < 3) return absl::OkStatus();
      return first_launch_.WaitForNotificationWithTimeout(timeout)
                 ? absl::OkStatus()
                 : absl::DeadlineExceededError("nothing was executed");
    });
    fake_.control(0).SetExecuteHook([this](const FakeLaunchInfo& launch) {
      if (launch.launch_index == 0) first_launch_.Notify();
    });
  }

  EngineOptions Options(bool is_pipelined) {
    EngineOptions options;
    options.pipelined_compile = is_pipelined;
    options.lanes_per_device = 2;
    return options;
  }

  FakeBackend fake_{BackendId::kVulkan};
  std::atomic<int> prepared_{0};
  absl::Notification first_launch_;
};

TEST_F(EngineCompileWaitTest, TheFirstRunBeginsBeforeTheLastNodeIsPrepared) {
  WaitForTheFirstLaunch(absl::Minutes(1));
  EngineHarness harness({&fake_}, {kFake0}, Options(true));
  const auto graph = harness.MustSubmit("a", AddChain(kNodes, 1, 0));
  TestRun run(graph, harness.engine(), {0, 0, 0});
  run.Start();
  EXPECT_THAT(run.Output(), Each(kNodes));
  EXPECT_EQ(prepared_, kNodes);
  EXPECT_EQ(harness.engine().CacheStats().misses, 1);
  // What was prepared along the way is what later runs use.
  TestRun again(graph, harness.engine(), {0, 0, 0});
  again.Start();
  EXPECT_THAT(again.Output(), Each(kNodes));
  EXPECT_EQ(prepared_, kNodes);
}

// The control: the same latch is never opened when the run comes after the
// preparation, so the test above can fail.
TEST_F(EngineCompileWaitTest, WithoutPipeliningTheLatchStaysShut) {
  WaitForTheFirstLaunch(absl::Milliseconds(50));
  EngineHarness harness({&fake_}, {kFake0}, Options(false));
  const auto graph = harness.MustSubmit("a", AddChain(kNodes, 1, 0));
  TestRun run(graph, harness.engine(), {0, 0, 0});
  run.Start();
  EXPECT_THAT(run.Wait(), StatusIs(absl::StatusCode::kDeadlineExceeded,
                                   HasSubstr("nothing was executed")));
  EXPECT_FALSE(first_launch_.HasBeenNotified());
}

TEST_F(EngineCompileWaitTest, OthersWaitForThePreparationAndThenRun) {
  WaitForTheFirstLaunch(absl::Minutes(1));
  EngineHarness harness({&fake_}, {kFake0}, Options(true));
  const auto graph = harness.MustSubmit("a", AddChain(kNodes, 1, 0));
  std::vector<std::unique_ptr<TestRun>> runs;
  for (int i = 0; i < 16; ++i) {
    runs.push_back(std::make_unique<TestRun>(graph, harness.engine(),
                                             std::vector<float>{0, 0, 0}));
    runs.back()->Start();
  }
  for (auto& run : runs) EXPECT_THAT(run->Output(), Each(kNodes));
  EXPECT_EQ(prepared_, kNodes);
  EXPECT_EQ(harness.engine().CacheStats().misses, 1);
}

TEST_F(EngineCompileWaitTest, AFailedPreparationIsToldToEverybody) {
  absl::Notification started;
  fake_.control(0).SetPrepareHook([&](const NodeSite&) {
    if (++prepared_ < 3) return absl::OkStatus();
    started.WaitForNotification();
    return absl::InternalError("no pipeline");
  });
  EngineHarness harness({&fake_}, {kFake0}, Options(true));
  const auto graph = harness.MustSubmit("a", AddChain(kNodes, 1, 0));
  std::vector<std::unique_ptr<TestRun>> runs;
  for (int i = 0; i < 8; ++i) {
    runs.push_back(std::make_unique<TestRun>(graph, harness.engine(),
                                             std::vector<float>{0, 0, 0}));
    runs.back()->Start();
  }
  started.Notify();
  for (auto& run : runs) {
    EXPECT_THAT(run->Wait(), StatusIs(absl::StatusCode::kInternal,
                                      HasSubstr("no pipeline")));
  }
  // It is not remembered.
  fake_.control(0).SetPrepareHook(nullptr);
  TestRun after(graph, harness.engine(), {0, 0, 0});
  after.Start();
  EXPECT_THAT(after.Output(), Each(kNodes));
}

TEST_F(EngineCompileWaitTest, ACancelledFirstRunDoesNotEndTheCompilation) {
  absl::Notification cancelled;
  fake_.control(0).SetPrepareHook([&](const NodeSite&) {
    if (++prepared_ == 3) cancelled.WaitForNotification();
    return absl::OkStatus();
  });
  EngineHarness harness({&fake_}, {kFake0}, Options(true));
  const auto graph = harness.MustSubmit("a", AddChain(kNodes, 1, 0));
  TestRun first(graph, harness.engine(), {0, 0, 0});
  TestRun second(graph, harness.engine(), {0, 0, 0});
  first.execution().deadline = absl::Now() + absl::Milliseconds(20);
  first.Start();
  second.Start();
  EXPECT_EQ(first.Wait().code(), absl::StatusCode::kDeadlineExceeded);
  cancelled.Notify();
  EXPECT_THAT(second.Output(), Each(kNodes));
  EXPECT_EQ(prepared_, kNodes);
}

TEST_F(EngineCompileWaitTest, DeadlinesAndCancelHoldWhileTheCompilerIsBusy) {
  absl::Notification compiler_is_busy, go;
  fake_.control(0).SetPrepareHook([&](const NodeSite&) {
    if (++prepared_ == 1) {
      compiler_is_busy.Notify();
      go.WaitForNotification();
    }
    return absl::OkStatus();
  });
  EngineHarness harness({&fake_}, {kFake0}, Options(false));
  const auto graph = harness.MustSubmit("a", AddChain(1, 1, 0));
  TestRun first(graph, harness.engine(), {0});
  first.Start();
  compiler_is_busy.WaitForNotification();

  TestRun late(graph, harness.engine(), {0, 0});
  late.execution().deadline = absl::Now() + absl::Milliseconds(20);
  late.Start();
  EXPECT_THAT(late.Wait(), StatusIs(absl::StatusCode::kDeadlineExceeded,
                                    HasSubstr("its compilation")));
  TestRun cancelled(graph, harness.engine(), {0, 0, 0});
  cancelled.Start();
  harness.engine().Cancel(cancelled.execution());
  EXPECT_TRUE(cancelled.is_done());
  EXPECT_EQ(cancelled.Wait().code(), absl::StatusCode::kCancelled);
  go.Notify();
  EXPECT_THAT(first.Output(), Each(1));
}

TEST_F(EngineCompileWaitTest, TheDestructorAnswersWhoWaitsForTheCompiler) {
  absl::Notification compiler_is_busy, go;
  fake_.control(0).SetPrepareHook([&](const NodeSite&) {
    if (++prepared_ == 1) {
      compiler_is_busy.Notify();
      go.WaitForNotification();
    }
    return absl::OkStatus();
  });
  EngineHarness harness({&fake_}, {kFake0}, Options(true));
  const auto graph = harness.MustSubmit("a", AddChain(3, 1, 0));
  TestRun along(graph, harness.engine(), {0});
  TestRun joined(graph, harness.engine(), {0});
  TestRun queued(graph, harness.engine(), {0, 0});
  for (TestRun* run : {&along, &joined, &queued}) {
    run->ReleaseBuffersWhenDone();
  }
  along.Start();
  compiler_is_busy.WaitForNotification();
  joined.Start();
  queued.Start();
  joined.OnDone([&](TestRun&) { go.Notify(); });
  harness.Destroy();
  // The first ran along with the preparation, or was refused at its lane.
  EXPECT_TRUE(along.Wait().ok() ||
              along.Wait().code() == absl::StatusCode::kUnavailable)
      << along.Wait();
  EXPECT_EQ(joined.Wait().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(queued.Wait().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace tensord
