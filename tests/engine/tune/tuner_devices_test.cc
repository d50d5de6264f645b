// The tuner and devices: asynchronous ones that hang or fault, an engine that
// ends meanwhile, and the real CPU.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "backends/cpu/cpu_backend.h"
#include "tests/engine/tune/tuning_harness.h"
#include "tests/support/backend_test.h"
#include "tests/support/fake_backend.h"
#include "tests/support/matchers.h"

namespace tensord {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr DeviceId kFake0{BackendId::kVulkan, 0};
constexpr DeviceId kCpu0{BackendId::kCpu, 0};
const std::vector<float> kInput = {-1, 2, -3, 4};
const Shape kShape{4};

class TunerDevicesTest : public ::testing::Test {
 protected:
  void TearDown() override {
    EXPECT_EQ(fake_.control(0).counts().dropped_in_flight, 0);
  }
  FakeBackend fake_{BackendId::kVulkan};
};

// The first of its two siblings is slow.
TEST_F(TunerDevicesTest, AnAsynchronousDeviceIsMeasuredToo) {
  fake_.control(0).SetExecuteHook([](const FakeLaunchInfo& launch) {
    if (std::string(launch.kernel) == "fake_relu_by_4") {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  EngineHarness harness({&fake_}, {kFake0}, TuningOptions());
  const auto graph = harness.MustSubmit("a", ReluGraph(4));
  EXPECT_THAT(RunOnce(harness.engine(), graph, kInput),
              ElementsAre(0, 2, 0, 4));
  ASSERT_TRUE(AwaitKernel(harness.engine(), graph, kShape, "fake_relu"));
  EXPECT_THAT(RunOnce(harness.engine(), graph, kInput),
              ElementsAre(0, 2, 0, 4));
  EXPECT_EQ(harness.engine().Tuning().faster, 1);
}

// Launch 0 is the client's own, launch 1 the first trial's.
TEST_F(TunerDevicesTest, ALaunchThatHangsEndsTuningAndNothingElse) {
  EngineOptions options = TuningOptions();
  // Not less: every copy must be done within it, also on a busy machine.
  options.tuning.launch_timeout = absl::Seconds(1);
  EngineHarness harness({&fake_}, {kFake0}, options);
  Engine& engine = harness.engine();
  const auto graph = harness.MustSubmit("a", ReluGraph(4));
  const auto other = harness.MustSubmit("b", ReluGraph(8));
  const absl::Cleanup release = [&] { fake_.control(0).ReleaseHang(); };
  fake_.control(0).HangLaunch(1);
  RunOnce(engine, graph, kInput);
  ASSERT_TRUE(AwaitDecisions(engine, 1));
  EXPECT_EQ(engine.Tuning().failed, 1);
  EXPECT_THAT(RunOnce(engine, graph, kInput), ElementsAre(0, 2, 0, 4));
  RunOnce(engine, other, std::vector<float>(8, 1));
  ASSERT_TRUE(AwaitDecisions(engine, 2));
  EXPECT_EQ(engine.Tuning().skipped, 1);  // the device is given up
  EXPECT_THAT(harness.StatusOf(kFake0).health, IsOk());
}

TEST_F(TunerDevicesTest, ADeviceThatFaultsInATrialIsLostAsInARun) {
  EngineHarness harness({&fake_}, {kFake0}, TuningOptions());
  const auto graph = harness.MustSubmit("a", ReluGraph(4));
  fake_.control(0).FailLaunch(1);
  RunOnce(harness.engine(), graph, kInput);
  ASSERT_TRUE(AwaitDecisions(harness.engine(), 1));
  EXPECT_EQ(harness.engine().Tuning().failed, 1);
  EXPECT_TRUE(Await([&] { return !harness.StatusOf(kFake0).health.ok(); }));
  TestRun run(graph, harness.engine(), kInput);
  run.Start();
  EXPECT_THAT(run.Wait(),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("vulkan:0")));
}

TEST_F(TunerDevicesTest, AnEngineThatEndsInTheMiddleWaitsForTheLaunchAlone) {
  EngineHarness harness({&fake_}, {kFake0}, TuningOptions());
  const auto graph = harness.MustSubmit("a", ReluGraph(4));
  fake_.control(0).HangLaunch(1);
  RunOnce(harness.engine(), graph, kInput);
  ASSERT_TRUE(
      Await([&] { return fake_.control(0).counts().launches_enqueued == 2; }));
  std::thread end([&] { harness.Destroy(); });
  fake_.control(0).ReleaseHang();
  end.join();
  EXPECT_EQ(fake_.control(0).counts().states_alive, 0);
  EXPECT_EQ(fake_.control(0).counts().storages_alive, 0);
}

// While a client's execution has the device, no trial launches, although the
// lanes beside the client's are free.
TEST_F(TunerDevicesTest, AnExecutionKeepsTheTunerOffItsDevice) {
  EngineHarness harness({&fake_}, {kFake0}, TuningOptions());
  const auto graph = harness.MustSubmit("a", ReluGraph(4));
  {
    const absl::Cleanup release = [&] { fake_.control(0).ReleaseHang(); };
    fake_.control(0).HangLaunch(0);
    TestRun run(graph, harness.engine(), kInput);
    run.Start();
    EXPECT_FALSE(
        Await([&] { return fake_.control(0).counts().launches_enqueued > 1; },
              absl::Milliseconds(50)));
    fake_.control(0).ReleaseHang();
    EXPECT_THAT(run.Output(), ElementsAre(0, 2, 0, 4));
  }
  EXPECT_TRUE(AwaitDecisions(harness.engine(), 1));
}

TEST_F(TunerDevicesTest, ANodeOfMoreBytesThanATrialMayTakeIsSkipped) {
  EngineOptions options = TuningOptions();
  options.tuning.trial.max_bytes = 16;
  EngineHarness harness({&fake_}, {kFake0}, options);
  const auto graph = harness.MustSubmit("a", ReluGraph(4));
  RunOnce(harness.engine(), graph, kInput);
  ASSERT_TRUE(AwaitDecisions(harness.engine(), 1));
  EXPECT_EQ(harness.engine().Tuning().skipped, 1);
}

// Whatever wins here, results stay right, and the decision is remembered.
TEST(TunerOnTheCpu, MeasuresRealKernels) {
  const std::unique_ptr<Backend> cpu = MakeCpuBackend(TestHostServices());
  const ScratchFolder folder;
  EngineHarness harness({cpu.get()}, {kCpu0}, TuningOptions(folder.path()));
  constexpr int64_t kWidth = 64;
  const TestTensor weight = Pattern(DType::kFloat32, Shape{kWidth, kWidth});
  const auto graph =
      harness.MustSubmit("a", TestGraph()
                                  .Input("x", DType::kFloat32, {kWidth})
                                  .Constant("w", weight)
                                  .Node("MatMul", {"x", "w"}, {"y"})
                                  .Output("y")
                                  .definition());
  const std::vector<float> x(kWidth, 0.5f);
  const std::vector<float> before = RunOnce(harness.engine(), graph, x);
  ASSERT_TRUE(AwaitDecisions(harness.engine(), 1));
  const TuningStats stats = harness.engine().Tuning();
  EXPECT_EQ(stats.faster + stats.kept + stats.skipped, 1);
  EXPECT_EQ(stats.failed, 0);
  EXPECT_EQ(stats.disagreements, 0);
  const std::vector<float> after = RunOnce(harness.engine(), graph, x);
  ASSERT_EQ(before.size(), kWidth);
  for (int64_t i = 0; i < kWidth; ++i) {
    double expected = 0;
    for (int64_t k = 0; k < kWidth; ++k)
      expected += 0.5 * weight.At(k * kWidth + i);
    EXPECT_NEAR(before[i], expected, 1e-4);
    EXPECT_NEAR(after[i], expected, 1e-4);
  }
}

}  // namespace
}  // namespace tensord
