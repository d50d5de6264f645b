#include "engine/passes/fuse_layer_norm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/passes/fuse_skip_norm.h"
#include "tests/engine/passes/pass_test.h"

namespace tensord {
namespace {

using testing::ElementsAre;
using testing::Gt;
using testing::SizeIs;

constexpr DType kF32 = DType::kFloat32;

class FuseLayerNormTest : public PassTest {
 protected:
  Graph Fused(const TestGraph& graph) { return After(&FuseLayerNorm, graph); }
};

// x [batch, 5, 8] with the numbers that all spellings use.
TestGraph Start() {
  return TestGraph()
      .Opset(17)
      .Input("x", kF32, {"batch", 5, 8})
      .Constant("two", Tensor({}, {2}))
      .Constant("half", Tensor({}, {0.5}))
      .Constant("minus_half", Tensor({}, {-0.5}))
      .Constant("one", Tensor({}, {1}))
      .Constant("epsilon", Tensor({}, {0.25}))
      .Constant("scale", Pattern(kF32, Shape({8}), 1))
      .Constant("bias", Pattern(kF32, Shape({8}), 2));
}

std::vector<std::pair<std::string, Attribute>> Last() {
  return {{"axes", std::vector<int64_t>{-1}}};
}

// c = x - mean, v = mean of c * c, s = v + epsilon
TestGraph Centred() {
  return Start()
      .Node("ReduceMean", {"x"}, {"m"}, Last())
      .Node("Sub", {"x", "m"}, {"c"})
      .Node("Pow", {"c", "two"}, {"cc"})
      .Node("ReduceMean", {"cc"}, {"v"}, Last())
      .Node("Add", {"v", "epsilon"}, {"s"});
}

const char kWhole[] = "LayerNormalization: x scale bias -> y";

TEST_F(FuseLayerNormTest, AsPyTorchAndPaddleWriteIt) {
  const Graph fused = Fused(Centred()
                                .Node("Sqrt", {"s"}, {"d"})
                                .Node("Div", {"c", "d"}, {"n"})
                                .Node("Mul", {"n", "scale"}, {"p"})
                                .Node("Add", {"p", "bias"}, {"y"}, {}, "last")
                                .Output("y"));
  EXPECT_THAT(Nodes(fused), ElementsAre(kWhole));
  const Node& node = fused.nodes[0];
  const auto& params = std::get<NormalizationParams>(node.params);
  EXPECT_EQ(params.axis, 2);
  EXPECT_EQ(params.epsilon, 0.25f);
  EXPECT_EQ(node.name, "last");
  EXPECT_THAT(node.fused_from, SizeIs(9));
}

// Two differences, a product as the square, operands the other way round.
TEST_F(FuseLayerNormTest, ADifferenceThatIsComputedTwice) {
  EXPECT_THAT(Nodes(Fused(Start()
                              .Node("ReduceMean", {"x"}, {"m"}, Last())
                              .Node("Sub", {"x", "m"}, {"c"})
                              .Node("Sub", {"x", "m"}, {"c2"})
                              .Node("Mul", {"c2", "c2"}, {"cc"})
                              .Node("ReduceMean", {"cc"}, {"v"}, Last())
                              .Node("Add", {"epsilon", "v"}, {"s"})
                              .Node("Pow", {"s", "half"}, {"d"})
                              .Node("Div", {"c", "d"}, {"n"})
                              .Node("Mul", {"scale", "n"}, {"p"})
                              .Node("Add", {"bias", "p"}, {"y"})
                              .Output("y"))),
              ElementsAre(kWhole));
}

TEST_F(FuseLayerNormTest, InversesInEverySpelling) {
  const TestGraph reciprocal =
      Centred().Node("Sqrt", {"s"}, {"d"}).Node("Reciprocal", {"d"}, {"i"});
  const TestGraph quotient =
      Centred().Node("Sqrt", {"s"}, {"d"}).Node("Div", {"one", "d"}, {"i"});
  const TestGraph power = Centred().Node("Pow", {"s", "minus_half"}, {"i"});
  for (TestGraph graph : {reciprocal, quotient, power}) {
    EXPECT_THAT(Nodes(Fused(graph.Node("Mul", {"c", "i"}, {"n"})
                                .Node("Mul", {"n", "scale"}, {"p"})
                                .Node("Add", {"p", "bias"}, {"y"})
                                .Output("y"))),
                ElementsAre(kWhole));
  }
}

// batch_normalization() over the last dimension: x * i + (bias - mean * i).
TEST_F(FuseLayerNormTest, AsTensorFlowWritesIt) {
  EXPECT_THAT(Nodes(Fused(Start()
                              .Node("ReduceMean", {"x"}, {"m"}, Last())
                              .Node("Sub", {"x", "m"}, {"c"})
                              .Node("Mul", {"c", "c"}, {"cc"})
                              .Node("ReduceMean", {"cc"}, {"v"}, Last())
                              .Node("Add", {"v", "epsilon"}, {"s"})
                              .Node("Sqrt", {"s"}, {"d"})
                              .Node("Reciprocal", {"d"}, {"r"})
                              .Node("Mul", {"r", "scale"}, {"i"})
                              .Node("Mul", {"m", "i"}, {"mi"})
                              .Node("Mul", {"x", "i"}, {"xi"})
                              .Node("Sub", {"bias", "mi"}, {"t"})
                              .Node("Add", {"xi", "t"}, {"y"})
                              .Output("y"))),
              ElementsAre(kWhole));
}

TEST_F(FuseLayerNormTest, WithoutScaleAndBias) {
  const Graph fused = Fused(Centred()
                                .Node("Sqrt", {"s"}, {"d"})
                                .Node("Div", {"c", "d"}, {"n"})
                                .Node("Relu", {"n"}, {"y"})
                                .Output("y"));
  ASSERT_THAT(fused.nodes, SizeIs(2));
  const Node& node = fused.nodes[0];
  EXPECT_EQ(node.op, OpKind::kLayerNormalization);
  EXPECT_EQ(std::get<NormalizationParams>(node.params).axis, 2);
}

TEST_F(FuseLayerNormTest, OfSquaresAlone) {
  const Graph fused = Fused(Start()
                                .Node("Pow", {"x", "two"}, {"xx"})
                                .Node("ReduceMean", {"xx"}, {"v"}, Last())
                                .Node("Add", {"v", "epsilon"}, {"s"})
                                .Node("Sqrt", {"s"}, {"d"})
                                .Node("Div", {"x", "d"}, {"n"})
                                .Node("Mul", {"scale", "n"}, {"y"})
                                .Output("y"));
  EXPECT_THAT(Nodes(fused), ElementsAre("RMSNormalization: x scale -> y"));
}

TEST_F(FuseLayerNormTest, WhatSomebodyElseReadsStays) {
  EXPECT_THAT(Nodes(Fused(Centred()
                              .Node("Sqrt", {"s"}, {"d"})
                              .Node("Div", {"c", "d"}, {"y"})
                              .Output("y")
                              .Output("v"))),
              SizeIs(Gt(1)));
}

// Other dimensions than the last, and means over different ones.
TEST_F(FuseLayerNormTest, OtherAxesStay) {
  const auto graph = [](std::vector<int64_t> first,
                        std::vector<int64_t> second) {
    return Start()
        .Node("ReduceMean", {"x"}, {"m"}, {{"axes", first}})
        .Node("Sub", {"x", "m"}, {"c"})
        .Node("Mul", {"c", "c"}, {"cc"})
        .Node("ReduceMean", {"cc"}, {"v"}, {{"axes", second}})
        .Node("Add", {"v", "epsilon"}, {"s"})
        .Node("Sqrt", {"s"}, {"d"})
        .Node("Div", {"c", "d"}, {"y"})
        .Output("y");
  };
  EXPECT_THAT(Fused(graph({1, 2}, {-1, 1})).nodes, SizeIs(1));
  EXPECT_THAT(Fused(graph({1}, {1})).nodes, SizeIs(7));
  // The squares are of a difference that is none from their own mean.
  for (const Node& node : Fused(graph({1, 2}, {2})).nodes) {
    EXPECT_NE(node.op, OpKind::kLayerNormalization);
  }
}

TEST_F(FuseLayerNormTest, ASumThatNobodyElseReadsIsAddedByTheNode) {
  const auto graph = [] {
    return TestGraph()
        .Opset(17)
        .Input("a", kF32, {2, 8})
        .Input("b", kF32, {2, 8})
        .Input("row", kF32, {8})
        .Input("scale", kF32, {8})
        .Node("Add", {"a", "b"}, {"sum"}, {}, "add")
        .Node("LayerNormalization", {"sum", "scale"}, {"y"}, {}, "norm")
        .Output("y");
  };
  const Graph fused = After(&FuseSkipNorm, graph());
  EXPECT_THAT(Nodes(fused),
              ElementsAre("LayerNormalization: a scale _ b -> y"));
  EXPECT_TRUE(std::get<NormalizationParams>(fused.nodes[0].params).has_skip);
  EXPECT_THAT(fused.nodes[0].fused_from, ElementsAre("add", "norm"));
  EXPECT_THAT(After(&FuseSkipNorm, graph().Output("sum")).nodes, SizeIs(2));
  EXPECT_THAT(After(&FuseSkipNorm,
                    TestGraph()
                        .Opset(17)
                        .Input("a", kF32, {2, 8})
                        .Input("row", kF32, {8})
                        .Node("Add", {"a", "row"}, {"sum"})
                        .Node("LayerNormalization", {"sum", "row"}, {"y"})
                        .Output("y"))
                  .nodes,
              SizeIs(2));
  kernel_of_ = [](const Node&) { return nullptr; };
  EXPECT_THAT(After(&FuseSkipNorm, graph()).nodes, SizeIs(2));
}

}  // namespace
}  // namespace tensord
