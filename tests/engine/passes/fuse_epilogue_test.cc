#include "engine/passes/fuse_epilogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "engine/passes/fuse_elementwise.h"
#include "tests/engine/passes/pass_test.h"

namespace tensord {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

constexpr DType kF32 = DType::kFloat32;

int FuseBoth(PassContext& context) {
  FuseElementwise(context);
  return FuseEpilogue(context);
}

class FuseEpilogueTest : public PassTest {
 protected:
  Graph Fused(const TestGraph& graph) { return After(&FuseEpilogue, graph); }
};

// x [batch, 8] times w, and what `further` nodes make of "product".
TestGraph Product() {
  return TestGraph()
      .Input("x", kF32, {"batch", 8})
      .Input("w", kF32, {8, 4})
      .Node("MatMul", {"x", "w"}, {"product"}, {}, "dense");
}

TEST_F(FuseEpilogueTest, ABiasAResidualAndAnActivationGoIntoAProduct) {
  const TestGraph graph = Product()
                              .Input("bias", kF32, {4})
                              .Input("residual", kF32, {"batch", 4})
                              .Node("Add", {"product", "bias"}, {"a"}, {}, "p")
                              .Node("Add", {"residual", "a"}, {"b"}, {}, "q")
                              .Node("Relu", {"b"}, {"y"}, {}, "r")
                              .Output("y");
  const Graph fused = Fused(graph);
  EXPECT_THAT(Nodes(fused), ElementsAre("MatMul[Add Add Relu]: x w bias "
                                        "residual -> y"));
  EXPECT_EQ(change_count_, 3);
  const Node& node = fused.nodes[0];
  EXPECT_EQ(node.name, "dense");
  EXPECT_THAT(node.fused_from, ElementsAre("dense", "p", "q", "r"));
  EXPECT_EQ(node.params.epilogue->own_input_count, 2);
  const Expression& steps = node.params.epilogue->expression;
  EXPECT_EQ(steps.input_count, 3);
  EXPECT_THAT(steps.steps[0].operands, ElementsAre(0, 1));
  EXPECT_THAT(steps.steps[1].operands, ElementsAre(2, 3));
  EXPECT_THAT(steps.steps[2].operands, ElementsAre(4, -1));
  // The same where the steps are a chain first.
  EXPECT_THAT(Nodes(After(&FuseBoth, graph)), ElementsAre(Nodes(fused)[0]));
}

TEST_F(FuseEpilogueTest, AbsentInputsOfTheAnchorAreCounted) {
  const Graph fused = Fused(TestGraph()
                                .Input("x", kF32, {1, 3, 8, 8})
                                .Input("w", kF32, {5, 3, 1, 1})
                                .Input("scale", kF32, {1, 5, 1, 1})
                                .Constant("six", Tensor({}, {6}))
                                .Node("Conv", {"x", "w"}, {"a"})
                                .Node("Mul", {"a", "scale"}, {"b"})
                                .Node("Min", {"b", "six"}, {"y"})
                                .Output("y"));
  EXPECT_THAT(Nodes(fused), ElementsAre("Conv[Mul Min]: x w _ scale -> y"));
  const Epilogue& epilogue = *fused.nodes[0].params.epilogue;
  EXPECT_EQ(epilogue.own_input_count, 3);
  EXPECT_THAT(epilogue.expression.constants, ElementsAre(6));
  EXPECT_THAT(epilogue.expression.steps[1].operands, ElementsAre(3, 2));
}

// Two chains in a row: constants and inputs keep their numbers apart.
TEST_F(FuseEpilogueTest, ChainsFollowEachOther) {
  const Graph fused =
      After(&FuseBoth, Product()
                           .Input("r", kF32, {"batch", 4})
                           .Input("s", kF32, {4})
                           .Constant("two", Tensor({}, {2}))
                           .Constant("five", Tensor({}, {5}))
                           .Node("Mul", {"product", "two"}, {"a"})
                           .Node("Sub", {"r", "a"}, {"b"})
                           .Node("Div", {"s", "b"}, {"c"})
                           .Node("Add", {"five", "c"}, {"d"})
                           .Node("Mul", {"d", "b"}, {"y"})
                           .Output("y"));
  EXPECT_THAT(Nodes(fused),
              ElementsAre("MatMul[Mul Sub Div Add Mul]: x w r s -> y"));
  const Expression& steps = fused.nodes[0].params.epilogue->expression;
  EXPECT_THAT(steps.constants, ElementsAre(2, 5));
  EXPECT_THAT(steps.steps[0].operands, ElementsAre(0, 3));
  EXPECT_THAT(steps.steps[1].operands, ElementsAre(1, 5));
  EXPECT_THAT(steps.steps[2].operands, ElementsAre(2, 6));
  EXPECT_THAT(steps.steps[3].operands, ElementsAre(4, 7));
  EXPECT_THAT(steps.steps[4].operands, ElementsAre(8, 6));
}

TEST_F(FuseEpilogueTest, AResultThatOthersReadStays) {
  EXPECT_THAT(Nodes(Fused(Product()
                              .Node("Relu", {"product"}, {"y"})
                              .Node("Softmax", {"product"}, {"z"})
                              .Output("y")
                              .Output("z"))),
              SizeIs(3));
  EXPECT_THAT(Nodes(Fused(Product()
                              .Node("Relu", {"product"}, {"y"})
                              .Output("product")
                              .Output("y"))),
              SizeIs(2));
  // One node that reads it twice is one reader.
  EXPECT_THAT(
      Nodes(Fused(
          Product().Node("Mul", {"product", "product"}, {"y"}).Output("y"))),
      ElementsAre("MatMul[Mul]: x w -> y"));
}

// The result would be larger than the anchor's.
TEST_F(FuseEpilogueTest, AnInputThatBroadcastsTheResultIsNoEpilogues) {
  EXPECT_THAT(Nodes(Fused(TestGraph()
                              .Input("x", kF32, {1, 8})
                              .Input("w", kF32, {8, 4})
                              .Input("rows", kF32, {3, 1})
                              .Node("MatMul", {"x", "w"}, {"a"})
                              .Node("Add", {"a", "rows"}, {"y"})
                              .Output("y"))),
              SizeIs(2));
}

// Two products meet: one takes the sum in, and reads the other.
TEST_F(FuseEpilogueTest, OfTwoAnchorsOneTakesTheSum) {
  const Graph fused = Fused(Product()
                                .Input("v", kF32, {8, 4})
                                .Node("MatMul", {"x", "v"}, {"other"})
                                .Node("Add", {"product", "other"}, {"y"})
                                .Output("y"));
  EXPECT_THAT(Nodes(fused), ElementsAre("MatMul: x v -> other",
                                        "MatMul[Add]: x w other -> y"));
}

TEST_F(FuseEpilogueTest, AnEpilogueNeverCostsABetterKernel) {
  const KernelEntry fast = {};
  kernel_of_ = [&](const Node& node) -> const KernelEntry* {
    if (node.op != OpKind::kMatMul) return &kAnyKernel;
    const bool is_fast = node.params.epilogue == nullptr ||
                         node.params.epilogue->expression.steps.size() == 1;
    return is_fast ? &fast : &kAnyKernel;
  };
  EXPECT_THAT(Nodes(Fused(Product()
                              .Node("Relu", {"product"}, {"a"})
                              .Node("Neg", {"a"}, {"y"})
                              .Output("y"))),
              ElementsAre("MatMul[Relu]: x w -> a", "Neg: a -> y"));
  kernel_of_ = [&](const Node& node) {
    return node.params.epilogue == nullptr ? &kAnyKernel : nullptr;
  };
  EXPECT_THAT(
      Nodes(Fused(Product().Node("Relu", {"product"}, {"y"}).Output("y"))),
      SizeIs(2));
}

}  // namespace
}  // namespace tensord
