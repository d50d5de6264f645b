// Launches that take long end when their run is stopped: by its deadline, by
// max_execution_time, or by a cancellation. The graphs here are of one launch
// that takes the better part of a second on the fastest machine and ten and
// more on most; their runs must end within a few, also where other tests keep
// the machine busy.

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "backends/cpu/cpu_backend.h"
#include "engine/engine.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/engine_harness.h"
#include "tests/support/graphs.h"
#include "tests/support/matchers.h"
#include "tests/support/resource_gauge.h"

namespace tensord {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

constexpr DeviceId kCpu0{BackendId::kCpu, 0};
constexpr DType kF32 = DType::kFloat32;

// When a run that is stopped must have ended.
absl::Duration Bound() { return absl::Seconds(4) * BuildSlowdown(); }
// How long one may take before. The same in every build: the library's products
// are as fast beside instrumented code.
constexpr absl::Duration kTimeout = absl::Milliseconds(250);

// A graph of one float32 input, all ones.
struct LongLaunch {
  std::string name;
  Shape shape;
  TestGraph graph;
};

std::vector<float> Ones(const Shape& shape) {
  return std::vector<float>(shape.element_count(), 1);
}

TestTensor Filled(const Shape& shape, float element) {
  return Tensor(shape, std::vector<float>(shape.element_count(), element));
}

// A window of half the image around each of half a million elements.
TestGraph WidePool() {
  return TestGraph()
      .Input("x", kF32, {1, 1, 768, 768})
      .Node("AveragePool", {"x"}, {"y"},
            {{"kernel_shape", std::vector<int64_t>{385, 385}},
             {"pads", std::vector<int64_t>{192, 192, 192, 192}}})
      .Output("y");
}

std::vector<LongLaunch> LongLaunches() {
  std::vector<LongLaunch> launches;
  launches.push_back({"AveragePool", {1, 1, 768, 768}, WidePool()});
  launches.push_back({"LRN",
                      {1, 8192, 1024},
                      TestGraph()
                          .Input("x", kF32, {1, 8192, 1024})
                          .Node("LRN", {"x"}, {"y"}, {{"size", int64_t{8191}}})
                          .Output("y")});
  launches.push_back({"MatMul",
                      {6000, 6000},
                      TestGraph()
                          .Input("x", kF32, {6000, 6000})
                          .Node("MatMul", {"x", "x"}, {"y"})
                          .Output("y")});
  launches.push_back(
      {"MatMulFloat64",
       {3000, 3000},
       TestGraph()
           .Input("x", kF32, {3000, 3000})
           .Node("Cast", {"x"}, {"wide"},
                 {{"to", int64_t{11}}})  // ONNX's number of float64
           .Node("MatMul", {"wide", "wide"}, {"y"})
           .Output("y")});
  launches.push_back(
      {"ConvFloat64",
       {1, 1, 2048, 2048},
       TestGraph()
           .Input("x", kF32, {1, 1, 2048, 2048})
           .Node("Cast", {"x"}, {"wide"}, {{"to", int64_t{11}}})
           .Constant("w", Tensor<double>({1, 1, 129, 129},
                                         std::vector<double>(129 * 129, 1)))
           .Node("Conv", {"wide", "w"}, {"y"})
           .Output("y")});
  launches.push_back({"Attention",
                      {1, 1, 40000, 64},
                      TestGraph()
                          .Opset(24)
                          .Input("x", kF32, {1, 1, 40000, 64})
                          .Node("Attention", {"x", "x", "x"}, {"y"})
                          .Output("y")});
  launches.push_back({"GRU",
                      {1000000, 1, 4},
                      TestGraph()
                          .Input("x", kF32, {1000000, 1, 4})
                          .Constant("w", Filled({1, 3 * 128, 4}, 0.01f))
                          .Constant("r", Filled({1, 3 * 128, 128}, 0.01f))
                          .Node("GRU", {"x", "w", "r"}, {"", "y"},
                                {{"hidden_size", int64_t{128}}})
                          .Output("y")});
  std::vector<float> whole;  // the image, 2000 times
  for (int i = 0; i < 2000; ++i) whole.insert(whole.end(), {0, 0, 2048, 2048});
  launches.push_back(
      {"RoiAlign",
       {1, 1, 2048, 2048},
       TestGraph()
           .Input("x", kF32, {1, 1, 2048, 2048})
           .Constant("rois", Tensor({2000, 4}, whole))
           .Constant("batches",
                     Tensor<int64_t>({2000}, std::vector<int64_t>(2000)))
           .Node("RoiAlign", {"x", "rois", "batches"}, {"y"})
           .Output("y")});
  launches.push_back(
      {"NonMaxSuppression",
       {1, 200000, 4},
       TestGraph()
           .Input("x", kF32, {1, 200000, 4})
           .Constant("scores", Filled({1, 1, 200000}, 1))
           .Constant("most", Tensor<int64_t>({1}, {200000}))
           .Constant("overlap", Tensor({1}, {1}))
           .Node("NonMaxSuppression", {"x", "scores", "most", "overlap"}, {"y"})
           .Output("y")});
  launches.push_back(
      {"If",
       {1, 1, 1024, 1024},
       TestGraph()
           .Input("x", kF32, {1, 1, 1024, 1024})
           .Constant("zero", Tensor(Shape(), {0}))
           .Node("ReduceMax", {"x"}, {"most"}, {{"keepdims", int64_t{0}}})
           .Node("Greater", {"most", "zero"}, {"is_above"})
           .Node("If", {"is_above"}, {"y"},
                 {{"then_branch",
                   TestGraph()
                       .Node("AveragePool", {"x"}, {"t"},
                             {{"kernel_shape", std::vector<int64_t>{513, 513}}})
                       .Output("t")
                       .body()},
                  {"else_branch",
                   TestGraph().Node("Neg", {"x"}, {"e"}).Output("e").body()}})
           .Output("y")});
  return launches;
}

LongLaunch Named(absl::string_view name) {
  for (const LongLaunch& launch : LongLaunches()) {
    if (launch.name == name) return launch;
  }
  ADD_FAILURE() << "no launch is called " << name;
  return {};
}

class EngineStopTest : public ::testing::Test {
 protected:
  static EngineOptions OneLane() {
    EngineOptions options;
    options.lanes_per_device = 1;
    return options;
  }

  // A run of it, to be started.
  std::unique_ptr<TestRun> RunOf(EngineHarness& harness,
                                 const LongLaunch& launch) {
    auto graph = harness.MustSubmit(launch.name, launch.graph.definition());
    auto run = std::make_unique<TestRun>(std::move(graph), harness.engine(),
                                         Ones(launch.shape));
    run->execution().inputs[0].shape = launch.shape;
    return run;
  }

  // The lane is free, and what an interrupted launch left does no harm.
  void ExpectLaneWorks(EngineHarness& harness) {
    const absl::Time start = absl::Now();
    TestRun run(harness.MustSubmit("small", AddChain(3, 1)), harness.engine(),
                {1, 1, 1, 1});
    run.Start();
    EXPECT_THAT(run.Output(), Each(4));
    EXPECT_LT(absl::Now() - start, Bound());
  }

  HostWorkerPool workers_{2};
  HostServices services_{.workers = &workers_};
  std::unique_ptr<Backend> cpu_ = MakeCpuBackend(services_);
};

TEST_F(EngineStopTest, ADeadlineEndsALaunchOfAnyKind) {
  for (const LongLaunch& launch : LongLaunches()) {
    SCOPED_TRACE(launch.name);
    EngineHarness harness({cpu_.get()}, {kCpu0}, OneLane());
    const std::unique_ptr<TestRun> run = RunOf(harness, launch);
    const absl::Time start = absl::Now();
    run->execution().deadline = start + kTimeout;
    run->Start();
    EXPECT_THAT(run->Wait(),
                StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("")));
    EXPECT_LT(absl::Now() - start, Bound());
    EXPECT_TRUE(run->execution().outputs.empty());
    ExpectLaneWorks(harness);
  }
}

TEST_F(EngineStopTest, ACancellationEndsALaunch) {
  EngineHarness harness({cpu_.get()}, {kCpu0}, OneLane());
  const std::unique_ptr<TestRun> run =
      RunOf(harness, {"pool", {1, 1, 768, 768}, WidePool()});
  run->Start();
  while (harness.StatusOf(kCpu0).in_flight == 0) std::this_thread::yield();
  const absl::Time start = absl::Now();
  harness.engine().Cancel(run->execution());
  EXPECT_THAT(run->Wait(),
              StatusIs(absl::StatusCode::kCancelled, HasSubstr("")));
  EXPECT_LT(absl::Now() - start, Bound());
  ExpectLaneWorks(harness);
}

TEST_F(EngineStopTest, TheLimitOfALaneEndsALaunchThatWasUnderestimated) {
  EngineOptions options = OneLane();
  options.max_execution_time = absl::Seconds(1);
  EngineHarness harness({cpu_.get()}, {kCpu0}, options);
  // Its time follows from the data, so that it is taken for a short one.
  const std::unique_ptr<TestRun> run =
      RunOf(harness, Named("NonMaxSuppression"));
  const absl::Time start = absl::Now();
  run->Start();
  EXPECT_THAT(run->Wait(), StatusIs(absl::StatusCode::kDeadlineExceeded,
                                    HasSubstr("max_execution_time")));
  EXPECT_LT(absl::Now() - start, options.max_execution_time + Bound());
  ExpectLaneWorks(harness);
}

// Its own second run is whole again.
TEST_F(EngineStopTest, ARunThatWasStoppedLeavesTheNextOneRight) {
  EngineHarness harness({cpu_.get()}, {kCpu0}, OneLane());
  const TestGraph graph = TestGraph()
                              .Input("x", kF32, {800, 800})
                              .Node("MatMul", {"x", "x"}, {"y"})
                              .Output("y");
  const std::unique_ptr<TestRun> run =
      RunOf(harness, {"product", {800, 800}, graph});
  run->Start();
  harness.engine().Cancel(run->execution());
  run->Wait();
  const std::unique_ptr<TestRun> next =
      RunOf(harness, {"product", {800, 800}, graph});
  next->Start();
  EXPECT_THAT(next->Output(), Each(800));
}

}  // namespace
}  // namespace tensord
