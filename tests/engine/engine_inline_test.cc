// Which thread an execution runs on.

#include <memory>
#include <thread>

#include "backends/cpu/cpu_backend.h"
#include "engine/engine.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/engine_harness.h"
#include "tests/support/fake_backend.h"
#include "tests/support/matchers.h"

namespace tensord {
namespace {

using ::testing::Each;

constexpr DeviceId kCpu0{BackendId::kCpu, 0};

class EngineInlineTest : public ::testing::Test {
 protected:
  // Whether a run of this length ends on the thread that starts it.
  bool RunsInline(const EngineOptions& options, int64_t extent) {
    EngineHarness harness({cpu_.get()}, {kCpu0}, options);
    const auto graph = harness.MustSubmit("a", AddChain(1, 1, extent));
    TestRun run(graph, harness.engine(), std::vector<float>(extent, 1));
    std::thread::id answered_on;
    run.OnDone([&](TestRun&) { answered_on = std::this_thread::get_id(); });
    run.Start();
    EXPECT_THAT(run.Output(), Each(2));
    return answered_on == std::this_thread::get_id();
  }

  HostWorkerPool workers_{2};
  HostServices services_{.workers = &workers_};
  std::unique_ptr<Backend> cpu_ = MakeCpuBackend(services_);
};

TEST_F(EngineInlineTest, WhatIsShortRunsOnTheCallersThread) {
  EXPECT_TRUE(RunsInline({}, 4));
}

TEST_F(EngineInlineTest, WhatIsLongDoesNot) {
  EXPECT_FALSE(RunsInline({}, 4 << 20));
}

TEST_F(EngineInlineTest, NothingDoesWhenTheLimitIsZero) {
  EngineOptions options;
  options.inline_limit = absl::ZeroDuration();
  EXPECT_FALSE(RunsInline(options, 4));
}

// The lane is held by a run whose answer is under way: no, a lane is given back
// before the answer. So the caller that answers may run the next one inline.
TEST_F(EngineInlineTest, AnAnswerMayStartTheNextRun) {
  EngineOptions options;
  options.lanes_per_device = 1;
  EngineHarness harness({cpu_.get()}, {kCpu0}, options);
  const auto graph = harness.MustSubmit("a", AddChain(1, 1));
  TestRun second(graph, harness.engine(), {0, 0, 0, 0});
  TestRun first(graph, harness.engine(), {0, 0, 0, 0});
  first.OnDone([&](TestRun&) {
    EXPECT_EQ(harness.StatusOf(kCpu0).in_flight, 0);
    second.Start();
    EXPECT_TRUE(second.is_done());
  });
  first.Start();
  EXPECT_THAT(second.Output(), Each(1));
  EXPECT_EQ(harness.StatusOf(kCpu0).completed, 2);
}

TEST_F(EngineInlineTest, AnAsynchronousDeviceNeverHoldsTheCaller) {
  FakeBackend fake(BackendId::kVulkan);
  EngineHarness harness({&fake}, {{BackendId::kVulkan, 0}});
  const auto graph = harness.MustSubmit("a", AddChain(1, 1));
  TestRun run(graph, harness.engine(), {0, 0, 0, 0});
  {
    FakePause pause(fake.control(0));
    run.Start();
    EXPECT_FALSE(run.is_done());
  }
  EXPECT_THAT(run.Output(), Each(1));
}

}  // namespace
}  // namespace tensord
