// What kernels make of a graph before its runs is bounded, like a run.

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/cpu/cpu_backend.h"
#include "engine/engine.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/engine_harness.h"
#include "tests/support/graphs.h"
#include "tests/support/matchers.h"

namespace tensord {
namespace {

using ::testing::HasSubstr;

constexpr DeviceId kCpu0{BackendId::kCpu, 0};

// Sums of transforms of lengths that are no products of small primes: each of
// them takes tables of some 2.5 MB. What they write is small and goes away.
TestGraph Transforms(int count) {
  TestGraph graph;
  graph.Input("x", DType::kFloat32, {1, 64, 1});
  std::vector<std::string> sums;
  for (int i = 0; i < count; ++i) {
    const std::string id = absl::StrCat(i);
    graph.Constant("length" + id, Tensor<int64_t>(Shape(), {40009 + 2 * i}))
        .Node("DFT", {"x", "length" + id}, {"y" + id})
        .Node("ReduceSum", {"y" + id}, {"sum" + id},
              {{"keepdims", int64_t{0}}});
    sums.push_back("sum" + id);
  }
  return graph.Node("Sum", sums, {"sum"}).Output("sum");
}

class EngineStateLimitTest : public ::testing::Test {
 protected:
  absl::Status Run(int count) {
    EngineOptions options;
    options.max_peak_bytes = uint64_t{64} << 20;
    EngineHarness harness({cpu_.get()}, {kCpu0}, options);
    const auto submitted =
        harness.Submit("dft", Transforms(count).definition());
    // Its extents are known, so that it is compiled right away.
    if (!submitted.ok()) return submitted.status();
    TestRun run(submitted->graph, harness.engine(), std::vector<float>(64, 1));
    run.execution().inputs[0].shape = Shape({1, 64, 1});
    run.Start();
    return run.Wait();
  }

  HostWorkerPool workers_{2};
  std::unique_ptr<Backend> cpu_ =
      MakeCpuBackend(HostServices{.workers = &workers_});
};

TEST_F(EngineStateLimitTest, AFewTransformsHaveTheirTables) {
  EXPECT_THAT(Run(4), IsOk());
}

TEST_F(EngineStateLimitTest, AHundredTransformsAreRefused) {
  EXPECT_THAT(Run(100), StatusIs(absl::StatusCode::kResourceExhausted,
                                 HasSubstr("before its runs")));
}

}  // namespace
}  // namespace tensord
