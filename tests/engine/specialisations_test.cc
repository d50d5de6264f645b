// One graph, compiled for many lengths: what that shares, and what it may take.

#include <memory>
#include <thread>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "backends/cpu/cpu_backend.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/engine_harness.h"
#include "tests/support/fake_backend.h"
#include "tests/support/graphs.h"
#include "tests/support/matchers.h"

namespace tensord {
namespace {

using ::testing::Each;
using ::testing::SizeIs;

constexpr DeviceId kCpu0{BackendId::kCpu, 0};
constexpr DeviceId kFake0{BackendId::kVulkan, 0};

class SpecialisationsTest : public ::testing::Test {
 protected:
  HostWorkerPool workers_{2};
  HostServices services_{.workers = &workers_};
  std::unique_ptr<Backend> cpu_ = MakeCpuBackend(services_);
};

// Of what other threads are about to do. False when they do not.
bool ComesTrue(absl::FunctionRef<bool()> claim) {
  const absl::Time deadline = absl::Now() + absl::Seconds(20);
  while (!claim()) {
    if (absl::Now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

// y [1, 128, n, 32] of x [1, 128, n, 32], with 576 KiB of weights, which every
// kernel packs.
constexpr uint64_t kWeightBytes = uint64_t{128} * 128 * 9 * sizeof(float);

GraphDef Convolution(float weight) {
  return TestGraph()
      .Input("x", DType::kFloat32, {1, 128, "n", 32})
      .Constant("w", Tensor({128, 128, 3, 3},
                            std::vector<float>(128 * 128 * 9, weight)))
      .Node("Conv", {"x", "w"}, {"y"},
            {{"pads", std::vector<int64_t>{1, 1, 1, 1}}})
      .Output("y")
      .definition();
}

// The bytes of compiled graphs beyond those of the submitted ones, when the
// graph has been compiled for these lengths.
uint64_t CompiledBytes(EngineHarness& harness, const GraphId& id,
                       const std::vector<int64_t>& lengths) {
  const uint64_t before = harness.engine().CacheStats().bytes;
  std::vector<std::vector<Shape>> shapes;
  for (int64_t n : lengths) shapes.push_back({Shape({1, 128, n, 32})});
  EXPECT_THAT(harness.Submit(id, Convolution(1), "bob", shapes), IsOk());
  return harness.engine().CacheStats().bytes - before;
}

TEST_F(SpecialisationsTest, FurtherLengthsTakeNoFurtherWeights) {
  EngineHarness harness({cpu_.get()}, {kCpu0});
  harness.MustSubmit("a", Convolution(1));
  const uint64_t one = CompiledBytes(harness, "a", {32});
  EXPECT_GE(one, kWeightBytes) << "packed weights are counted";
  // How wide a part's output channels are, and so how weights are packed,
  // depends on the machine; but a few forms serve all lengths.
  std::vector<int64_t> lengths;
  for (int64_t n = 33; n < 73; ++n) lengths.push_back(n);
  EXPECT_LT(CompiledBytes(harness, "a", lengths), 10 * kWeightBytes);
  EXPECT_LT(harness.StatusOf(kCpu0).allocated_bytes, 10 * kWeightBytes);
}

TEST_F(SpecialisationsTest, GraphsWithTheSameWeightsShareThemPacked) {
  EngineHarness harness({cpu_.get()}, {kCpu0});
  harness.MustSubmit("a", Convolution(1));
  harness.MustSubmit("b", Convolution(1));
  EXPECT_GE(CompiledBytes(harness, "a", {32}), kWeightBytes);
  EXPECT_LT(CompiledBytes(harness, "b", {32}), kWeightBytes);
}

TEST_F(SpecialisationsTest, ADeletedGraphLeavesNoPackedWeights) {
  EngineHarness harness({cpu_.get()}, {kCpu0});
  CompiledBytes(harness, "a", {32, 64});
  EXPECT_GE(harness.StatusOf(kCpu0).allocated_bytes, kWeightBytes);
  ASSERT_THAT(harness.engine().DeleteGraph("a", "bob"), IsOk());
  // The compiler's thread may still hold what it answered with.
  EXPECT_TRUE(
      ComesTrue([&] { return harness.StatusOf(kCpu0).allocated_bytes == 0; }));
  EXPECT_EQ(harness.engine().CacheStats().bytes, 0);
}

// A transform's tables are as long as the signal.
TEST_F(SpecialisationsTest, TablesOfAKernelAreCounted) {
  EngineHarness harness({cpu_.get()}, {kCpu0});
  harness.MustSubmit("a", TestGraph()
                              .Input("x", DType::kFloat32, {1, "n", 1})
                              .Node("DFT", {"x"}, {"y"})
                              .Output("y")
                              .definition());
  const uint64_t before = harness.engine().CacheStats().bytes;
  constexpr int64_t kLength = 1 << 16;
  EXPECT_THAT(harness.Submit("a", {}, "ann", {{Shape({1, kLength, 1})}}),
              IsOk());
  EXPECT_GE(harness.engine().CacheStats().bytes - before,
            kLength * 2 * sizeof(float));
}

TEST_F(SpecialisationsTest, AThousandLengthsStayWithinTheBudget) {
  EngineOptions options;
  options.graph_cache_bytes = 1 << 20;
  options.pipelined_compile = false;
  // What is above the budget goes right behind the answer.
  constexpr uint64_t kOneGraph = 64 << 10;
  EngineHarness harness({cpu_.get()}, {kCpu0}, options);
  const auto graph = harness.MustSubmit("a", AddChain(4, 1, 0));
  for (int64_t length = 1; length <= 1000; ++length) {
    TestRun run(graph, harness.engine(), std::vector<float>(length, 2));
    run.Start();
    ASSERT_THAT(run.Output(), Each(6)) << length;
    ASSERT_LE(harness.engine().CacheStats().bytes,
              options.graph_cache_bytes + kOneGraph)
        << length;
  }
  const GraphCacheStats stats = harness.engine().CacheStats();
  EXPECT_EQ(stats.misses, 1000);
  EXPECT_GT(stats.evictions, 0);
  EXPECT_EQ(stats.evictions + stats.compiled_graphs, 1000);
}

TEST_F(SpecialisationsTest, ARunOutlivesTheEvictionOfWhatItRuns) {
  FakeBackend fake(BackendId::kVulkan);
  EngineOptions options;
  options.graph_cache_bytes = 1;  // the latest alone is kept
  EngineHarness harness({&fake}, {kFake0}, options);
  const auto graph = harness.MustSubmit("a", AddChain(4, 1, 0));
  TestRun first(graph, harness.engine(), std::vector<float>(5, 2));
  first.Start();  // uploads the weights
  EXPECT_THAT(first.Output(), Each(6));
  TestRun run(graph, harness.engine(), std::vector<float>(5, 2));
  {
    FakePause pause(fake.control(0));
    run.Start();
    ASSERT_TRUE(
        ComesTrue([&] { return harness.StatusOf(kFake0).in_flight > 0; }));
    std::vector<std::vector<Shape>> others;
    for (int64_t n = 6; n < 30; ++n) others.push_back({Shape({n})});
    ASSERT_THAT(harness.Submit("a", {}, "ann", others), IsOk());
    EXPECT_TRUE(ComesTrue(
        [&] { return harness.engine().CacheStats().compiled_graphs == 1; }));
    EXPECT_FALSE(run.is_done());
  }
  EXPECT_THAT(run.Output(), Each(6));
  EXPECT_THAT(run.Output(), SizeIs(5));
}

}  // namespace
}  // namespace tensord
