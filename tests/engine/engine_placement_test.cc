// Which device an execution goes to: the processor, or a device behind a link
// that multiplies faster. Nothing is measured here, so that the estimates are
// those of what the devices suppose.

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
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

using ::testing::HasSubstr;

constexpr DeviceId kCpu{BackendId::kCpu, 0};
constexpr DeviceId kFar{BackendId::kVulkan, 0};

constexpr int64_t kWidth = 256;

// y = x * x of [kWidth, kWidth], `count` times over; x is [kWidth * kWidth].
GraphDef Products(int count) {
  GraphDef graph;
  graph.opset = 17;
  graph.inputs = {{"x", DType::kFloat32,
                   std::vector<DimDef>{DimDef(kWidth), DimDef(kWidth)}}};
  std::string last = "x";
  for (int i = 0; i < count; ++i) {
    NodeDef node;
    node.name = "product" + std::to_string(i);
    node.op_type = "MatMul";
    node.inputs = {last, "x"};
    node.outputs = {"y" + std::to_string(i)};
    last = node.outputs[0];
    graph.nodes.push_back(std::move(node));
  }
  graph.outputs = {{last, DType::kFloat32,
                    std::vector<DimDef>{DimDef(kWidth), DimDef(kWidth)}}};
  return graph;
}

class EnginePlacementTest : public ::testing::Test {
 protected:
  DeviceId RanOn(std::shared_ptr<const LoadedGraph> graph,
                 std::optional<BackendId> backend = std::nullopt) {
    TestRun run(std::move(graph), harness_.engine(), {0, 0, 0, 0});
    return Finish(run, backend);
  }

  DeviceId RanProductsOn(std::shared_ptr<const LoadedGraph> graph) {
    TestRun run(std::move(graph), harness_.engine(),
                std::vector<float>(kWidth * kWidth));
    run.execution().inputs[0].shape = Shape{kWidth, kWidth};
    return Finish(run, std::nullopt);
  }

  // Runs until the far device has it compiled.
  void RunProductsUntilFar(const std::shared_ptr<const LoadedGraph>& graph) {
    const absl::Time limit = absl::Now() + absl::Minutes(1);
    while (RanProductsOn(graph) != kFar) {
      ASSERT_LT(absl::Now(), limit) << "it was never compiled there";
    }
  }

  DeviceId Finish(TestRun& run, std::optional<BackendId> backend) {
    run.execution().wish.backend = backend;
    run.Start();
    EXPECT_THAT(run.Wait(), IsOk());
    return run.execution().ran_on;
  }

  HostWorkerPool workers_{1};
  std::unique_ptr<Backend> cpu_ = MakeCpuBackend({.workers = &workers_});
  FakeBackend far_{BackendId::kVulkan};
  EngineHarness harness_{{cpu_.get(), &far_}, {kCpu, kFar}};
};

TEST_F(EnginePlacementTest, ASmallRunStaysWhereNothingHasToBeCopied) {
  const auto graph = harness_.MustSubmit("a", AddChain(1, 1));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(RanOn(graph), kCpu);
}

TEST_F(EnginePlacementTest, AHeavyRunGoesToTheFasterDevice) {
  // Four products are 134 million operations: some 2 ms of a processor, and
  // 0.1 ms there behind 0.07 ms of copies.
  const auto graph = harness_.MustSubmit("a", Products(4));
  RunProductsUntilFar(graph);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(RanProductsOn(graph), kFar);
}

TEST_F(EnginePlacementTest, ARunDoesNotWaitForTheCompilerWhereItCanRunNow) {
  const auto graph = harness_.MustSubmit("a", Products(4));
  absl::Notification go;
  far_.control(0).SetPrepareHook([&](const NodeSite&) {
    go.WaitForNotification();
    return absl::OkStatus();
  });
  for (int i = 0; i < 3; ++i) EXPECT_EQ(RanProductsOn(graph), kCpu);
  go.Notify();
  RunProductsUntilFar(graph);
}

TEST(EngineCalibrationTest, ADeviceThatHangsAtTheStartIsLostAndTheRestServes) {
  HostWorkerPool workers(1);
  const std::unique_ptr<Backend> cpu = MakeCpuBackend({.workers = &workers});
  FakeBackend far(BackendId::kVulkan);
  far.control(0).Pause();
  EngineOptions options;
  options.calibrate_devices = true;
  options.hang_timeout = absl::Milliseconds(50);
  EngineHarness harness({cpu.get(), &far}, {kCpu, kFar}, options);
  EXPECT_THAT(harness.StatusOf(kFar).health,
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("hangs")));
  TestRun run(harness.MustSubmit("a", AddChain(1, 1)), harness.engine(),
              {0, 0, 0, 0});
  run.Start();
  EXPECT_THAT(run.Wait(), IsOk());
  EXPECT_EQ(run.execution().ran_on, kCpu);
  far.control(0).Resume();
}

TEST_F(EnginePlacementTest, ARunThatIsBusyThereComesToTheProcessor) {
  const auto graph = harness_.MustSubmit("a", Products(4));
  RunProductsUntilFar(graph);
  const uint64_t before = harness_.StatusOf(kCpu).completed;
  std::vector<std::unique_ptr<TestRun>> queued;
  {
    FakePause pause(far_.control(0));
    for (int i = 0; i < 200; ++i) {
      queued.push_back(std::make_unique<TestRun>(
          graph, harness_.engine(), std::vector<float>(kWidth * kWidth)));
      queued.back()->execution().inputs[0].shape = Shape{kWidth, kWidth};
      queued.back()->Start();
      if (harness_.StatusOf(kCpu).completed > before) break;
      if (harness_.StatusOf(kCpu).in_flight > 0) break;
    }
    EXPECT_LT(queued.size(), 200);
    EXPECT_GT(queued.size(), 4);
  }
  for (const auto& run : queued) EXPECT_THAT(run->Wait(), IsOk());
}

TEST_F(EnginePlacementTest, AWantedBackendIsKeptWhateverItCosts) {
  const auto graph = harness_.MustSubmit("a", AddChain(1, 1));
  EXPECT_EQ(RanOn(graph, BackendId::kVulkan), kFar);
  EXPECT_EQ(RanOn(graph, BackendId::kCpu), kCpu);
  TestRun run(graph, harness_.engine(), {0, 0, 0, 0});
  run.execution().wish.backend = BackendId::kCuda;
  run.Start();
  EXPECT_THAT(run.Wait(),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("'cuda'")));
}

}  // namespace
}  // namespace tensord
