#include "engine/batch/prove_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/host_worker_pool.h"
#include "engine/batch/row_rules.h"
#include "tests/engine/batch/row_cases.h"
#include "tests/support/execution_rig.h"
#include "tests/support/tolerances.h"

namespace tensord {
namespace {

using ::testing::HasSubstr;

// One behind the other along dimension 0.
TestTensor Stack(const std::vector<TestTensor>& parts) {
  TestTensor whole = parts.front();
  Dims extents(whole.shape.extents().begin(), whole.shape.extents().end());
  for (size_t i = 1; i < parts.size(); ++i) {
    extents[0] += parts[i].shape[0];
    whole.bytes.insert(whole.bytes.end(), parts[i].bytes.begin(),
                       parts[i].bytes.end());
  }
  whole.shape = *Shape::Create(extents);
  return whole;
}

class ProveBatchTest : public ::testing::Test {
 protected:
  absl::StatusOr<std::shared_ptr<const Graph>> Built(const TestGraph& graph) {
    absl::StatusOr<Graph> built = BuildGraph(graph.definition(), limits_);
    if (!built.ok()) return built.status();
    return OpenBatch(std::make_shared<const Graph>(*std::move(built)));
  }

  absl::StatusOr<std::vector<RowKind>> Prove(const RowCase& test,
                                             int64_t rows) {
    auto graph = Built(test.graph());
    if (!graph.ok()) return graph.status();
    std::mt19937 draw(1);
    std::vector<Shape> request;
    for (const RowInput& input : test.inputs()) {
      request.push_back(RowsOf(input, 1, draw).shape);
    }
    return ProveBatch(**graph, request, rows, limits_,
                      rig_.environment().evaluator);
  }

  // Runs requests of `rows` rows each, apart and together.
  void ExpectAlike(const RowCase& test, const std::vector<int64_t>& rows,
                   std::mt19937& draw) {
    SCOPED_TRACE(test.name());
    std::vector<std::vector<TestTensor>> by_input(test.inputs().size());
    std::vector<std::vector<TestTensor>> apart;
    int64_t total = 0;
    for (int64_t count : rows) {
      std::vector<TestTensor> inputs;
      for (size_t i = 0; i < test.inputs().size(); ++i) {
        inputs.push_back(RowsOf(test.inputs()[i], count, draw));
        by_input[i].push_back(inputs.back());
      }
      ASSERT_THAT(Prove(test, count), IsOk());
      auto outputs = rig_.Outputs(test.graph(), inputs);
      ASSERT_THAT(outputs, IsOk());
      apart.push_back(*std::move(outputs));
      total += count;
    }
    std::vector<TestTensor> stacked;
    for (const auto& parts : by_input) stacked.push_back(Stack(parts));
    const auto kinds = Prove(test, total);
    ASSERT_THAT(kinds, IsOk());
    auto together = rig_.Outputs(test.graph(), stacked);
    ASSERT_THAT(together, IsOk());
    for (size_t o = 0; o < together->size(); ++o) {
      std::vector<TestTensor> parts;
      for (const auto& outputs : apart) parts.push_back(outputs[o]);
      const TestTensor expected =
          (*kinds)[o] == RowKind::kFixed ? parts[0] : Stack(parts);
      EXPECT_THAT((*together)[o],
                  IsNear(expected, ToleranceFor(expected.dtype,
                                                OpFamily::kContraction, 64)));
    }
  }

  GraphLimits limits_;
  HostWorkerPool workers_{2};
  std::unique_ptr<Backend> cpu_ = MakeCpuBackend({.workers = &workers_}, {});
  ExecutionRig rig_{*cpu_, &workers_};
};

TEST_F(ProveBatchTest, WhatIsProvenRunsTogetherAsItRunsApart) {
  std::mt19937 draw(7);
  for (int round = 0; round < 3; ++round) {
    for (const RowCase& test : ProvenCases(draw)) {
      ExpectAlike(test, {1, 2, 1}, draw);
    }
  }
}

TEST_F(ProveBatchTest, EveryRuleHasACase) {
  std::mt19937 draw(7);
  std::set<std::string> covered;
  for (const RowCase& test : ProvenCases(draw)) {
    covered.insert(test.ops().begin(), test.ops().end());
  }
  for (int op = 0; op < kOnnxOpKindCount; ++op) {
    const auto kind = static_cast<OpKind>(op);
    if (FindRowRule(kind) == nullptr) continue;
    EXPECT_TRUE(covered.contains(std::string(OpKindName(kind))))
        << OpKindName(kind);
  }
}

TEST_F(ProveBatchTest, WhatMixesRequestsIsRefused) {
  for (const RefusedCase& test : RefusedCases()) {
    SCOPED_TRACE(test.graph.name());
    bool is_refused = false;
    for (int64_t rows : {1, 2, 3, 8}) {
      const auto kinds = Prove(test.graph, rows);
      if (kinds.ok()) continue;
      is_refused = true;
      EXPECT_THAT(kinds.status().message(), HasSubstr(test.reason));
    }
    EXPECT_TRUE(is_refused);
    EXPECT_FALSE(Prove(test.graph, 8).ok());
  }
}

TEST_F(ProveBatchTest, ABatchOfOneThatTheClientFixedIsOpened) {
  const TestGraph graph = TestGraph()
                              .Input("x", DType::kFloat32, {1, 3})
                              .Constant("w", Pattern(DType::kFloat32, {3, 2}))
                              .Node("MatMul", {"x", "w"}, {"y"})
                              .Output("y");
  const auto open = Built(graph);
  ASSERT_THAT(open, IsOk());
  EXPECT_THAT(ProveBatch(**open, {Shape{1, 3}}, 5, limits_, nullptr), IsOk());
}

TEST_F(ProveBatchTest, AConstantShapeThatFixesTheBatchEndsTheProof) {
  const TestGraph graph = TestGraph()
                              .Input("x", DType::kFloat32, {1, 4})
                              .Constant("to", Tensor<int64_t>({2}, {1, 4}))
                              .Node("Reshape", {"x", "to"}, {"y"}, {}, "r")
                              .Output("y");
  const auto open = Built(graph);
  ASSERT_THAT(open, IsOk());
  EXPECT_THAT(ProveBatch(**open, {Shape{1, 4}}, 5, limits_, nullptr),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'r'")));
}

TEST_F(ProveBatchTest, AnInputWithoutABatchIsRefused) {
  const auto refused = [&](std::vector<TestGraph::Extent> extents) {
    return Built(TestGraph()
                     .Input("x", DType::kFloat32, {"n", 3})
                     .Input("z", DType::kFloat32, std::move(extents))
                     .Node("Add", {"x", "z"}, {"y"})
                     .Output("y"))
        .status();
  };
  using absl::StatusCode;
  EXPECT_THAT(refused({}), StatusIs(StatusCode::kFailedPrecondition,
                                    HasSubstr("input 'z' has no dimension")));
  EXPECT_THAT(refused({7, 3}),
              StatusIs(StatusCode::kFailedPrecondition,
                       HasSubstr("'z' fixes its leading extent at 7")));
  EXPECT_THAT(refused({1, 3}), StatusIs(StatusCode::kFailedPrecondition,
                                        HasSubstr("1 of 2 inputs")));
}

// Rows are told from a batch's size by rules, not by numbers that agree.
TEST_F(ProveBatchTest, TheSizeOfABatchInAnotherPlaceIsNoRow) {
  const TestGraph graph = TestGraph()
                              .Input("x", DType::kFloat32, {"n", "n"})
                              .Node("Relu", {"x"}, {"y"})
                              .Output("y");
  const auto open = Built(graph);
  ASSERT_THAT(open, IsOk());
  EXPECT_FALSE(ProveBatch(**open, {Shape{1, 1}}, 4, limits_, nullptr).ok());
}

}  // namespace
}  // namespace tensord
