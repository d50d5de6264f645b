#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/host_worker_pool.h"
#include "tests/support/execution_rig.h"
#include "tests/support/graphs.h"
#include "tests/support/matchers.h"
#include "tests/support/tensor.h"

namespace tensord {
namespace {

constexpr DType kF32 = DType::kFloat32;
constexpr int kRuns = 100;

using Ints = std::vector<int64_t>;

// Whatever cuts its sums into parts, or its work between threads: convolutions,
// products with and without constant operands, pools, reductions,
// normalizations, attention and a recurrent net, each on extents that do not
// divide evenly.
TestGraph Net() {
  return TestGraph()
      .Input("image", kF32, {2, 17, 33, 29})
      .Constant("w0", Pattern(kF32, {40, 17, 3, 3}, 1))
      .Constant("w1", Pattern(kF32, {40, 1, 3, 3}, 2))
      .Constant("w2", Pattern(kF32, {24, 40, 1, 1}, 3))
      .Node("Conv", {"image", "w0"}, {"a0"}, {{"pads", Ints{1, 1, 1, 1}}})
      .Node("Relu", {"a0"}, {"a1"})
      .Node("Conv", {"a1", "w1"}, {"a2"},
            {{"group", int64_t{40}}, {"strides", Ints{2, 2}}})
      .Node("Conv", {"a2", "w2"}, {"a3"})
      .Node("GlobalAveragePool", {"a3"}, {"pooled"})
      .Node("ReduceSum", {"a3"}, {"total"})
      .Input("rows", kF32, {3, 65, 72})
      .Constant("p0", Pattern(kF32, {72, 144}, 4))
      .Constant("gamma", Pattern(kF32, {144}, 5))
      .Node("MatMul", {"rows", "p0"}, {"b0"})
      .Node("LayerNormalization", {"b0", "gamma"}, {"b1"})
      .Node("Softmax", {"b1"}, {"b2"})
      .Node("Transpose", {"b2"}, {"b3"}, {{"perm", Ints{0, 2, 1}}})
      .Node("MatMul", {"b1", "b3"}, {"b4"})
      .Node("Attention", {"b1", "b1", "b1"}, {"b5"},
            {{"q_num_heads", int64_t{4}}, {"kv_num_heads", int64_t{4}}})
      .Constant("lw", Pattern(kF32, {1, 80, 144}, 6))
      .Constant("lr", Pattern(kF32, {1, 80, 20}, 7))
      .Node("LSTM", {"b5", "lw", "lr"}, {"b6"}, {{"hidden_size", int64_t{20}}})
      .Output("pooled")
      .Output("total")
      .Output("b4")
      .Output("b5")
      .Output("b6")
      .Opset(23);
}

TEST(Deterministic, AHundredRunsWithOneAndTwoThreadsAreBitEqual) {
  const std::vector<TestTensor> inputs = {Pattern(kF32, {2, 17, 33, 29}, 8),
                                          Pattern(kF32, {3, 65, 72}, 9)};
  std::vector<TestTensor> first;
  for (int threads : {1, 2}) {
    HostWorkerPool workers(threads);
    const std::unique_ptr<Backend> backend =
        MakeCpuBackend(HostServices{.workers = &workers});
    ExecutionRig rig(*backend, &workers);
    rig.options().deterministic = true;
    const auto compiled =
        rig.Compile(Net(), {inputs[0].shape, inputs[1].shape});
    for (int run = 0; run < kRuns; ++run) {
      const auto outputs = rig.PreparedOutputs(compiled, inputs);
      ASSERT_THAT(outputs, IsOk());
      if (first.empty()) first = *outputs;
      ASSERT_EQ(outputs->size(), first.size());
      for (size_t i = 0; i < first.size(); ++i) {
        ASSERT_TRUE((*outputs)[i] == first[i])
            << "output " << i << ", run " << run << ", threads " << threads;
      }
    }
  }
}

}  // namespace
}  // namespace tensord
