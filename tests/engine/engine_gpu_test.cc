// The engine over asynchronous devices that record programs and have kernels
// for some operators only, as GPUs are.

#include <memory>
#include <vector>

#include "absl/time/clock.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/host_worker_pool.h"
#include "engine/engine.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/engine_harness.h"
#include "tests/support/fake_backend.h"
#include "tests/support/matchers.h"

namespace tensord {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr DeviceId kGpu0{BackendId::kVulkan, 0};
constexpr DeviceId kGpu1{BackendId::kVulkan, 1};

// y = -(x + 1); the fake device has no Neg.
GraphDef AddThenNeg() {
  GraphDef graph = AddChain(1, 1);
  NodeDef node;
  node.name = "minus";
  node.op_type = "Neg";
  node.inputs = {graph.outputs[0].name};
  node.outputs = {"minus"};
  graph.nodes.push_back(std::move(node));
  graph.outputs[0].name = "minus";
  return graph;
}

class EngineGpuTest : public ::testing::Test {
 protected:
  FakeControl& control() { return gpus_.control(0); }

  std::vector<float> Run(EngineHarness& harness,
                         const std::shared_ptr<const LoadedGraph>& graph) {
    TestRun run(graph, harness.engine(), {1, 2, 3, 4});
    run.Start();
    EXPECT_THAT(run.Wait(), IsOk());
    return run.Output();
  }

  // One lane: every run of a graph comes where it was recorded.
  static EngineOptions OneLane() {
    EngineOptions options;
    options.lanes_per_device = 1;
    return options;
  }

  bool ProgramsBecome(int64_t count) {
    const absl::Time limit = absl::Now() + absl::Minutes(1);
    while (control().counts().programs_alive != count) {
      if (absl::Now() > limit) return false;
      absl::SleepFor(absl::Milliseconds(1));
    }
    return true;
  }

  HostWorkerPool workers_{1};
  std::unique_ptr<Backend> cpu_ = MakeCpuBackend({.workers = &workers_});
  FakeBackend gpus_{BackendId::kVulkan,
                    {.device_count = 2, .records_programs = true}};
};

TEST_F(EngineGpuTest, ANodeThatNoGpuHasRunsOnAProcessorThatIsNotInThePool) {
  EngineHarness harness({&gpus_, cpu_.get()}, {kGpu0});
  const auto graph = harness.MustSubmit("a", AddThenNeg());
  EXPECT_THAT(Run(harness, graph), ElementsAre(-2, -3, -4, -5));
  EXPECT_EQ(harness.StatusOf(kGpu0).completed, 1);
  // The weight and the input went up, the sum came down.
  EXPECT_EQ(harness.StatusOf(kGpu0).uploaded_bytes, 4 + 16);
  EXPECT_EQ(harness.StatusOf(kGpu0).downloaded_bytes, 16);
}

TEST_F(EngineGpuTest, WithoutAProcessorTheGraphIsRefused) {
  EngineHarness harness({&gpus_}, {kGpu0});
  EXPECT_THAT(harness.Submit("a", AddThenNeg()),
              StatusIs(absl::StatusCode::kUnimplemented, testing::_));
}

TEST_F(EngineGpuTest, ADeletedGraphTakesItsProgramsWithIt) {
  EngineHarness harness({&gpus_}, {kGpu0}, OneLane());
  const auto graph = harness.MustSubmit("a", AddChain(3, 1));
  for (int i = 0; i < 3; ++i) Run(harness, graph);
  EXPECT_EQ(control().counts().programs_alive, 1);
  EXPECT_GT(control().counts().programs_submitted, 0);
  ASSERT_THAT(harness.engine().DeleteGraph("a", "ann"), IsOk());
  EXPECT_TRUE(ProgramsBecome(0));
  EXPECT_EQ(control().counts().dropped_in_flight, 0);
}

TEST_F(EngineGpuTest, OneThatRunsKeepsThemUntilItIsDone) {
  EngineHarness harness({&gpus_}, {kGpu0}, OneLane());
  const auto graph = harness.MustSubmit("a", AddChain(3, 1));
  for (int i = 0; i < 3; ++i) Run(harness, graph);
  control().Pause();
  TestRun run(graph, harness.engine(), {1, 2, 3, 4});
  run.Start();
  while (control().counts().programs_submitted < 3) {
    absl::SleepFor(absl::Milliseconds(1));
  }
  ASSERT_THAT(harness.engine().DeleteGraph("a", "ann"), IsOk());
  EXPECT_EQ(control().counts().programs_alive, 1);
  control().Resume();
  EXPECT_THAT(run.Wait(), IsOk());
  EXPECT_TRUE(ProgramsBecome(0));
  EXPECT_EQ(control().counts().dropped_in_flight, 0);
}

TEST_F(EngineGpuTest, WithoutProgramsEveryNodeIsLaunched) {
  EngineOptions options = OneLane();
  options.programs = false;
  EngineHarness harness({&gpus_}, {kGpu0}, options);
  const auto graph = harness.MustSubmit("a", AddChain(3, 1));
  for (int i = 0; i < 4; ++i) Run(harness, graph);
  EXPECT_EQ(control().counts().programs_recorded, 0);
  EXPECT_EQ(control().counts().launches_enqueued, 12);
}

TEST_F(EngineGpuTest, ARunGoesToTheGpuThatHasItsGraph) {
  EngineHarness harness({&gpus_}, {kGpu0, kGpu1});
  const auto graph = harness.MustSubmit("a", AddChain(3, 1));
  for (int i = 0; i < 5; ++i) Run(harness, graph);
  EXPECT_EQ(harness.StatusOf(kGpu0).completed, 5);
  EXPECT_EQ(harness.StatusOf(kGpu1).weight_bytes, 0);
}

TEST_F(EngineGpuTest, ABusyGpuLeavesRunsToTheOtherOnceThatHasTheGraphToo) {
  EngineHarness harness({&gpus_}, {kGpu0, kGpu1});
  const auto graph = harness.MustSubmit("a", AddChain(3, 1));
  Run(harness, graph);
  std::vector<std::unique_ptr<TestRun>> waiting;
  FakePause pause(control());
  const absl::Time limit = absl::Now() + absl::Minutes(1);
  while (harness.StatusOf(kGpu1).completed == 0 && absl::Now() < limit &&
         waiting.size() < 200) {
    waiting.push_back(std::make_unique<TestRun>(
        graph, harness.engine(), std::vector<float>{1, 2, 3, 4}));
    waiting.back()->Start();
    absl::SleepFor(absl::Milliseconds(2));
  }
  EXPECT_GT(harness.StatusOf(kGpu1).completed, 0);
  EXPECT_GT(harness.StatusOf(kGpu1).weight_bytes, 0);
  control().Resume();
  for (const auto& run : waiting) EXPECT_THAT(run->Wait(), IsOk());
}

TEST_F(EngineGpuTest, BuffersOfAPageAreTheDevicesAndGoBackBeforeIt) {
  {
    EngineHarness harness({&gpus_}, {kGpu0});
    const auto graph = harness.MustSubmit("a", AddChain(1, 1, 4096));
    const int64_t before = control().counts().storages_alive;
    TestRun run(graph, harness.engine(), std::vector<float>(4096, 1));
    EXPECT_EQ(control().counts().storages_alive, before + 1);
    run.ReleaseBuffersWhenDone();
    run.Start();
    EXPECT_THAT(run.Wait(), IsOk());
  }
  EXPECT_EQ(control().counts().storages_alive, 0);
}

}  // namespace
}  // namespace tensord
