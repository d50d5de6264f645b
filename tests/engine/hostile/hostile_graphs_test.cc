#include <limits>

#include "tests/engine/hostile/hostile_harness.h"
#include "tests/support/graphs.h"
#include "tests/support/matchers.h"

// Graphs that are right node by node, and ask for too much as a whole.

namespace tensord {
namespace {

using testing::HasSubstr;

constexpr DType kF32 = DType::kFloat32;
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

TestTensor Scalar(int64_t value) { return Tensor<int64_t>(Shape(), {value}); }

// A loop that goes on, and collects x of each trip if it should.
GraphDef EndlessLoop(bool collects) {
  TestGraph body;
  body.Formal("i")
      .Formal("go")
      .Formal("x")
      .Node("Identity", {"go"}, {"again"})
      .Node("Identity", {"x"}, {"same"})
      .Output("again")
      .Output("same");
  if (collects) body.Output("x");
  TestGraph graph;
  graph.Input("n", DType::kInt64, {})
      .Input("x", kF32, {1 << 16})
      .Node("Loop", {"n", "", "x"},
            collects ? std::vector<std::string>{"y", "trail"}
                     : std::vector<std::string>{"y"},
            {{"body", body.body()}})
      .Output(collects ? "trail" : "y");
  return graph.definition();
}

TEST_F(HostileTest, ALoopOfTheMostTripsEndsAtItsDeadline) {
  EXPECT_THAT(
      Serve(EndlessLoop(false), {Scalar(kMost), Pattern(kF32, {1 << 16})},
            absl::Milliseconds(100)),
      StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("")));
}

TEST_F(HostileTest, ALoopThatCollectsEndsAtItsBudget) {
  EXPECT_THAT(
      Serve(EndlessLoop(true), {Scalar(kMost), Pattern(kF32, {1 << 16})}),
      StatusIs(absl::StatusCode::kResourceExhausted,
               HasSubstr("max_peak_bytes")));
}

TEST_F(HostileTest, ALoopOfNegativeTripsDoesNotRun) {
  EXPECT_THAT(
      Serve(EndlessLoop(false), {Scalar(std::numeric_limits<int64_t>::min()),
                                 Pattern(kF32, {1 << 16})}),
      IsOk());
}

TEST_F(HostileTest, LoopsInLoopsEndAtTheDeadlineOfTheRun) {
  const TestGraph inner = TestGraph()
                              .Formal("i")
                              .Formal("go")
                              .Node("Identity", {"go"}, {"again"})
                              .Output("again");
  const TestGraph middle =
      TestGraph()
          .Formal("j")
          .Formal("go")
          .Node("Loop", {"n", ""}, {}, {{"body", inner.body()}})
          .Node("Identity", {"go"}, {"again"})
          .Output("again");
  EXPECT_FALSE(
      Serve(TestGraph()
                .Input("n", DType::kInt64, {})
                .Node("Loop", {"n", "", "n"}, {"y"}, {{"body", middle.body()}})
                .Output("y")
                .definition(),
            {Scalar(kMost)}, absl::Milliseconds(100))
          .ok());
}

TEST_F(HostileTest, ASequenceOfBillionsIsNotMade) {
  const auto parts = [](int64_t extent) {
    return TestGraph()
        .Input("x", kF32, {0, extent})
        .Node("SplitToSequence", {"x"}, {"s"}, {{"axis", int64_t{1}}})
        .Node("SequenceLength", {"s"}, {"y"})
        .Output("y")
        .definition();
  };
  EXPECT_THAT(
      Serve(parts(2147483647),
            {Tensor(Shape({0, 2147483647}), std::vector<float>())}),
      StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("2147483647")));
}

// Doubled 40 times: each node fits, the result does not.
TEST_F(HostileTest, AValueThatDoublesIsRefusedWhereItPassesTheLimit) {
  TestGraph graph;
  graph.Constant("x0", Tensor({1}, {1}));
  for (int i = 0; i < 40; ++i) {
    const std::string x = "x" + std::to_string(i);
    graph.Node("Concat", {x, x}, {"x" + std::to_string(i + 1)},
               {{"axis", int64_t{0}}});
  }
  graph.Output("x40");
  EXPECT_THAT(Serve(graph.definition()),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("max_elements")));
}

TEST_F(HostileTest, FoldingTakesNoMoreThanItsBytesHoweverManyNodes) {
  // Each is a megabyte, all together 4 GB.
  TestGraph graph;
  graph.Constant("shape", Tensor<int64_t>({1}, {1 << 18}));
  for (int i = 0; i < 4'000; ++i) {
    const std::string y = "y" + std::to_string(i);
    graph.Node("ConstantOfShape", {"shape"}, {y});
    graph.Node("ReduceSum", {y}, {"sum" + std::to_string(i)});
  }
  graph.Output("sum0");
  EXPECT_THAT(Serve(graph.definition()), IsOk());
}

// As many stages as nodes, each of which would be kept for the next run in
// proportion to the graph.
TEST_F(HostileTest, AThousandBranchesInARowTakeTheMemoryOfAFew) {
  TestGraph graph;
  graph.Input("c", DType::kBool, {}).Input("x0", kF32, {1});
  for (int i = 0; i < 1'500; ++i) {
    const std::string x = "x" + std::to_string(i);
    const std::string u = "u" + std::to_string(i);
    const Attribute branch =
        TestGraph().Node("Neg", {x}, {"t"}).Output("t").body();
    graph
        .Node("If", {"c"}, {u},
              {{"then_branch", branch}, {"else_branch", branch}})
        .Node("Relu", {u}, {"x" + std::to_string(i + 1)});
  }
  graph.Output("x1500");
  const absl::Status status = Serve(
      graph.definition(), {Tensor<bool>(Shape(), {true}), Tensor({1}, {2})},
      absl::Milliseconds(1'000));
  EXPECT_TRUE(status.ok() || absl::IsDeadlineExceeded(status)) << status;
}

TEST_F(HostileTest, AThousandShapesThatComeOneAfterTheOtherEndAtTheDeadline) {
  TestGraph graph;
  graph.Input("x0", kF32, {1});
  std::vector<TestTensor> inputs = {Tensor({1}, {2})};
  for (int i = 0; i < 3'000; ++i) {
    const std::string shape = "s" + std::to_string(i);
    graph.Input(shape, DType::kInt64, {1});
    inputs.push_back(Tensor<int64_t>({1}, {1}));
    graph.Node("Reshape", {"x" + std::to_string(i), shape},
               {"x" + std::to_string(i + 1)});
  }
  graph.Output("x3000");
  EXPECT_THAT(
      Serve(graph.definition(), std::move(inputs), absl::Milliseconds(500)),
      StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("")));
}

TEST_F(HostileTest, ABranchMayUseWhatALaterNodeMakes) {
  const TestGraph branch =
      TestGraph().Node("Neg", {"later"}, {"t"}).Output("t");
  const auto graph = [&](const char* input_of_later) {
    return TestGraph()
        .Input("c", DType::kBool, {})
        .Input("x", kF32, {1})
        .Node("If", {"c"}, {"y"},
              {{"then_branch", branch.body()}, {"else_branch", branch.body()}},
              "branch")
        .Node("Relu", {input_of_later}, {"later"})
        .Output("y")
        .definition();
  };
  const std::vector<TestTensor> inputs = {Tensor<bool>(Shape(), {true}),
                                          Tensor({1}, {2})};
  EXPECT_THAT(Serve(graph("x"), inputs), IsOk());
  // What it makes itself is too late.
  EXPECT_THAT(Serve(graph("y"), inputs),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("the node is on a cycle")));
}

TEST_F(HostileTest, ValuesOfABranchAreNotSeenOutside) {
  const TestGraph branch = TestGraph().Node("Neg", {"x"}, {"t"}).Output("t");
  EXPECT_THAT(Serve(TestGraph()
                        .Input("c", DType::kBool, {})
                        .Input("x", kF32, {1})
                        .Node("If", {"c"}, {"y"},
                              {{"then_branch", branch.body()},
                               {"else_branch", branch.body()}})
                        .Node("Relu", {"t"}, {"z"})
                        .Output("z")
                        .definition()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("value 't' is not defined")));
}

}  // namespace
}  // namespace tensord
