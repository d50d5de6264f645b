// Ifs whose branches become part of a stage, or of a graph that then needs no
// stages.

#include <memory>
#include <utility>
#include <vector>

#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/host_worker_pool.h"
#include "engine/profile/trace_buffer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/execution_rig.h"
#include "tests/support/matchers.h"

namespace tensord {
namespace {

constexpr DType kF32 = DType::kFloat32;
constexpr DType kI64 = DType::kInt64;
constexpr DType kBool = DType::kBool;

TestTensor Bool(bool truth) { return Tensor<bool>(Shape(), {truth}); }

class InlinedIfTest : public testing::Test {
 protected:
  std::vector<TestTensor> Outputs(const TestGraph& graph,
                                  const std::vector<TestTensor>& inputs) {
    auto outputs = rig_.Outputs(graph, inputs);
    EXPECT_THAT(outputs, IsOk());
    return outputs.ok() ? *std::move(outputs) : std::vector<TestTensor>(9);
  }

  HostWorkerPool workers_{2};
  std::unique_ptr<Backend> backend_ =
      MakeCpuBackend({.workers = &workers_}, {});
  ExecutionRig rig_{*backend_, &workers_};
};

// y = -x where x has three elements, else x + x.
TestGraph DecidedByShape() {
  return TestGraph()
      .Input("x", kF32, {"N"})
      .Constant("three", Tensor<int64_t>({1}, {3}))
      .Node("Shape", {"x"}, {"extents"})
      .Node("Equal", {"extents", "three"}, {"c"})
      .Node("If", {"c"}, {"y"},
            {{"then_branch",
              TestGraph().Node("Neg", {"x"}, {"t"}).Output("t").body()},
             {"else_branch",
              TestGraph().Node("Add", {"x", "x"}, {"e"}).Output("e").body()}})
      .Output("y");
}

TEST_F(InlinedIfTest, AnIfThatShapesDecideIsNoControlFlow) {
  EXPECT_EQ(rig_.Plan(DecidedByShape(), {Shape({3})})->flow, nullptr);
  EXPECT_THAT(Outputs(DecidedByShape(), {Tensor({3}, {1, 2, 3})})[0],
              Near({-1, -2, -3}, 0));
  EXPECT_THAT(Outputs(DecidedByShape(), {Tensor({2}, {1, 2})})[0],
              Near({2, 4}, 0));
}

TEST_F(InlinedIfTest, AClientMayLeaveThePassOut) {
  rig_.options().disabled_passes = {"inline_branches"};
  EXPECT_NE(rig_.Plan(DecidedByShape(), {Shape({3})})->flow, nullptr);
  EXPECT_THAT(Outputs(DecidedByShape(), {Tensor({3}, {1, 2, 3})})[0],
              Near({-1, -2, -3}, 0));
}

// What the data decides, in a branch that shapes decide.
TEST_F(InlinedIfTest, AnInnerIfStaysWhereOnlyTheDataCanTell) {
  const Attribute inner_then =
      TestGraph().Node("Neg", {"x"}, {"t"}).Output("t").body();
  const Attribute inner_else =
      TestGraph().Node("Abs", {"x"}, {"e"}).Output("e").body();
  const Attribute outer =
      TestGraph()
          .Node("Add", {"x", "x"}, {"twice"})
          .Node("If", {"c"}, {"chosen"},
                {{"then_branch", inner_then}, {"else_branch", inner_else}})
          .Node("Add", {"twice", "chosen"}, {"o"})
          .Output("o")
          .body();
  const TestGraph graph =
      TestGraph()
          .Input("c", kBool, {})
          .Input("x", kF32, {2})
          .Constant("yes", Bool(true))
          .Node("If", {"yes"}, {"y"},
                {{"then_branch", outer}, {"else_branch", inner_then}})
          .Output("y");
  for (const bool c : {true, false}) {
    EXPECT_THAT(Outputs(graph, {Bool(c), Tensor({2}, {-1, -2})})[0],
                Near({-1, -2}, 0));
    EXPECT_THAT(Outputs(graph, {Bool(c), Tensor({2}, {1, 2})})[0],
                c ? Near({1, 2}, 0) : Near({3, 6}, 0));
  }
}

// A branch gives a capture, a constant, one value twice, and what it computes;
// an output that nobody wants is in between.
TEST_F(InlinedIfTest, WhateverABranchGivesArrives) {
  const Attribute then_branch = TestGraph()
                                    .Constant("k", Tensor({1}, {7}))
                                    .Node("Neg", {"x"}, {"n"})
                                    .Node("Abs", {"n"}, {"a"})
                                    .Output("x")
                                    .Output("k")
                                    .Output("n")
                                    .Output("a")
                                    .Output("a")
                                    .body();
  const Attribute else_branch = TestGraph()
                                    .Node("Add", {"x", "x"}, {"s"})
                                    .Output("s")
                                    .Output("s")
                                    .Output("s")
                                    .Output("x")
                                    .Output("s")
                                    .body();
  const TestGraph graph =
      TestGraph()
          .Input("c", kBool, {})
          .Input("x", kF32, {1})
          .Node("If", {"c"}, {"capture", "constant", "", "once", "twice"},
                {{"then_branch", then_branch}, {"else_branch", else_branch}})
          .Output("capture")
          .Output("constant")
          .Output("once")
          .Output("twice");
  const std::vector<TestTensor> yes =
      Outputs(graph, {Bool(true), Tensor({1}, {-2})});
  EXPECT_THAT(yes[0], Near({-2}, 0));
  EXPECT_THAT(yes[1], Near({7}, 0));
  EXPECT_THAT(yes[2], Near({2}, 0));
  EXPECT_THAT(yes[3], Near({2}, 0));
  const std::vector<TestTensor> no =
      Outputs(graph, {Bool(false), Tensor({1}, {-2})});
  EXPECT_THAT(no[0], Near({-4}, 0));
  EXPECT_THAT(no[1], Near({-4}, 0));
  EXPECT_THAT(no[2], Near({-2}, 0));
  EXPECT_THAT(no[3], Near({-4}, 0));
}

// Both Ifs call their values the same.
TEST_F(InlinedIfTest, BranchesMayUseTheSameNames) {
  const auto branch = [](const char* op) {
    return TestGraph()
        .Constant("k", Tensor({1}, {op[0] == 'A' ? 10.0f : 3.0f}))
        .Node(op, {"x", "k"}, {"t"})
        .Node("Neg", {"t"}, {"u"})
        .Output("u")
        .body();
  };
  const TestGraph graph =
      TestGraph()
          .Input("c", kBool, {})
          .Input("d", kBool, {})
          .Input("x", kF32, {1})
          .Node(
              "If", {"c"}, {"p"},
              {{"then_branch", branch("Add")}, {"else_branch", branch("Mul")}},
              "first")
          .Node(
              "If", {"d"}, {"q"},
              {{"then_branch", branch("Mul")}, {"else_branch", branch("Add")}},
              "second")
          .Node("Sub", {"p", "q"}, {"y"})
          .Output("y");
  for (const bool c : {true, false}) {
    for (const bool d : {true, false}) {
      const float p = c ? -12 : -6, q = d ? -6 : -12;
      EXPECT_THAT(Outputs(graph, {Bool(c), Bool(d), Tensor({1}, {2})})[0],
                  Near({p - q}, 0));
    }
  }
}

TEST_F(InlinedIfTest, ABranchRunsTogetherWithWhatStandsAroundIt) {
  const TestGraph graph =
      TestGraph()
          .Input("c", kBool, {})
          .Input("x", kF32, {2})
          .Node("Exp", {"x"}, {"before"})
          .Node(
              "If", {"c"}, {"chosen"},
              {{"then_branch",
                TestGraph().Node("Neg", {"before"}, {"t"}).Output("t").body()},
               {"else_branch",
                TestGraph().Node("Abs", {"before"}, {"e"}).Output("e").body()}})
          .Node("Add", {"chosen", "x"}, {"y"})
          .Output("y");
  // One launch, when all of it is one chain.
  const std::shared_ptr<CompiledGraph> compiled =
      rig_.Compile(graph, {Shape(), Shape({2})});
  ASSERT_NE(compiled->flow, nullptr);
  op_profile::TraceBuffer trace(10);
  Execution execution;
  execution.inputs.push_back(rig_.Value(Bool(true)));
  execution.inputs.push_back(rig_.Value(Tensor({2}, {0, 0})));
  execution.trace = std::make_unique<op_profile::TraceBuffer>(10);
  ASSERT_THAT(rig_.Run(execution, compiled), IsOk());
  EXPECT_EQ(execution.trace->rows().size(), 1u);
  EXPECT_EQ(ExecutionRig::Floats(execution.outputs[0]),
            std::vector<float>({-1, -1}));
}

// Sixteen branches could be two to the sixteenth stages.
TEST_F(InlinedIfTest, ManyConditionsAtOnceAreNotAllRead) {
  TestGraph graph;
  constexpr int kCount = 16;
  std::vector<TestTensor> inputs;
  for (int i = 0; i < kCount; ++i) {
    graph.Input(absl::StrCat("c", i), kBool, {});
    inputs.push_back(Bool(i % 3 == 0));
  }
  graph.Input("x", kF32, {1});
  inputs.push_back(Tensor({1}, {1}));
  std::vector<std::string> terms;
  for (int i = 0; i < kCount; ++i) {
    terms.push_back(absl::StrCat("t", i));
    graph.Node("If", {absl::StrCat("c", i)}, {terms.back()},
               {{"then_branch",
                 TestGraph().Node("Neg", {"x"}, {"t"}).Output("t").body()},
                {"else_branch",
                 TestGraph().Node("Abs", {"x"}, {"e"}).Output("e").body()}});
  }
  graph.Node("Sum", terms, {"y"}).Output("y");
  EXPECT_THAT(Outputs(graph, inputs)[0], Near({16 - 2 * 6}, 0));
}

// The branch cannot be planned as a whole: its shapes follow from its data.
TEST_F(InlinedIfTest, ABranchThatNeedsStagesOfItsOwnIsLeftToThem) {
  const Attribute then_branch = TestGraph()
                                    .Constant("one", Tensor<int64_t>({1}, {1}))
                                    .Node("Add", {"rows", "one"}, {"more"})
                                    .Node("Expand", {"x", "more"}, {"t"})
                                    .Output("t")
                                    .body();
  const Attribute else_branch =
      TestGraph().Node("Neg", {"x"}, {"e"}).Output("e").body();
  const TestGraph graph =
      TestGraph()
          .Input("c", kBool, {})
          .Input("rows", kI64, {1})
          .Input("x", kF32, {1})
          .Node("Neg", {"x"}, {"z"})
          .Node("If", {"c"}, {"chosen"},
                {{"then_branch", then_branch}, {"else_branch", else_branch}})
          .Node("Add", {"chosen", "z"}, {"y"})
          .Output("y");
  EXPECT_THAT(Outputs(graph, {Bool(true), Tensor<int64_t>({1}, {2}),
                              Tensor({1}, {5})})[0],
              Near({0, 0, 0}, 0));
  EXPECT_THAT(Outputs(graph, {Bool(false), Tensor<int64_t>({1}, {2}),
                              Tensor({1}, {5})})[0],
              Near({-10}, 0));
}

}  // namespace
}  // namespace tensord
