#include "engine/passes/fuse_elementwise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "absl/strings/str_cat.h"
#include "tests/engine/passes/pass_test.h"

namespace tensord {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

constexpr DType kF32 = DType::kFloat32;

class FuseElementwiseTest : public PassTest {
 protected:
  Graph Fused(const TestGraph& graph) { return After(&FuseElementwise, graph); }
};

TestGraph HardSwish() {
  return TestGraph()
      .Input("x", kF32, {"N", 8})
      .Constant("three", Tensor({}, {3}))
      .Constant("zero", Tensor({}, {0}))
      .Constant("six", Tensor({1}, {6}))
      .Node("Add", {"x", "three"}, {"a"})
      .Node("Clip", {"a", "zero", "six"}, {"b"})
      .Node("Mul", {"x", "b"}, {"c"})
      .Node("Div", {"c", "six"}, {"y"}, {}, "last")
      .Output("y");
}

TEST_F(FuseElementwiseTest, AChainBecomesOneNodeWithItsScalarsInside) {
  const Graph fused = Fused(HardSwish());
  EXPECT_THAT(Nodes(fused), ElementsAre("Add Clip Mul Div: x -> y"));
  const Node& node = fused.nodes[0];
  EXPECT_EQ(node.name, "last");
  EXPECT_THAT(node.fused_from, ElementsAre("Add_0", "Clip_1", "Mul_2", "last"));
  const auto& expression = std::get<Expression>(node.params);
  EXPECT_THAT(expression.constants, ElementsAre(3, 6));
  EXPECT_THAT(expression.steps[0].operands, ElementsAre(0, 1));
  EXPECT_THAT(expression.steps[1].parameters, ElementsAre(0, 6));
  EXPECT_THAT(expression.steps[3].operands, ElementsAre(5, 2));
  EXPECT_EQ(fused.value(node.outputs[0]).producer, 0);
}

TEST_F(FuseElementwiseTest, NothingIsFusedWithoutAKernel) {
  kernel_of_ = [](const Node&) { return nullptr; };
  EXPECT_THAT(Nodes(Fused(HardSwish())), SizeIs(4));
}

TEST_F(FuseElementwiseTest, AThousandNodesAreOne) {
  TestGraph graph;
  graph.Input("v0", kF32, {4});
  for (int i = 0; i < 1000; ++i) {
    graph.Node(i % 2 == 0 ? "Relu" : "Neg", {absl::StrCat("v", i)},
               {absl::StrCat("v", i + 1)});
  }
  graph.Output("v1000");
  EXPECT_THAT(Fused(graph).nodes, SizeIs(1));
}

// What somebody else reads must be there.
TEST_F(FuseElementwiseTest, AValueThatIsReadOutsideEndsAChain) {
  EXPECT_THAT(
      Nodes(Fused(TestGraph()
                      .Input("x", kF32, {4, 4})
                      .Node("Relu", {"x"}, {"a"})
                      .Node("Neg", {"a"}, {"b"})
                      .Node("Exp", {"b"}, {"c"})
                      .Node("MatMul", {"b", "x"}, {"d"})
                      .Node("Add", {"c", "d"}, {"y"})
                      .Output("y"))),
      ElementsAre("Relu Neg: x -> b", "MatMul: b x -> d", "Exp Add: b d -> y"));
  EXPECT_THAT(Nodes(Fused(TestGraph()
                              .Input("x", kF32, {4})
                              .Node("Relu", {"x"}, {"a"})
                              .Node("Neg", {"a"}, {"y"})
                              .Output("a")
                              .Output("y"))),
              ElementsAre("Relu: x -> a", "Neg: a -> y"));
}

// A value with two readers in the chain is computed once.
TEST_F(FuseElementwiseTest, BranchesThatMeetAreOneChain) {
  EXPECT_THAT(Nodes(Fused(TestGraph()
                              .Input("x", kF32, {4})
                              .Input("z", kF32, {4})
                              .Node("Add", {"x", "z"}, {"a"})
                              .Node("Sigmoid", {"a"}, {"b"})
                              .Node("Mul", {"a", "b"}, {"y"})
                              .Output("y"))),
              ElementsAre("Add Sigmoid Mul: x z -> y"));
}

// In a chain a small value would be computed for every element.
TEST_F(FuseElementwiseTest, WhatIsBroadcastIsComputedBefore) {
  EXPECT_THAT(Nodes(Fused(TestGraph()
                              .Input("x", kF32, {8, 4})
                              .Input("row", kF32, {4})
                              .Node("Exp", {"row"}, {"scale"})
                              .Node("Mul", {"x", "scale"}, {"a"})
                              .Node("Neg", {"a"}, {"y"})
                              .Output("y"))),
              ElementsAre("Exp: row -> scale", "Mul Neg: x scale -> y"));
}

// Without the operand of rank 2 the shape of the chain would be another.
TEST_F(FuseElementwiseTest, AScalarThatGivesTheResultItsRankStaysAnInput) {
  const Graph fused = Fused(TestGraph()
                                .Input("x", kF32, {4})
                                .Constant("one", Tensor({1, 1}, {1}))
                                .Node("Add", {"x", "one"}, {"a"})
                                .Node("Neg", {"a"}, {"y"})
                                .Output("y"));
  EXPECT_THAT(Nodes(fused), ElementsAre("Add Neg: x one -> y"));
}

// A square needs no pow(), and any number will do as the exponent's dtype.
TEST_F(FuseElementwiseTest, PowersByAConstantAreSteps) {
  for (const TestTensor& two :
       {Tensor({}, {2}), TensorOf(DType::kInt64, Shape({1}), {2})}) {
    const Graph fused = Fused(TestGraph()
                                  .Input("x", kF32, {4})
                                  .Constant("two", two)
                                  .Node("Pow", {"x", "two"}, {"a"})
                                  .Node("Neg", {"a"}, {"y"})
                                  .Output("y"));
    EXPECT_THAT(Nodes(fused), ElementsAre("Mul Neg: x -> y"));
    const auto& expression = std::get<Expression>(fused.nodes[0].params);
    EXPECT_THAT(expression.steps[0].operands, ElementsAre(0, 0));
  }
  const Graph fused =
      Fused(TestGraph()
                .Input("x", kF32, {4})
                .Constant("three", TensorOf(DType::kInt32, Shape({}), {3}))
                .Node("Pow", {"x", "three"}, {"a"})
                .Node("Sum", {"a", "x"}, {"y"})
                .Output("y"));
  EXPECT_THAT(Nodes(fused), ElementsAre("Pow Add: x -> y"));
  EXPECT_THAT(std::get<Expression>(fused.nodes[0].params).constants,
              ElementsAre(3));
}

TEST_F(FuseElementwiseTest, OtherDTypesAndUnknownBoundsStayNodes) {
  EXPECT_THAT(Nodes(Fused(TestGraph()
                              .Input("x", DType::kInt32, {4})
                              .Node("Neg", {"x"}, {"a"})
                              .Node("Abs", {"a"}, {"y"})
                              .Output("y"))),
              SizeIs(2));
  EXPECT_THAT(Nodes(Fused(TestGraph()
                              .Input("x", kF32, {4})
                              .Input("low", kF32, {})
                              .Node("Neg", {"x"}, {"a"})
                              .Node("Clip", {"a", "low"}, {"y"})
                              .Output("y"))),
              SizeIs(2));
}

// Views are free: above the first node they leave it beside the second.
TEST_F(FuseElementwiseTest, AViewBetweenTwoNodesMovesAboveBoth) {
  EXPECT_THAT(Nodes(Fused(TestGraph()
                              .Input("x", kF32, {2, 3, 4})
                              .Input("z", kF32, {2, 3, 4})
                              .Constant("half", Tensor({1}, {0.5}))
                              .Constant("shape", Tensor<int64_t>({2}, {0, -1}))
                              .Node("Add", {"x", "z"}, {"a"})
                              .Node("Mul", {"a", "half"}, {"b"})
                              .Node("Reshape", {"b", "shape"}, {"c"})
                              .Node("Neg", {"c"}, {"y"})
                              .Output("y"))),
              ElementsAre("Reshape: x shape -> x#9", "Reshape: z shape -> z#10",
                          "Add Mul Neg: x#9 z#10 -> y"));
}

// Of x's shape by chance, they are no operand that is seen along with it.
TEST_F(FuseElementwiseTest, AViewThatMovesLeavesTheBoundsOfAClipAlone) {
  const TestGraph test = TestGraph()
                             .Input("x", kF32, {1})
                             .Constant("low", Tensor({1}, {-1}))
                             .Constant("high", Tensor({1}, {1}))
                             .Constant("shape", Tensor<int64_t>({2}, {1, 1}))
                             .Node("Clip", {"x", "low", "high"}, {"a"})
                             .Node("Reshape", {"a", "shape"}, {"b"})
                             .Node("Neg", {"b"}, {"y"})
                             .Output("y");
  EXPECT_THAT(Nodes(Fused(test)),
              ElementsAre("Reshape: x shape -> x#7", "Clip Neg: x#7 -> y"));
}

TEST_F(FuseElementwiseTest, AViewStaysWhereItIsNotAFunctionOfEachElement) {
  // A row, seen as another shape, is no row of that shape.
  EXPECT_THAT(
      Nodes(Fused(TestGraph()
                      .Input("x", kF32, {2, 4})
                      .Input("row", kF32, {4})
                      .Constant("shape", Tensor<int64_t>({1}, {8}))
                      .Node("Add", {"x", "row"}, {"a"})
                      .Node("Reshape", {"a", "shape"}, {"b"})
                      .Node("Neg", {"b"}, {"y"})
                      .Output("y"))),
      ElementsAre("Add: x row -> a", "Reshape: a shape -> b", "Neg: b -> y"));
  // A scalar of more dimensions than the view's would give it another rank.
  EXPECT_THAT(Nodes(Fused(TestGraph()
                              .Input("x", kF32, {1, 4})
                              .Input("one", kF32, {1, 1})
                              .Constant("shape", Tensor<int64_t>({1}, {4}))
                              .Node("Add", {"x", "one"}, {"a"})
                              .Node("Reshape", {"a", "shape"}, {"b"})
                              .Node("Neg", {"b"}, {"y"})
                              .Output("y"))),
              SizeIs(3));
  // Somebody else reads what is in front of it.
  EXPECT_THAT(Nodes(Fused(TestGraph()
                              .Input("x", kF32, {2, 4})
                              .Constant("shape", Tensor<int64_t>({1}, {8}))
                              .Node("Exp", {"x"}, {"a"})
                              .Node("Reshape", {"a", "shape"}, {"b"})
                              .Node("Neg", {"b"}, {"y"})
                              .Output("a")
                              .Output("y"))),
              SizeIs(3));
}

// There it is the product's to compute.
TEST_F(FuseElementwiseTest, WhatFollowsAProductStaysThere) {
  EXPECT_THAT(Nodes(Fused(TestGraph()
                              .Input("x", kF32, {4, 4})
                              .Constant("shape", Tensor<int64_t>({1}, {16}))
                              .Node("MatMul", {"x", "x"}, {"a"})
                              .Node("Relu", {"a"}, {"b"})
                              .Node("Reshape", {"b", "shape"}, {"c"})
                              .Node("Neg", {"c"}, {"y"})
                              .Output("y"))),
              ElementsAre("MatMul: x x -> a", "Relu: a -> b",
                          "Reshape: b shape -> c", "Neg: c -> y"));
}

// Thirty values that are all needed at the end: more than a kernel can hold.
TEST_F(FuseElementwiseTest, AChainThatHoldsTooMuchIsCut) {
  TestGraph graph;
  graph.Input("x", kF32, {4});
  graph.Node("Exp", {"x"}, {"e0"});
  for (int i = 1; i < 30; ++i) {
    graph.Node("Exp", {absl::StrCat("e", i - 1)}, {absl::StrCat("e", i)});
  }
  std::string sum = "e29";
  for (int i = 0; i < 29; ++i) {
    graph.Node("Add", {sum, absl::StrCat("e", i)}, {absl::StrCat("s", i)});
    sum = absl::StrCat("s", i);
  }
  graph.Output(sum);
  const Graph fused = Fused(graph);
  EXPECT_THAT(fused.nodes,
              SizeIs(testing::AllOf(testing::Gt(1), testing::Lt(40))));
  for (const Node& node : fused.nodes) {
    if (const auto* expression = std::get_if<Expression>(&node.params)) {
      EXPECT_LE(AssignPlaces(*expression).count, 12);
    }
  }
}

// A running sum of sixty products holds two of them at a time; as one chain it
// would hold all.
TEST_F(FuseElementwiseTest, AChainKeepsFewComputedOperandsAlive) {
  TestGraph graph;
  graph.Input("x", kF32, {4, 4});
  graph.Node("MatMul", {"x", "x"}, {"sum0"});
  for (int i = 1; i < 60; ++i) {
    graph.Node("MatMul", {absl::StrCat("sum", i - 1), "x"},
               {absl::StrCat("m", i)});
    graph.Node("Add", {"x", absl::StrCat("m", i)}, {absl::StrCat("sum", i)});
  }
  graph.Node("Neg", {"x"}, {"s0"});
  for (int i = 1; i < 60; ++i) {
    graph.Node("MatMul", {"x", absl::StrCat("sum", i)}, {absl::StrCat("p", i)});
    graph.Node("Add", {absl::StrCat("s", i - 1), absl::StrCat("p", i)},
               {absl::StrCat("s", i)});
  }
  graph.Output("s59");
  const Graph fused = Fused(graph);
  for (const Node& node : fused.nodes) {
    if (node.op == OpKind::kElementwiseChain) {
      EXPECT_LE(node.inputs.size(), 9u) << node.name;
    }
  }
  EXPECT_LT(fused.nodes.size(), 200u);  // of 238
}

}  // namespace
}  // namespace tensord
