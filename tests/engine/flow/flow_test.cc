#include <memory>
#include <vector>

#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/host_worker_pool.h"
#include "engine/graph/graph_builder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/execution_rig.h"
#include "tests/support/matchers.h"

namespace tensord {
namespace {

using testing::HasSubstr;

constexpr DType kF32 = DType::kFloat32;
constexpr DType kI64 = DType::kInt64;
constexpr DType kBool = DType::kBool;

// Graphs whose path follows from the data, on the CPU; with branches that are
// put into stages, and without.
class FlowTest : public testing::TestWithParam<bool> {
 protected:
  FlowTest() {
    if (!GetParam()) rig_.options().disabled_passes = {"inline_branches"};
  }

  TestTensor First(const TestGraph& graph, std::vector<TestTensor> inputs) {
    auto outputs = rig_.Outputs(graph, inputs);
    EXPECT_THAT(outputs, IsOk());
    return outputs.ok() ? outputs->front() : TestTensor{};
  }

  HostWorkerPool workers_{2};
  std::unique_ptr<Backend> backend_ =
      MakeCpuBackend({.workers = &workers_}, {});
  ExecutionRig rig_{*backend_, &workers_};
};

TestTensor Bool(bool truth) { return Tensor<bool>(Shape(), {truth}); }
TestTensor Int(int64_t number) { return Tensor<int64_t>(Shape(), {number}); }

TestGraph Branches() {
  return TestGraph()
      .Input("c", kBool, {})
      .Input("x", kF32, {"N"})
      .Node("If", {"c"}, {"y"},
            {{"then_branch",
              TestGraph().Node("Neg", {"x"}, {"t"}).Output("t").body()},
             {"else_branch",
              TestGraph().Node("Add", {"x", "x"}, {"e"}).Output("e").body()}})
      .Output("y");
}

TEST_P(FlowTest, IfRunsTheBranchThatItsConditionNames) {
  EXPECT_THAT(First(Branches(), {Bool(true), Tensor({2}, {1, 2})}),
              Near({-1, -2}, 0));
  EXPECT_THAT(First(Branches(), {Bool(false), Tensor({2}, {1, 2})}),
              Near({2, 4}, 0));
}

TEST_P(FlowTest, NodesBeforeAndAfterABranchRunInStages) {
  const TestGraph graph =
      TestGraph()
          .Input("c", kBool, {})
          .Input("x", kF32, {3})
          .Node("Mul", {"x", "x"}, {"square"})
          .Node(
              "If", {"c"}, {"chosen"},
              {{"then_branch",
                TestGraph().Node("Neg", {"square"}, {"t"}).Output("t").body()},
               {"else_branch",
                TestGraph().Node("Identity", {"x"}, {"e"}).Output("e").body()}})
          .Node("Add", {"chosen", "x"}, {"y"})
          .Output("y");
  EXPECT_THAT(First(graph, {Bool(true), Tensor({3}, {1, 2, 3})}),
              Near({0, -2, -6}, 0));
  EXPECT_THAT(First(graph, {Bool(false), Tensor({3}, {1, 2, 3})}),
              Near({2, 4, 6}, 0));
}

// sum += i, collected before each addition.
TestGraph Counting() {
  const Attribute body = TestGraph()
                             .Formal("i")
                             .Formal("go")
                             .Formal("sum")
                             .Node("Add", {"sum", "i"}, {"next"})
                             .Node("Identity", {"go"}, {"again"})
                             .Output("again")
                             .Output("next")
                             .Output("sum")
                             .body();
  return TestGraph()
      .Input("n", kI64, {})
      .Input("start", kI64, {})
      .Node("Loop", {"n", "", "start"}, {"total", "trail"}, {{"body", body}})
      .Output("total")
      .Output("trail");
}

TEST_P(FlowTest, ALoopCarriesItsStateAndCollectsItsScanOutputs) {
  auto outputs = rig_.Outputs(Counting(), {Int(4), Int(10)});
  ASSERT_THAT(outputs, IsOk());
  EXPECT_THAT((*outputs)[0], Near({16}, 0));
  EXPECT_EQ((*outputs)[1].shape, Shape({4}));
  EXPECT_THAT((*outputs)[1], Near({10, 10, 11, 13}, 0));
}

TEST_P(FlowTest, ALoopOfNoTripsReturnsWhatItWasGiven) {
  auto outputs = rig_.Outputs(Counting(), {Int(0), Int(10)});
  ASSERT_THAT(outputs, IsOk());
  EXPECT_THAT((*outputs)[0], Near({10}, 0));
  EXPECT_EQ((*outputs)[1].shape, Shape({0}));
}

// The body declares neither dtype nor extents; inference knows both.
TEST_P(FlowTest, AScanOutputOfNoTripsHasTheExtentsOfOneSlice) {
  const Attribute body = TestGraph()
                             .Formal("i")
                             .Formal("go")
                             .Formal("x")
                             .Node("Identity", {"go"}, {"again"})
                             .Node("Neg", {"x"}, {"next"})
                             .Node("Shape", {"x"}, {"extents"})
                             .Node("Neg", {"x"}, {"each"})
                             .Output("again")
                             .Output("next")
                             .Output("each")
                             .Output("extents")
                             .body();
  const TestGraph graph = TestGraph()
                              .Input("n", kI64, {})
                              .Input("x", kF32, {"A", "B"})
                              .Node("Loop", {"n", "", "x"},
                                    {"y", "all", "shapes"}, {{"body", body}})
                              .Output("all")
                              .Output("shapes");
  for (const int64_t trips : {0, 2}) {
    auto outputs =
        rig_.Outputs(graph, {Int(trips), Tensor({2, 3}, {1, 2, 3, 4, 5, 6})});
    ASSERT_THAT(outputs, IsOk());
    EXPECT_EQ((*outputs)[0].shape, Shape({trips, 2, 3}));
    EXPECT_EQ((*outputs)[0].dtype, kF32);
    EXPECT_EQ((*outputs)[1].shape, Shape({trips, 2}));
    EXPECT_EQ((*outputs)[1].dtype, kI64);
  }
}

TEST_P(FlowTest, AScanOfNothingHasTheExtentsOfOneSlice) {
  const Attribute body = TestGraph()
                             .Formal("state")
                             .Formal("slice")
                             .Node("Neg", {"state"}, {"next"})
                             .Node("Neg", {"slice"}, {"each"})
                             .Output("next")
                             .Output("each")
                             .body();
  const TestGraph graph =
      TestGraph()
          .Input("s", kF32, {1})
          .Input("x", kF32, {"A", "B"})
          .Node("Scan", {"s", "x"}, {"last", "all"},
                {{"body", body},
                 {"num_scan_inputs", int64_t{1}},
                 {"scan_input_axes", std::vector<int64_t>{1}}})
          .Output("last")
          .Output("all");
  for (const int64_t length : {0, 2}) {
    auto outputs = rig_.Outputs(
        graph, {Tensor({1}, {1}), Pattern(kF32, Shape({3, length}))});
    ASSERT_THAT(outputs, IsOk());
    EXPECT_THAT((*outputs)[0], Near({1}, 0));
    EXPECT_EQ((*outputs)[1].shape, Shape({length, 3}));
  }
}

TEST_P(FlowTest, ALoopEndsWhenItsBodySaysSo) {
  // Doubles until the value is 100 or more.
  const Attribute body =
      TestGraph()
          .Constant("limit", Tensor<float>(Shape(), {100}))
          .Formal("i")
          .Formal("go")
          .Formal("x")
          .Node("Add", {"x", "x"}, {"twice"})
          .Node("Sub", {"limit", "twice"}, {"left"})
          .Node("Relu", {"left"}, {"more"})
          .Node("Cast", {"more"}, {"again"}, {{"to", int64_t{9}}})
          .Output("again")
          .Output("twice")
          .body();
  const TestGraph graph =
      TestGraph()
          .Input("x", kF32, {})
          .Node("Loop", {"", "", "x"}, {"y"}, {{"body", body}})
          .Output("y");
  EXPECT_THAT(First(graph, {Tensor<float>(Shape(), {3})}), Near({192}, 0));
}

TEST_P(FlowTest, ALoopWithoutEndEndsAtItsDeadline) {
  const Attribute body = TestGraph()
                             .Formal("i")
                             .Formal("go")
                             .Formal("x")
                             .Node("Identity", {"x"}, {"same"})
                             .Node("Identity", {"go"}, {"again"})
                             .Output("again")
                             .Output("same")
                             .body();
  const TestGraph graph =
      TestGraph()
          .Input("x", kF32, {})
          .Node("Loop", {"", "", "x"}, {"y"}, {{"body", body}})
          .Output("y");
  EXPECT_THAT(rig_.Outputs(graph, {Tensor<float>(Shape(), {3})},
                           absl::Now() + absl::Milliseconds(50)),
              StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("")));
}

TEST_P(FlowTest, WhatALoopCollectsIsBounded) {
  rig_.environment().max_peak_bytes = 64 << 10;
  const Attribute body = TestGraph()
                             .Formal("i")
                             .Formal("go")
                             .Formal("x")
                             .Node("Identity", {"go"}, {"again"})
                             .Node("Add", {"x", "x"}, {"next"})
                             .Output("again")
                             .Output("next")
                             .Output("x")
                             .body();
  const TestGraph graph =
      TestGraph()
          .Input("x", kF32, {1024})
          .Node("Loop", {"", "", "x"}, {"y", "all"}, {{"body", body}})
          .Output("all");
  EXPECT_THAT(rig_.Outputs(graph, {Pattern(kF32, Shape({1024}))}),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("max_peak_bytes")));
}

TEST_P(FlowTest, ABodyInABodyCapturesThroughBoth) {
  const Attribute then_branch =
      TestGraph().Node("Add", {"sum", "step"}, {"t"}).Output("t").body();
  const Attribute else_branch =
      TestGraph().Node("Sub", {"sum", "step"}, {"e"}).Output("e").body();
  const Attribute body =
      TestGraph()
          .Formal("i")
          .Formal("go")
          .Formal("sum")
          .Node("If", {"up"}, {"next"},
                {{"then_branch", then_branch}, {"else_branch", else_branch}})
          .Node("Identity", {"go"}, {"again"})
          .Output("again")
          .Output("next")
          .body();
  const TestGraph graph =
      TestGraph()
          .Input("up", kBool, {})
          .Input("step", kF32, {2})
          .Constant("three", Int(3))
          .Constant("zero", Tensor({2}, {0, 0}))
          .Node("Loop", {"three", "", "zero"}, {"y"}, {{"body", body}})
          .Output("y");
  EXPECT_THAT(First(graph, {Bool(true), Tensor({2}, {1, 2})}), Near({3, 6}, 0));
  EXPECT_THAT(First(graph, {Bool(false), Tensor({2}, {1, 2})}),
              Near({-3, -6}, 0));
}

TEST_P(FlowTest, ScanRunsAlongItsAxisAndFromTheEnd) {
  // Running sums of the columns, from the last to the first.
  const Attribute body = TestGraph()
                             .Formal("sum")
                             .Formal("column")
                             .Node("Add", {"sum", "column"}, {"next"})
                             .Output("next")
                             .Output("next")
                             .body();
  const TestGraph graph =
      TestGraph()
          .Input("start", kF32, {2})
          .Input("x", kF32, {2, 3})
          .Node("Scan", {"start", "x"}, {"total", "sums"},
                {{"body", body},
                 {"num_scan_inputs", int64_t{1}},
                 {"scan_input_axes", std::vector<int64_t>{1}},
                 {"scan_input_directions", std::vector<int64_t>{1}},
                 {"scan_output_axes", std::vector<int64_t>{1}}})
          .Output("total")
          .Output("sums");
  auto outputs = rig_.Outputs(
      graph, {Tensor({2}, {0, 0}), Tensor({2, 3}, {1, 2, 3, 4, 5, 6})});
  ASSERT_THAT(outputs, IsOk());
  EXPECT_THAT((*outputs)[0], Near({6, 15}, 0));
  EXPECT_EQ((*outputs)[1].shape, Shape({2, 3}));
  EXPECT_THAT((*outputs)[1], Near({3, 5, 6, 6, 11, 15}, 0));
}

TEST_P(FlowTest, SequencesAreBuiltCutAndJoined) {
  const TestGraph graph =
      TestGraph()
          .Input("x", kF32, {4})
          .Input("at", kI64, {})
          .Node("SplitToSequence", {"x"}, {"parts"},
                {{"axis", int64_t{0}}, {"keepdims", int64_t{1}}})
          .Node("SequenceErase", {"parts", "at"}, {"fewer"})
          .Node("SequenceAt", {"parts", "at"}, {"taken"})
          .Node("SequenceInsert", {"fewer", "taken"}, {"moved"})
          .Node("SequenceLength", {"moved"}, {"length"})
          .Node("ConcatFromSequence", {"moved"}, {"y"}, {{"axis", int64_t{0}}})
          .Output("y")
          .Output("length");
  auto outputs = rig_.Outputs(graph, {Tensor({4}, {1, 2, 3, 4}), Int(-3)});
  ASSERT_THAT(outputs, IsOk());
  EXPECT_THAT((*outputs)[0], Near({1, 3, 4, 2}, 0));
  EXPECT_THAT((*outputs)[1], Near({4}, 0));
  EXPECT_THAT(rig_.Outputs(graph, {Tensor({4}, {1, 2, 3, 4}), Int(4)}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("position 4 in a sequence of 4")));
}

TEST_P(FlowTest, AnOptionalSaysWhetherItHoldsSomething) {
  const TestGraph graph = TestGraph()
                              .Input("x", kF32, {1})
                              .Node("Optional", {"x"}, {"some"})
                              .Node("Optional", {}, {"none"})
                              .Node("OptionalHasElement", {"some"}, {"has"})
                              .Node("OptionalHasElement", {"none"}, {"lacks"})
                              .Node("OptionalGetElement", {"some"}, {"y"})
                              .Output("has")
                              .Output("lacks")
                              .Output("y");
  auto outputs = rig_.Outputs(graph, {Tensor({1}, {7})});
  ASSERT_THAT(outputs, IsOk());
  EXPECT_THAT((*outputs)[0], Near({1}, 0));
  EXPECT_THAT((*outputs)[1], Near({0}, 0));
  EXPECT_THAT((*outputs)[2], Near({7}, 0));
}

TEST_P(FlowTest, AComputedShapeIsReadBeforeTheNextStage) {
  const TestGraph graph =
      TestGraph()
          .Input("x", kF32, {6})
          .Input("rows", kI64, {1})
          .Constant("rest", Tensor<int64_t>({1}, {-1}))
          .Node("Concat", {"rows", "rest"}, {"shape"}, {{"axis", int64_t{0}}})
          .Node("Reshape", {"x", "shape"}, {"r"})
          .Node("Neg", {"r"}, {"y"})
          .Output("y");
  const TestTensor x = Tensor({6}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(First(graph, {x, Tensor<int64_t>({1}, {2})}).shape, Shape({2, 3}));
  EXPECT_EQ(First(graph, {x, Tensor<int64_t>({1}, {3})}).shape, Shape({3, 2}));
  EXPECT_THAT(rig_.Outputs(graph, {x, Tensor<int64_t>({1}, {4})}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("4")));
}

TEST_P(FlowTest, ASteadyStatePlansNothing) {
  const std::shared_ptr<CompiledGraph> compiled =
      rig_.Compile(Counting(), {Shape(), Shape()});
  std::vector<int64_t> compile_ns;
  for (int run = 0; run < 3; ++run) {
    Execution execution;
    execution.inputs.push_back(rig_.Value(Int(5)));
    execution.inputs.push_back(rig_.Value(Int(run)));
    ASSERT_THAT(rig_.Run(execution, compiled), IsOk());
    compile_ns.push_back(
        execution.phase_ns[static_cast<size_t>(op_profile::Phase::kCompile)]);
  }
  EXPECT_GT(compile_ns[0], 0);
  EXPECT_EQ(compile_ns[1], 0);
  EXPECT_EQ(compile_ns[2], 0);
}

// A branch that gives an optional without a value, where the run before gave
// one.
TEST_P(FlowTest, AValueThatIsThereInOneRunMayBeAbsentInTheNext) {
  const TestGraph graph =
      TestGraph()
          .Input("c", kBool, {})
          .Input("x", kF32, {1})
          .Node(
              "If", {"c"}, {"o"},
              {{"then_branch",
                TestGraph().Node("Optional", {"x"}, {"t"}).Output("t").body()},
               {"else_branch",
                TestGraph().Node("Optional", {}, {"e"}).Output("e").body()}})
          .Node("OptionalHasElement", {"o"}, {"y"})
          .Output("y");
  const std::shared_ptr<CompiledGraph> compiled =
      rig_.Compile(graph, {Shape(), Shape({1})});
  for (const bool has : {true, false, true, false}) {
    Execution execution;
    execution.inputs.push_back(rig_.Value(Bool(has)));
    execution.inputs.push_back(rig_.Value(Tensor({1}, {3})));
    ASSERT_THAT(rig_.Run(execution, compiled), IsOk());
    EXPECT_EQ(execution.outputs[0].bytes.data()[0] != std::byte{0}, has);
  }
}

TEST_P(FlowTest, ASplitOfAnotherDtypeIsNotReadAsNumbers) {
  const TestGraph graph =
      TestGraph()
          .Input("x", kF32, {4})
          .Input("split", DType::kUInt8, {2})
          .Node("SplitToSequence", {"x", "split"}, {"parts"})
          .Node("SequenceLength", {"parts"}, {"y"})
          .Output("y");
  EXPECT_THAT(rig_.Outputs(graph, {Tensor({4}, {1, 2, 3, 4}),
                                   Tensor<uint8_t>({2}, {2, 2})}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("uint8")));
}

TEST_P(FlowTest, AnEmptyTensorIsNotCutWithoutEnd) {
  const TestGraph graph = TestGraph()
                              .Input("x", kF32, {"M", "N"})
                              .Node("SplitToSequence", {"x"}, {"parts"})
                              .Node("SequenceLength", {"parts"}, {"y"})
                              .Output("y");
  EXPECT_THAT(rig_.Outputs(graph, {Tensor(Shape({int64_t{1} << 40, 0}), {})}),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("1099511627776 parts")));
}

TEST_P(FlowTest, AWrongBodyIsRefusedByName) {
  const auto build = [](const TestGraph& graph) {
    return BuildGraph(graph.definition(), GraphLimits{}).status();
  };
  EXPECT_THAT(
      build(TestGraph()
                .Input("c", kBool, {})
                .Node("If", {"c"}, {"y"}, {}, "choice")
                .Output("y")),
      StatusIs(absl::StatusCode::kInvalidArgument,
               testing::AllOf(HasSubstr("choice"), HasSubstr("then_branch"))));
  EXPECT_THAT(
      build(
          TestGraph()
              .Input("c", kBool, {})
              .Node(
                  "If", {"c"}, {"y"},
                  {{"then_branch", TestGraph()
                                       .Node("Neg", {"later"}, {"t"})
                                       .Output("t")
                                       .body()},
                   {"else_branch",
                    TestGraph().Node("Neg", {"c"}, {"e"}).Output("e").body()}})
              .Output("y")),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'later'")));
}

INSTANTIATE_TEST_SUITE_P(Branches, FlowTest, testing::Bool(),
                         [](const testing::TestParamInfo<bool>& info) {
                           return info.param ? "InStages" : "ByThemselves";
                         });

}  // namespace
}  // namespace tensord
