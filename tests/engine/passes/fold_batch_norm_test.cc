#include "engine/passes/fold_batch_norm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/engine/passes/pass_test.h"

namespace tensord {
namespace {

using testing::ElementsAre;
using testing::FloatNear;
using testing::Pointwise;
using testing::SizeIs;

constexpr DType kF32 = DType::kFloat32;

class FoldBatchNormTest : public PassTest {
 protected:
  Graph Folded(const TestGraph& graph) { return After(&FoldBatchNorm, graph); }
};

// scale / sqrt(variance + 0) is 2 and 10; the shift 7 - 1 * 2 and 8 - 3 * 10.
TestGraph& BatchNorm(TestGraph& graph, std::string x, std::string y) {
  return graph.Constant("scale", Tensor({2}, {4, 5}))
      .Constant("shift", Tensor({2}, {7, 8}))
      .Constant("mean", Tensor({2}, {1, 3}))
      .Constant("variance", Tensor({2}, {4, 0.25}))
      .Node("BatchNormalization", {x, "scale", "shift", "mean", "variance"},
            {y}, {{"epsilon", 1e-20f}}, "norm");
}

TEST_F(FoldBatchNormTest, GoesIntoAConvolutionsWeightsAndBias) {
  TestGraph graph;
  graph.Input("x", kF32, {"N", 1, 5})
      .Constant("w", Tensor({2, 1, 2}, {1, 2, 3, 4}))
      .Node("Conv", {"x", "w"}, {"a"}, {}, "conv");
  const Graph folded = Folded(BatchNorm(graph, "a", "y").Output("y"));
  ASSERT_THAT(folded.nodes, SizeIs(1));
  const Node& conv = folded.nodes[0];
  EXPECT_EQ(conv.name, "conv");
  EXPECT_THAT(conv.fused_from, ElementsAre("conv", "norm"));
  EXPECT_EQ(folded.value(conv.outputs[0]).name, "y");
  EXPECT_THAT(Floats(folded, conv.inputs[1]), ElementsAre(2, 4, 30, 40));
  EXPECT_THAT(Floats(folded, conv.inputs[2]), ElementsAre(5, -22));
}

TEST_F(FoldBatchNormTest, ScalesABiasAndTakesArithmeticAlong) {
  TestGraph graph;
  graph.Input("x", kF32, {"N", 1, 5, 5})
      .Constant("w", Tensor({2, 1, 1, 1}, {1, 2}))
      .Constant("b", Tensor({2}, {100, 200}))
      .Constant("factor", Tensor({1, 2, 1, 1}, {2, 4}))
      .Constant("ten", Tensor({}, {10}))
      .Constant("term", Tensor({2, 1, 1}, {1, 3}))
      .Node("Conv", {"x", "w", "b"}, {"c0"})
      .Node("Mul", {"factor", "c0"}, {"c1"})
      .Node("Sub", {"c1", "term"}, {"c2"})
      .Node("Div", {"c2", "ten"}, {"c3"})
      .Node("Sub", {"ten", "c3"}, {"c4"})
      .Node("Relu", {"c4"}, {"y"})
      .Output("y");
  const Graph folded = Folded(graph);
  ASSERT_THAT(folded.nodes, SizeIs(2));
  const Node& conv = folded.nodes[0];
  EXPECT_EQ(change_count_, 4);
  EXPECT_THAT(Floats(folded, conv.inputs[1]),
              Pointwise(FloatNear(1e-6f), {-0.2f, -0.8f}));
  EXPECT_THAT(Floats(folded, conv.inputs[2]),
              Pointwise(FloatNear(1e-4f), {10 - 19.9f, 10 - 79.7f}));
}

// [C, M / groups, K]: output channel 1 is the second group's only one.
TEST_F(FoldBatchNormTest, KnowsTheChannelsOfATransposedConvolution) {
  TestGraph graph;
  graph.Input("x", kF32, {"N", 4, 3})
      .Constant("w", Tensor({4, 1, 1}, {1, 2, 3, 4}))
      .Node("ConvTranspose", {"x", "w"}, {"a"}, {{"group", int64_t{2}}});
  const Graph folded = Folded(BatchNorm(graph, "a", "y").Output("y"));
  ASSERT_THAT(folded.nodes, SizeIs(1));
  EXPECT_THAT(Floats(folded, folded.nodes[0].inputs[1]),
              ElementsAre(2, 4, 30, 40));
}

TEST_F(FoldBatchNormTest, KnowsTheColumnsOfAGemm) {
  for (const int64_t is_transposed : {0, 1}) {
    TestGraph graph;
    graph.Input("x", kF32, {"N", 3})
        .Constant("w", Tensor(is_transposed ? Shape({2, 3}) : Shape({3, 2}),
                              {1, 2, 3, 4, 5, 6}))
        .Constant("c", Tensor({1, 2}, {1, 2}))
        .Node("Gemm", {"x", "w", "c"}, {"a"},
              {{"transB", is_transposed}, {"beta", 3.0f}});
    const Graph folded = Folded(BatchNorm(graph, "a", "y").Output("y"));
    ASSERT_THAT(folded.nodes, SizeIs(1));
    const Node& gemm = folded.nodes[0];
    EXPECT_EQ(std::get<GemmParams>(gemm.params).beta, 1);
    EXPECT_THAT(Floats(folded, gemm.inputs[1]),
                is_transposed ? ElementsAre(2, 4, 6, 40, 50, 60)
                              : ElementsAre(2, 20, 6, 40, 10, 60));
    EXPECT_THAT(Floats(folded, gemm.inputs[2]), ElementsAre(11, 38));
  }
}

TEST_F(FoldBatchNormTest, AResultThatOthersReadKeepsItsWeights) {
  TestGraph graph;
  graph.Input("x", kF32, {"N", 1, 5})
      .Constant("w", Tensor({2, 1, 1}, {1, 2}))
      .Node("Conv", {"x", "w"}, {"a"})
      .Node("Relu", {"a"}, {"z"})
      .Output("z");
  kernel_of_ = [](const Node&) { return nullptr; };
  EXPECT_THAT(Nodes(Folded(BatchNorm(graph, "a", "y").Output("y"))), SizeIs(3));
}

TEST_F(FoldBatchNormTest, WeightsThatAreNoConstantsStay) {
  TestGraph graph;
  graph.Input("x", kF32, {"N", 1, 5})
      .Input("w", kF32, {2, 1, 1})
      .Node("Conv", {"x", "w"}, {"a"});
  kernel_of_ = [](const Node&) { return nullptr; };
  EXPECT_THAT(Nodes(Folded(BatchNorm(graph, "a", "y").Output("y"))), SizeIs(2));
}

// A weight that many read would be there as often.
TEST_F(FoldBatchNormTest, CopiesOfWeightsHaveALimit) {
  TestGraph graph;
  graph.Input("x", kF32, {"N", 1, 5}).Constant("w", Tensor({2, 1, 1}, {1, 2}));
  graph.Constant("two", Tensor({}, {2}));
  for (int i = 0; i < 10; ++i) {
    const std::string number = absl::StrCat(i);
    graph.Node("Conv", {"x", "w"}, {"a" + number})
        .Node("Mul", {"a" + number, "two"}, {"y" + number})
        .Output("y" + number);
  }
  constant_bytes_ = 3 * 2 * sizeof(float);
  EXPECT_THAT(Nodes(Folded(graph)), SizeIs(17));
}

// A factor along the width is none of a channel.
TEST_F(FoldBatchNormTest, OtherDimensionsThanTheChannelsStay) {
  TestGraph graph;
  graph.Input("x", kF32, {"N", 1, 2})
      .Constant("w", Tensor({2, 1, 1}, {1, 2}))
      .Constant("factor", Tensor({2}, {2, 4}))
      .Node("Conv", {"x", "w"}, {"a"})
      .Node("Mul", {"a", "factor"}, {"y"})
      .Output("y");
  EXPECT_THAT(Nodes(Folded(graph)), SizeIs(2));
}

TEST_F(FoldBatchNormTest, OneThatStaysAloneBecomesTwoSteps) {
  TestGraph graph;
  graph.Input("x", kF32, {"N", 2, 5});
  BatchNorm(graph, "x", "y").Output("y");
  const Graph split = Folded(graph);
  EXPECT_THAT(split.nodes, SizeIs(2));
  EXPECT_EQ(split.nodes[0].op, OpKind::kMul);
  EXPECT_EQ(split.nodes[1].op, OpKind::kAdd);
  EXPECT_THAT(Floats(split, split.nodes[0].inputs[1]), ElementsAre(2, 10));
  EXPECT_THAT(Floats(split, split.nodes[1].inputs[1]), ElementsAre(5, -22));
  kernel_of_ = [](const Node&) { return nullptr; };
  EXPECT_THAT(Folded(graph).nodes, SizeIs(1));
}

}  // namespace
}  // namespace tensord
