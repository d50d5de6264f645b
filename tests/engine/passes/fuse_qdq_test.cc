#include "engine/passes/fuse_qdq.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "engine/passes/fuse_epilogue.h"
#include "tests/engine/passes/pass_test.h"

namespace tensord {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

constexpr DType kU8 = DType::kUInt8;

int FuseBoth(PassContext& context) {
  FuseQdq(context);
  return FuseEpilogue(context);
}

class FuseQdqTest : public PassTest {
 protected:
  Graph Fused(const TestGraph& graph) { return After(&FuseQdq, graph); }
};

// Scales and zero points by these names, and weights of two output channels.
TestGraph Quantized() {
  return TestGraph()
      .Constant("s", Tensor({}, {0.5f}))
      .Constant("t", Tensor({}, {0.25f}))
      .Constant("z0", Tensor<uint8_t>({}, {0}))
      .Constant("z9", Tensor<uint8_t>({}, {9}))
      .Constant("w", Tensor<int8_t>({2, 3, 1, 1}, {1, 2, 3, 4, 5, 6}))
      .Constant("w_scale", Tensor({2}, {0.5f, 0.125f}))
      .Constant("w_zero", Tensor<int8_t>({2}, {0, 0}))
      .Constant("bias", Tensor<int32_t>({2}, {100, -7}))
      .Constant("bias_scale", Tensor({2}, {0.25f, 0.0625f}))
      .Node("DequantizeLinear", {"w", "w_scale", "w_zero"}, {"w_real"},
            {{"axis", int64_t{0}}}, "dw")
      .Node("DequantizeLinear", {"bias", "bias_scale"}, {"bias_real"},
            {{"axis", int64_t{0}}}, "db")
      .Input("x", kU8, {1, 3, 8, 8})
      .Node("DequantizeLinear", {"x", "s", "z9"}, {"x_real"}, {}, "dx");
}

TestGraph& Conv(TestGraph& graph, const std::string& bias = "bias_real") {
  return graph.Node("Conv", {"x_real", "w_real", bias}, {"sum"}, {}, "conv");
}

std::vector<int32_t> Ints(const Graph& graph, ValueId value) {
  const auto values = graph.value(value).constant.values<int32_t>();
  return {values.begin(), values.end()};
}

TEST_F(FuseQdqTest, AConvolutionOfIntegers) {
  TestGraph graph = Quantized();
  Conv(graph).Node("QuantizeLinear", {"sum", "t", "z0"}, {"y"}, {}, "q");
  const Graph fused = Fused(graph.Output("y"));
  ASSERT_THAT(Nodes(fused),
              ElementsAre(AllOf(
                  StartsWith("QLinearConv: x s z9 w w_scale w_zero t z0 bias"),
                  HasSubstr("-> y"))));
  EXPECT_EQ(change_count_, 1);
  const Node& node = fused.nodes[0];
  EXPECT_EQ(node.name, "conv");
  EXPECT_THAT(node.fused_from, ElementsAre("dw", "db", "dx", "conv", "q"));
  EXPECT_THAT(Ints(fused, node.inputs[8]), ElementsAre(100, -7));
}

TEST_F(FuseQdqTest, ABiasOfFloatsBecomesIntegersOfTheSumsScale) {
  TestGraph graph = Quantized();
  graph.Constant("floats", Tensor({2}, {1.0f, 0.5f}));
  Conv(graph, "floats")
      .Node("QuantizeLinear", {"sum", "s", "z0"}, {"y"}, {}, "q")
      .Output("y");
  const Graph fused = Fused(graph);
  EXPECT_THAT(Nodes(fused), SizeIs(2));  // the other bias's DequantizeLinear
  // By 0.5 * 0.5 and 0.5 * 0.125.
  EXPECT_THAT(Ints(fused, fused.nodes[1].inputs[8]), ElementsAre(4, 8));
}

// A step of the sum is more than one of the result.
TEST_F(FuseQdqTest, ABiasThatIsNoIntegerOfACoarseSumStaysAFloat) {
  TestGraph graph = Quantized();
  graph.Constant("floats", Tensor({2}, {0.1f, 0.5f}))
      .Constant("fine", Tensor({}, {0.01f}));
  Conv(graph, "floats")
      .Node("QuantizeLinear", {"sum", "fine", "z0"}, {"y"})
      .Output("y");
  Fused(graph);
  EXPECT_EQ(change_count_, 0);
}

TEST_F(FuseQdqTest, ReluIsWhatSaturatingDoesOrABound) {
  TestGraph at_least = Quantized();
  Conv(at_least)
      .Node("Relu", {"sum"}, {"r"}, {}, "relu")
      .Node("QuantizeLinear", {"r", "t", "z0"}, {"y"}, {}, "q");
  const Graph saturated = Fused(at_least.Output("y"));
  EXPECT_THAT(Nodes(saturated), ElementsAre(HasSubstr("QLinearConv: x")));
  EXPECT_THAT(saturated.nodes[0].fused_from,
              ElementsAre("dw", "db", "dx", "conv", "relu", "q"));

  TestGraph above = Quantized();
  Conv(above)
      .Node("Relu", {"sum"}, {"r"}, {}, "relu")
      .Node("QuantizeLinear", {"r", "t", "z9"}, {"y"}, {}, "q");
  const Graph bounded = Fused(above.Output("y"));
  ASSERT_THAT(Nodes(bounded),
              ElementsAre(HasSubstr("QLinearConv: x"),
                          AllOf(StartsWith("Max: y#"), HasSubstr("-> y"))));
  EXPECT_THAT(bounded.nodes[1].fused_from, ElementsAre("relu", "q"));
  EXPECT_THAT(std::get<Expression>(bounded.nodes[1].params).constants,
              ElementsAre(9));
}

TEST_F(FuseQdqTest, AClipIsABoundWhereTheIntegersReachBeyond) {
  TestGraph graph = Quantized();
  graph.Constant("low", Tensor({}, {-1})).Constant("high", Tensor({}, {6}));
  Conv(graph)
      .Node("Relu", {"sum"}, {"r"})
      .Node("Clip", {"r", "low", "high"}, {"c"})
      .Node("QuantizeLinear", {"c", "t", "z9"}, {"y"})
      .Output("y");
  const Graph fused = Fused(graph);
  ASSERT_THAT(Nodes(fused), SizeIs(2));
  EXPECT_THAT(Nodes(fused)[1], StartsWith("Max Min:"));
  // 0 / 0.25 + 9 and 6 / 0.25 + 9.
  EXPECT_THAT(std::get<Expression>(fused.nodes[1].params).constants,
              ElementsAre(9, 33));
}

TEST_F(FuseQdqTest, BoundsThatMakeNoSenseStay) {
  for (const auto& [low, high] :
       {std::pair{7.0f, 6.0f}, std::pair{NAN, 6.0f}, std::pair{0.0f, NAN}}) {
    TestGraph graph = Quantized();
    graph.Constant("low", Tensor({}, {low}))
        .Constant("high", Tensor({}, {high}));
    Conv(graph)
        .Node("Clip", {"sum", "low", "high"}, {"c"})
        .Node("QuantizeLinear", {"c", "t", "z9"}, {"y"})
        .Output("y");
    Fused(graph);
    EXPECT_EQ(change_count_, 0);
  }
}

TEST_F(FuseQdqTest, AResidualIsAddedToIntegers) {
  const Graph fused =
      Fused(Quantized()
                .Input("other", kU8, {1, 3, 8, 8})
                .Node("DequantizeLinear", {"other", "t", "z0"}, {"o"}, {}, "do")
                .Node("Add", {"x_real", "o"}, {"sum"}, {}, "add")
                .Node("Relu", {"sum"}, {"r"}, {}, "relu")
                .Node("QuantizeLinear", {"r", "s", "z0"}, {"y"}, {}, "q")
                .Output("y"));
  ASSERT_THAT(Nodes(fused), SizeIs(3));  // with those of the weights
  EXPECT_EQ(Nodes(fused)[2], "Sub Mul Mul Add Relu Div: x other -> y");
  EXPECT_THAT(fused.nodes[2].fused_from,
              ElementsAre("dx", "do", "add", "relu", "q"));
  const auto& expression = std::get<Expression>(fused.nodes[2].params);
  EXPECT_THAT(expression.constants, ElementsAre(9, 0.5, 0.25, 0.5));
  EXPECT_THAT(expression.steps[0].operands, ElementsAre(0, 2));
  EXPECT_THAT(expression.steps[3].operands, ElementsAre(7, 8));
  EXPECT_THAT(expression.steps[5].operands, ElementsAre(10, 5));
}

// A square needs its operand twice.
TEST_F(FuseQdqTest, ASquareIsOfOneValue) {
  TestGraph graph = Quantized();
  graph.Constant("two", Tensor({}, {2}));
  const Graph direct =
      Fused(TestGraph(graph)
                .Node("Pow", {"x_real", "two"}, {"p"}, {}, "pow")
                .Node("QuantizeLinear", {"p", "s", "z0"}, {"y"}, {}, "q")
                .Output("y"));
  ASSERT_THAT(Nodes(direct), SizeIs(3));  // with those of the weights
  EXPECT_EQ(Nodes(direct)[2], "Sub Mul Mul Div: x -> y");
  EXPECT_THAT(direct.nodes[2].fused_from, ElementsAre("dx", "pow", "q"));
  const auto& expression = std::get<Expression>(direct.nodes[2].params);
  EXPECT_THAT(expression.steps[2].operands, ElementsAre(5, 5));

  const Graph behind =
      Fused(graph.Node("Relu", {"x_real"}, {"r"}, {}, "relu")
                .Node("Pow", {"r", "two"}, {"p"}, {}, "pow")
                .Node("QuantizeLinear", {"p", "s", "z0"}, {"y"}, {}, "q")
                .Output("y"));
  ASSERT_THAT(Nodes(behind), SizeIs(3));
  EXPECT_EQ(Nodes(behind)[2], "Sub Mul Relu Mul Div: x -> y");
  EXPECT_THAT(behind.nodes[2].fused_from,
              ElementsAre("dx", "relu", "pow", "q"));
}

// A chain of integers has no NaN, of which QuantizeLinear makes the zero point.
TEST_F(FuseQdqTest, StepsThatMayMakeANaNStayFloats) {
  const auto changes = [&](const std::string& op,
                           const std::vector<std::string>& inputs) {
    Fused(Quantized()
              .Constant("two", Tensor({}, {2}))
              .Constant("nothing", Tensor({}, {0}))
              .Constant("nan", Tensor({}, {NAN}))
              .Constant("huge", Tensor({}, {1e38f}))
              .Node(op, inputs, {"f"})
              .Node("QuantizeLinear", {"f", "s", "z9"}, {"y"})
              .Output("y"));
    return change_count_;
  };
  for (const std::string op : {"Log", "Sqrt", "Reciprocal", "Acos"}) {
    EXPECT_EQ(changes(op, {"x_real"}), 0) << op;
  }
  EXPECT_EQ(changes("Div", {"x_real", "x_real"}), 0);
  EXPECT_EQ(changes("Div", {"x_real", "nothing"}), 0);
  EXPECT_EQ(changes("Mul", {"x_real", "nan"}), 0);
  EXPECT_EQ(changes("Max", {"x_real", "nan"}), 0);
  EXPECT_EQ(changes("Mul", {"x_real", "huge"}), 0);
  EXPECT_EQ(changes("Clip", {"x_real", "nan"}), 0);
  for (const std::string op : {"Sigmoid", "Tanh", "Relu", "Abs"}) {
    EXPECT_EQ(changes(op, {"x_real"}), 1) << op;
  }
  EXPECT_EQ(changes("Div", {"x_real", "two"}), 1);
  EXPECT_EQ(changes("Max", {"x_real", "two"}), 1);
}

// As many nodes as a graph may have; a chain of them all is left alone.
TEST_F(FuseQdqTest, ALongChainIsLookedAtWithoutRecursingToItsEnd) {
  TestGraph graph = Quantized();
  std::string last = "x_real";
  for (int i = 0; i < 99'990; ++i) {
    const std::string next = "n" + std::to_string(i);
    graph.Node("Neg", {last}, {next});
    last = next;
  }
  Fused(graph.Node("QuantizeLinear", {last, "s", "z0"}, {"y"}).Output("y"));
  EXPECT_EQ(change_count_, 0);
}

// The first chain's rounding and saturation stand between it and the second.
TEST_F(FuseQdqTest, OfTwoChainsOfIntegersOneGoesIntoAProduct) {
  TestGraph graph = Quantized();
  graph.Constant("two", Tensor({}, {2}));
  Conv(graph)
      .Node("QuantizeLinear", {"sum", "t", "z9"}, {"a"})
      .Node("DequantizeLinear", {"a", "t", "z9"}, {"a_real"})
      .Node("Sub", {"a_real", "two"}, {"b"})
      .Node("QuantizeLinear", {"b", "t", "z0"}, {"c"})
      .Node("DequantizeLinear", {"c", "t", "z0"}, {"c_real"})
      .Node("Mul", {"c_real", "two"}, {"d"})
      .Node("QuantizeLinear", {"d", "t", "z0"}, {"y"})
      .Output("y");
  EXPECT_THAT(Nodes(After(&FuseBoth, graph)),
              ElementsAre(StartsWith("QLinearConv[Sub Mul Sub Div]: x"),
                          "Mul Mul Div: c -> y"));

  // Bounds round nothing.
  TestGraph bounded = Quantized();
  bounded.Constant("two", Tensor({}, {2}));
  Conv(bounded)
      .Node("Relu", {"sum"}, {"r"})
      .Node("QuantizeLinear", {"r", "t", "z9"}, {"a"})
      .Node("DequantizeLinear", {"a", "t", "z9"}, {"a_real"})
      .Node("Sub", {"a_real", "two"}, {"b"})
      .Node("QuantizeLinear", {"b", "t", "z0"}, {"y"})
      .Output("y");
  EXPECT_THAT(Nodes(After(&FuseBoth, bounded)),
              ElementsAre(StartsWith("QLinearConv[Max Sub Mul Sub Div]: x")));
}

TEST_F(FuseQdqTest, WhatMovesElementsMovesIntegers) {
  const auto pooled = [&](const std::string& scale) {
    return Nodes(
        Fused(TestGraph(Quantized())
                  .Node("MaxPool", {"x_real"}, {"p"},
                        {{"kernel_shape", std::vector<int64_t>{2, 2}}}, "pool")
                  .Node("QuantizeLinear", {"p", scale, "z9"}, {"y"}, {}, "q")
                  .Output("y")));
  };
  EXPECT_THAT(pooled("s"), testing::Contains("MaxPool: x -> y"));
  // To another scale the integers change.
  EXPECT_THAT(pooled("t"), testing::Contains("MaxPool: x_real -> p"));

  EXPECT_THAT(
      Nodes(Fused(
          Quantized()
              .Input("other", kU8, {1, 1, 8, 8})
              .Node("DequantizeLinear", {"other", "s", "z9"}, {"o"})
              .Node("Concat", {"x_real", "o"}, {"c"}, {{"axis", int64_t{1}}})
              .Node("QuantizeLinear", {"c", "s", "z9"}, {"y"})
              .Output("y"))),
      testing::Contains("Concat: x other -> y"));
}

TEST_F(FuseQdqTest, IntegersThatBecomeWhatTheyWereStay) {
  const Graph fused =
      Fused(Quantized()
                .Node("QuantizeLinear", {"x_real", "s", "z9"}, {"same"})
                .Node("Cast", {"same"}, {"y"}, {{"to", int64_t{6}}})
                .Output("y"));
  EXPECT_THAT(Nodes(fused), testing::Contains("Cast: x -> y"));
}

TEST_F(FuseQdqTest, AMatrixProductOfIntegers) {
  const TestGraph graph =
      TestGraph()
          .Input("a", kU8, {"rows", 3})
          .Constant("s", Tensor({}, {0.5f}))
          .Constant("z9", Tensor<uint8_t>({}, {9}))
          .Constant("b", Tensor<int8_t>({3, 2}, {1, 2, 3, 4, 5, 6}))
          .Constant("b_scale", Tensor({2}, {0.5f, 0.125f}))
          .Node("DequantizeLinear", {"a", "s", "z9"}, {"a_real"}, {}, "da")
          .Node("DequantizeLinear", {"b", "b_scale"}, {"b_real"},
                {{"axis", int64_t{-1}}}, "db")
          .Node("MatMul", {"a_real", "b_real"}, {"sum"}, {}, "product")
          .Node("QuantizeLinear", {"sum", "s", "z9"}, {"y"}, {}, "q")
          .Output("y");
  const Graph fused = Fused(graph);
  ASSERT_THAT(
      Nodes(fused),
      ElementsAre(AllOf(StartsWith("QLinearMatMul: a s z9 b b_scale b#"),
                        HasSubstr(" s z9 -> y"))));
  EXPECT_EQ(fused.nodes[0].name, "product");
}

TEST_F(FuseQdqTest, AGemmWithABiasIsAConvolutionOfPixels) {
  for (int64_t transpose : {0, 1}) {
    const TestGraph graph =
        TestGraph()
            .Input("a", kU8, {4, 3})
            .Constant("s", Tensor({}, {0.5f}))
            .Constant("z9", Tensor<uint8_t>({}, {9}))
            .Constant("b", transpose
                               ? Tensor<int8_t>({2, 3}, {1, 3, 5, 2, 4, 6})
                               : Tensor<int8_t>({3, 2}, {1, 2, 3, 4, 5, 6}))
            .Constant("b_scale", Tensor({2}, {0.5f, 0.125f}))
            .Constant("c", Tensor({2}, {1.0f, 0.5f}))
            .Node("DequantizeLinear", {"a", "s", "z9"}, {"a_real"}, {}, "da")
            .Node("DequantizeLinear", {"b", "b_scale"}, {"b_real"},
                  {{"axis", 1 - transpose}}, "db")
            .Node("Gemm", {"a_real", "b_real", "c"}, {"sum"},
                  {{"transB", transpose}}, "product")
            .Node("Relu", {"sum"}, {"r"}, {}, "relu")
            .Node("QuantizeLinear", {"r", "s", "z9"}, {"y"}, {}, "q")
            .Output("y");
    const Graph fused = Fused(graph);
    ASSERT_THAT(
        Nodes(fused),
        ElementsAre(StartsWith("Reshape: a "), StartsWith("QLinearConv: a#"),
                    StartsWith("Reshape: y#"),
                    AllOf(StartsWith("Max: y#"), HasSubstr("-> y"))));
    const Node& node = fused.nodes[1];
    EXPECT_THAT(node.fused_from, ElementsAre("da", "db", "product"));
    const auto weights = fused.value(node.inputs[3]).constant.values<int8_t>();
    EXPECT_THAT(weights, ElementsAre(1, 3, 5, 2, 4, 6));
    EXPECT_THAT(Ints(fused, node.inputs[8]), ElementsAre(4, 8));
  }
}

// 255 * 128 * 65793 is 127 below what int32 holds.
TEST_F(FuseQdqTest, SumsThatInt32CannotHoldStayFloats) {
  const auto changes = [&](int64_t depth, int32_t bias) {
    const std::vector<int8_t> weights(depth, 127);
    Fused(TestGraph()
              .Constant("s", Tensor({}, {0.5f}))
              .Constant("unit", Tensor({}, {0.25f}))
              .Constant("w", Tensor<int8_t>({1, depth, 1, 1}, weights))
              .Constant("bias", Tensor<int32_t>({1}, {bias}))
              .Constant("z0", Tensor<uint8_t>({}, {0}))
              .Input("x", kU8, {1, depth, 1, 1})
              .Node("DequantizeLinear", {"x", "s"}, {"x_real"})
              .Node("DequantizeLinear", {"w", "s"}, {"w_real"})
              .Node("DequantizeLinear", {"bias", "unit"}, {"bias_real"})
              .Node("Conv", {"x_real", "w_real", "bias_real"}, {"sum"})
              .Node("QuantizeLinear", {"sum", "s", "z0"}, {"y"})
              .Output("y"));
    return change_count_;
  };
  EXPECT_EQ(changes(65793, 127), 1);
  EXPECT_EQ(changes(65793, 128), 0);
  EXPECT_EQ(changes(65793, -128), 0);
  EXPECT_EQ(changes(65794, 0), 0);

  const auto product_changes = [&](int64_t depth) {
    Fused(TestGraph()
              .Constant("s", Tensor({}, {0.5f}))
              .Constant("z0", Tensor<uint8_t>({}, {0}))
              .Input("a", kU8, {4, depth})
              .Input("b", DType::kInt8, {depth, 2})
              .Node("DequantizeLinear", {"a", "s"}, {"a_real"})
              .Node("DequantizeLinear", {"b", "s"}, {"b_real"})
              .Node("MatMul", {"a_real", "b_real"}, {"sum"})
              .Node("QuantizeLinear", {"sum", "s", "z0"}, {"y"})
              .Output("y"));
    return change_count_;
  };
  EXPECT_EQ(product_changes(65793), 1);
  EXPECT_EQ(product_changes(65794), 0);
}

// The graph's memo knows constants by their bytes.
TEST_F(FuseQdqTest, OneWeightOfTwoShapesIsTurnedTwice) {
  const TestTensor weight = Tensor<int8_t>({3, 2}, {1, 2, 3, 4, 5, 6});
  TestGraph graph;
  graph.Input("a", kU8, {4, 3})
      .Input("b", kU8, {4, 2})
      .Constant("s", Tensor({}, {0.5f}))
      .Constant("z0", Tensor<uint8_t>({}, {0}))
      .Constant("w", weight)
      .Node("DequantizeLinear", {"a", "s"}, {"a_real"})
      .Node("DequantizeLinear", {"b", "s"}, {"b_real"})
      .Node("DequantizeLinear", {"w", "s"}, {"w_real"})
      .Node("DequantizeLinear", {"v", "s"}, {"v_real"})
      .Node("Gemm", {"a_real", "w_real"}, {"c"})
      .Node("Gemm", {"b_real", "v_real"}, {"d"})
      .Node("QuantizeLinear", {"c", "s", "z0"}, {"y"})
      .Node("QuantizeLinear", {"d", "s", "z0"}, {"z"})
      .Output("y")
      .Output("z");
  GraphDef definition = graph.definition();
  definition.initializers.push_back(
      {"v", definition.initializers.back().tensor.Reshaped({2, 3})});
  const Graph fused = After(&FuseQdq, definition);
  EXPECT_EQ(change_count_, 2);
  std::vector<std::vector<int8_t>> turned;
  for (const Node& node : fused.nodes) {
    if (node.op != OpKind::kQLinearConv) continue;
    const auto values = fused.value(node.inputs[3]).constant.values<int8_t>();
    turned.emplace_back(values.begin(), values.end());
  }
  EXPECT_THAT(turned, ElementsAre(ElementsAre(1, 3, 5, 2, 4, 6),
                                  ElementsAre(1, 4, 2, 5, 3, 6)));
}

TEST_F(FuseQdqTest, WhatOthersReadStays) {
  TestGraph graph = Quantized();
  Conv(graph)
      .Node("QuantizeLinear", {"sum", "t", "z0"}, {"y"})
      .Output("y")
      .Output("sum");
  Fused(graph);
  EXPECT_EQ(change_count_, 0);

  // The DequantizeLinear of x alone has another reader.
  TestGraph shared = Quantized();
  Conv(shared)
      .Node("QuantizeLinear", {"sum", "t", "z0"}, {"y"})
      .Output("y")
      .Output("x_real");
  EXPECT_THAT(Nodes(Fused(shared)),
              ElementsAre("DequantizeLinear: x s z9 -> x_real",
                          HasSubstr("QLinearConv: x ")));
}

TEST_F(FuseQdqTest, WhatIsNotKnownStaysAsItWas) {
  // A scale that only the run tells, one of 0, and integers of two dtypes.
  TestGraph open = Quantized();
  open.Input("scale", DType::kFloat32, {});
  Conv(open).Node("QuantizeLinear", {"sum", "scale", "z0"}, {"y"}).Output("y");
  Fused(open);
  EXPECT_EQ(change_count_, 0);

  TestGraph zero = Quantized();
  zero.Constant("nothing", Tensor({}, {0}));
  Conv(zero)
      .Node("QuantizeLinear", {"sum", "nothing", "z0"}, {"y"})
      .Output("y");
  Fused(zero);
  EXPECT_EQ(change_count_, 0);

  Fused(Quantized()
            .Constant("signed", Tensor<int8_t>({}, {0}))
            .Node("Sigmoid", {"x_real"}, {"a"})
            .Node("QuantizeLinear", {"a", "s", "signed"}, {"y"})
            .Output("y"));
  EXPECT_EQ(change_count_, 0);
}

TEST_F(FuseQdqTest, WithoutAKernelNothingChanges) {
  kernel_of_ = [](const Node& node) {
    const bool is_new =
        node.op == OpKind::kQLinearConv || node.op == OpKind::kElementwiseChain;
    return is_new ? nullptr : &kAnyKernel;
  };
  TestGraph graph = Quantized();
  Conv(graph).Node("QuantizeLinear", {"sum", "t", "z0"}, {"y"}).Output("y");
  Fused(graph);
  EXPECT_EQ(change_count_, 0);
}

}  // namespace
}  // namespace tensord
