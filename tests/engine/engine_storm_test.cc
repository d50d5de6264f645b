// Many threads, slow, reordering, failing and hanging devices: every execution
// is answered exactly once, and nothing is left over.

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "backends/cpu/cpu_backend.h"
#include "engine/engine.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/engine_harness.h"
#include "tests/support/fake_backend.h"
#include "tests/support/matchers.h"
#include "tests/support/resource_gauge.h"

namespace tensord {
namespace {

using ::testing::Each;

constexpr int kThreads = 32;

// Of each thread; TENSORD_STORM sets how many there are in all.
int RunsEach() {
  const char* asked = std::getenv("TENSORD_STORM");
  return asked != nullptr ? std::max(1, std::atoi(asked) / kThreads) : 40;
}

// Its threads end with the engine.
class EngineStormTest : public ::testing::Test {
 protected:
  // With a thread that the thread sanitizer has from the first other one on.
  void SetUp() override {
    std::thread([] {}).join();
    threads_ = ThreadCount();
  }
  void TearDown() override {
    // A thread that was joined may take a moment to be gone.
    const absl::Time deadline = absl::Now() + absl::Seconds(30);
    while (ThreadCount() > threads_ && absl::Now() < deadline) {
      absl::SleepFor(absl::Milliseconds(1));
    }
    EXPECT_LE(ThreadCount(), threads_);
  }

 private:
  int64_t threads_ = 0;
};

DeviceId Fake(uint16_t ordinal) { return {BackendId::kVulkan, ordinal}; }

void ExpectNothingLeft(EngineHarness& harness) {
  EXPECT_TRUE(harness.engine().AwaitIdle(absl::InfiniteFuture()));
  for (const DeviceStatus& status : harness.engine().Devices()) {
    EXPECT_EQ(status.in_flight, 0) << status.info.id.ToString();
    EXPECT_EQ(status.queue_depth, 0) << status.info.id.ToString();
    EXPECT_EQ(status.queued_bytes, 0) << status.info.id.ToString();
  }
}

// Runs `graphs[i]`, which adds i + 1, from every thread at once; `each` may
// disturb. The destructor of TestRun checks that each was answered once.
void RunFromManyThreads(
    EngineHarness& harness,
    const std::vector<std::shared_ptr<const LoadedGraph>>& graphs,
    const std::function<void(int thread, int i, TestRun& run)>& each,
    std::atomic<int>& succeeded) {
  const int runs_each = RunsEach();
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < runs_each; ++i) {
        const size_t which = (t + i) % graphs.size();
        // The extents change too, so that compilations go on all the while.
        const std::vector<float> x(1 + (t * 7 + i) % 5, 1.0f);
        TestRun run(graphs[which], harness.engine(), x);
        each(t, i, run);
        if (!run.Wait().ok()) continue;
        ++succeeded;
        ASSERT_EQ(run.Output().size(), x.size());
        EXPECT_THAT(run.Output(), Each(1.0f + (which + 1)));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

std::vector<std::shared_ptr<const LoadedGraph>> Graphs(EngineHarness& harness,
                                                       int count) {
  std::vector<std::shared_ptr<const LoadedGraph>> graphs;
  for (int i = 0; i < count; ++i) {
    graphs.push_back(
        harness.MustSubmit(absl::StrCat("g", i), AddChain(1, i + 1.0f, 0)));
  }
  return graphs;
}

TEST_F(EngineStormTest, ReorderingDevicesGiveEachRunItsOwnAnswer) {
  FakeBackend fake(BackendId::kVulkan,
                   {.device_count = 3,
                    .lane_order = FakeLaneOrder::kNewestFirst,
                    .delivery = FakeDelivery::kReversed});
  EngineHarness harness({&fake}, {Fake(0), Fake(1), Fake(2)});
  std::atomic<int> succeeded{0};
  RunFromManyThreads(
      harness, Graphs(harness, 3), [](int, int, TestRun& run) { run.Start(); },
      succeeded);
  EXPECT_EQ(succeeded, kThreads * RunsEach());
  ExpectNothingLeft(harness);
  const GraphCacheStats stats = harness.engine().CacheStats();
  EXPECT_LE(stats.misses, 3 * 5 * 3);  // graphs, extents, devices
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(fake.control(i).counts().dropped_in_flight, 0);
  }
}

TEST_F(EngineStormTest, CancelsDeadlinesFaultsAndHangsAnswerEachRunOnce) {
  FakeBackend fake(BackendId::kVulkan, {.device_count = 3});
  EngineOptions options;
  options.max_queue_length = 16;
  options.hang_timeout = absl::Milliseconds(50);
  options.max_execution_time = absl::Milliseconds(500);
  EngineHarness harness({&fake}, {Fake(0), Fake(1), Fake(2)}, options);
  const auto graphs = Graphs(harness, 3);
  std::atomic<int> succeeded{0};
  RunFromManyThreads(
      harness, graphs,
      [&](int t, int i, TestRun& run) {
        if (t == 0 && i == RunsEach() / 4) fake.control(0).Fault("GONE");
        if (t == 1 && i == RunsEach() / 2) fake.control(1).HangLaunch(0);
        std::thread canceller;
        switch ((t + i) % 4) {
          case 0:
            run.execution().deadline =
                absl::Now() + absl::Microseconds((t * 131 + i * 17) % 2000);
            break;
          case 1:
            run.Start();
            harness.engine().Cancel(run.execution());
            return;
          case 2:
            canceller =
                std::thread([&] { harness.engine().Cancel(run.execution()); });
            break;
          default:
            break;
        }
        run.Start();
        if (canceller.joinable()) canceller.join();
      },
      succeeded);
  EXPECT_GT(succeeded, 0);
  ExpectNothingLeft(harness);
  EXPECT_EQ(harness.StatusOf(Fake(0)).faults, 1);
  // The device that is left still works.
  fake.control(1).ReleaseHang();
  TestRun last(graphs[0], harness.engine(), {1, 1});
  last.execution().wish.device = Fake(2);
  last.Start();
  EXPECT_THAT(last.Output(), Each(2));
}

TEST_F(EngineStormTest, InlineAndQueuedRunsShareTheLanesOfTheCpu) {
  HostWorkerPool workers(2);
  HostServices services{.workers = &workers};
  const std::unique_ptr<Backend> cpu = MakeCpuBackend(services);
  EngineOptions options;
  options.max_queue_length = 1'000'000;
  EngineHarness harness({cpu.get()},
                        {{BackendId::kCpu, 0}, {BackendId::kCpu, 1}}, options);
  std::atomic<int> succeeded{0};
  RunFromManyThreads(
      harness, Graphs(harness, 3), [](int, int, TestRun& run) { run.Start(); },
      succeeded);
  EXPECT_EQ(succeeded, kThreads * RunsEach());
  ExpectNothingLeft(harness);
  uint64_t completed = 0;
  for (const DeviceStatus& status : harness.engine().Devices()) {
    completed += status.completed;
  }
  EXPECT_EQ(completed, kThreads * RunsEach());
}

TEST_F(EngineStormTest, SubmitsAndDeletesBesideRunsLeaveNothingBehind) {
  FakeBackend fake(BackendId::kVulkan, {.device_count = 2});
  EngineHarness harness({&fake}, {Fake(0), Fake(1)});
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const std::string principal = absl::StrCat("p", t % 4);
      for (int i = 0; i < 20; ++i) {
        const int which = (t + i) % 3;
        const auto outcome = harness.Submit(absl::StrCat("g", which),
                                            AddChain(1, which + 1), principal);
        ASSERT_THAT(outcome, IsOk());
        TestRun run(outcome->graph, harness.engine(), {0, 0, 0, 0});
        run.Start();
        EXPECT_THAT(run.Output(), Each(which + 1));
        harness.engine()
            .DeleteGraph(outcome->graph->id(), principal)
            .IgnoreError();  // another thread of the principal may have
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ExpectNothingLeft(harness);
  for (int p = 0; p < 4; ++p) {
    EXPECT_TRUE(
        harness.engine().ListGraphs(absl::StrCat("p", p), "", 10).empty());
  }
  EXPECT_EQ(harness.engine().CacheStats().graphs, 0);
}

}  // namespace
}  // namespace tensord
