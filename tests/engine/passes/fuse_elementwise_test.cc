#include "engine/passes/fuse_elementwise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/graph/graph_builder.h"
#include "tests/support/graphs.h"
#include "tests/support/matchers.h"

namespace tensord {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

constexpr DType kF32 = DType::kFloat32;

// Nodes of a graph as "Op(inputs) -> output"; a chain with its steps instead of
// its name.
std::vector<std::string> Nodes(const Graph& graph) {
  std::vector<std::string> lines;
  for (const Node& node : graph.nodes) {
    std::string line;
    if (const auto* expression = std::get_if<Expression>(&node.params)) {
      for (const ExpressionStep& step : expression->steps) {
        absl::StrAppend(&line, line.empty() ? "" : " ", OpKindName(step.op));
      }
    } else {
      absl::StrAppend(&line, OpKindName(node.op));
    }
    absl::StrAppend(&line, ":");
    for (ValueId input : node.inputs) {
      absl::StrAppend(&line, " ", graph.value(input).name);
    }
    absl::StrAppend(&line, " -> ", graph.value(node.outputs[0]).name);
    lines.push_back(line);
  }
  return lines;
}

Graph Fused(const TestGraph& test, bool has_kernel = true) {
  absl::StatusOr<Graph> graph = BuildGraph(test.definition(), GraphLimits());
  EXPECT_THAT(graph, IsOk());
  absl::StatusOr<Inference> inference = InferGraph(*graph, GraphLimits());
  EXPECT_THAT(inference, IsOk());
  return FuseElementwise(*graph, *inference,
                         [has_kernel](DType) { return has_kernel; });
}

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

TEST(FuseElementwise, AChainBecomesOneNodeWithItsScalarsInside) {
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

TEST(FuseElementwise, NothingIsFusedForADTypeWithoutAKernel) {
  EXPECT_THAT(Nodes(Fused(HardSwish(), false)), SizeIs(4));
}

TEST(FuseElementwise, AThousandNodesAreOne) {
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
TEST(FuseElementwise, AValueThatIsReadOutsideEndsAChain) {
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
TEST(FuseElementwise, BranchesThatMeetAreOneChain) {
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
TEST(FuseElementwise, WhatIsBroadcastIsComputedBefore) {
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
TEST(FuseElementwise, AScalarThatGivesTheResultItsRankStaysAnInput) {
  const Graph fused = Fused(TestGraph()
                                .Input("x", kF32, {4})
                                .Constant("one", Tensor({1, 1}, {1}))
                                .Node("Add", {"x", "one"}, {"a"})
                                .Node("Neg", {"a"}, {"y"})
                                .Output("y"));
  EXPECT_THAT(Nodes(fused), ElementsAre("Add Neg: x one -> y"));
}

// A square needs no pow(), and any number will do as the exponent's dtype.
TEST(FuseElementwise, PowersByAConstantAreSteps) {
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

TEST(FuseElementwise, OtherDTypesAndUnknownBoundsStayNodes) {
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

// Thirty values that are all needed at the end: more than a kernel can hold.
TEST(FuseElementwise, AChainThatHoldsTooMuchIsCut) {
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

}  // namespace
}  // namespace tensord
