#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/host_worker_pool.h"
#include "tests/support/execution_rig.h"
#include "tests/support/graphs.h"
#include "tests/support/matchers.h"
#include "tests/support/tensor.h"

namespace tensord {
namespace {

// A client may leave out any output of a node but the last one that it names:
// TopK with ["", "indices"]. Kernels write to all of them.

constexpr DType kF32 = DType::kFloat32;

using Ints = std::vector<int64_t>;

struct SeveralOutputs {
  std::string op;
  std::vector<TestTensor> inputs;
  std::vector<TestTensor> constants;  // behind the inputs
  int output_count;
  std::vector<std::pair<std::string, Attribute>> attributes = {};
  int64_t opset = 17;
};

void PrintTo(const SeveralOutputs& test, std::ostream* out) { *out << test.op; }

std::vector<SeveralOutputs> AllOperators() {
  const TestTensor image = Pattern(kF32, {1, 2, 4, 4});
  return {
      {"TopK", {Pattern(kF32, {2, 5})}, {Tensor<int64_t>({1}, {3})}, 2},
      {"Split",
       {Pattern(kF32, {2, 6})},
       {Tensor<int64_t>({3}, {1, 2, 3})},
       3,
       {{"axis", int64_t{1}}}},
      {"MaxPool", {image}, {}, 2, {{"kernel_shape", Ints{2, 2}}}},
      {"Dropout", {image}, {}, 2},
      {"DynamicQuantizeLinear", {image}, {}, 3},
      {"LayerNormalization", {image}, {Pattern(kF32, {4}, 2)}, 3},
      {"LSTM",
       {Pattern(kF32, {3, 2, 4})},
       {Pattern(kF32, {1, 12, 4}, 2), Pattern(kF32, {1, 12, 3}, 3)},
       3,
       {{"hidden_size", int64_t{3}}}},
      {"GRU",
       {Pattern(kF32, {3, 2, 4})},
       {Pattern(kF32, {1, 9, 4}, 2), Pattern(kF32, {1, 9, 3}, 3)},
       2,
       {{"hidden_size", int64_t{3}}}},
      {"RNN",
       {Pattern(kF32, {3, 2, 4})},
       {Pattern(kF32, {1, 3, 4}, 2), Pattern(kF32, {1, 3, 3}, 3)},
       2,
       {{"hidden_size", int64_t{3}}}},
      {"Unique", {Tensor({6}, {2, 1, 1, 3, 4, 3})}, {}, 4},
      {"Attention",
       {Pattern(kF32, {1, 2, 3, 4}), Pattern(kF32, {1, 2, 5, 4}, 2),
        Pattern(kF32, {1, 2, 5, 4}, 3), Pattern(kF32, {3, 7}, 4),
        Pattern(kF32, {1, 2, 2, 4}, 5), Pattern(kF32, {1, 2, 2, 4}, 6)},
       {},
       4,
       {},
       23},
  };
}

class LeftOutOutputs : public testing::TestWithParam<SeveralOutputs> {
 protected:
  // The outputs of the node that are in `named`, run as a graph.
  std::vector<TestTensor> Run(const std::vector<int>& named) {
    const SeveralOutputs& test = GetParam();
    TestGraph graph;
    std::vector<std::string> inputs;
    for (const TestTensor& input : test.inputs) {
      inputs.push_back(absl::StrCat("x", inputs.size()));
      graph.Input(inputs.back(), input.dtype,
                  {input.shape.extents().begin(), input.shape.extents().end()});
    }
    for (const TestTensor& constant : test.constants) {
      inputs.push_back(absl::StrCat("c", inputs.size()));
      graph.Constant(inputs.back(), constant);
    }
    std::vector<std::string> outputs(test.output_count);
    for (int i : named) {
      outputs[i] = absl::StrCat("y", i);
      graph.Output(outputs[i]);
    }
    graph.Node(test.op, inputs, outputs, test.attributes);
    graph.Opset(test.opset);
    auto results = rig_.Outputs(graph, test.inputs);
    EXPECT_THAT(results, IsOk());
    return results.ok() ? *std::move(results) : std::vector<TestTensor>();
  }

 private:
  HostWorkerPool workers_{2};
  std::unique_ptr<Backend> backend_ =
      MakeCpuBackend(HostServices{.workers = &workers_});
  ExecutionRig rig_{*backend_, &workers_};
};

TEST_P(LeftOutOutputs, TheOthersAreWhatTheyAre) {
  std::vector<int> all;
  for (int i = 0; i < GetParam().output_count; ++i) all.push_back(i);
  const std::vector<TestTensor> whole = Run(all);
  ASSERT_EQ(whole.size(), all.size());
  for (int i : all) {
    EXPECT_THAT(Run({i}), testing::ElementsAre(whole[i])) << "output " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(All, LeftOutOutputs, testing::ValuesIn(AllOperators()),
                         [](const auto& info) { return info.param.op; });

}  // namespace
}  // namespace tensord
