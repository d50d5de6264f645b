#include "engine/passes/remove_no_ops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "engine/passes/fold_transposes.h"
#include "tests/engine/passes/pass_test.h"

namespace tensord {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

constexpr DType kF32 = DType::kFloat32;
using Ints = std::vector<int64_t>;

class RemoveNoOpsTest : public PassTest {
 protected:
  Graph Cleaned(const TestGraph& graph) { return After(&RemoveNoOps, graph); }
  Graph Folded(const TestGraph& graph) { return After(&FoldTransposes, graph); }
};

TEST_F(RemoveNoOpsTest, WhatChangesNothingGoes) {
  EXPECT_THAT(
      Nodes(Cleaned(TestGraph()
                        .Opset(13)
                        .Input("x", kF32, {"N", 4})
                        .Constant("shape", Tensor<int64_t>({2}, {0, 4}))
                        .Constant("ones", Tensor<int64_t>({2}, {1, 1}))
                        .Node("Identity", {"x"}, {"a"})
                        .Node("Cast", {"a"}, {"b"}, {{"to", int64_t{1}}})
                        .Node("Reshape", {"b", "shape"}, {"c"})
                        .Node("Concat", {"c"}, {"d"}, {{"axis", int64_t{1}}})
                        .Node("Sum", {"d"}, {"e"})
                        .Node("Expand", {"e", "ones"}, {"f"})
                        .Node("Tile", {"f", "ones"}, {"g"})
                        .Node("Dropout", {"g"}, {"h"})
                        .Node("Transpose", {"h"}, {"i"}, {{"perm", Ints{0, 1}}})
                        .Node("Softmax", {"i"}, {"y"})
                        .Output("y"))),
      ElementsAre("Softmax: x -> y"));
}

TEST_F(RemoveNoOpsTest, WhatIsAnOutputStays) {
  EXPECT_THAT(Nodes(Cleaned(TestGraph()
                                .Input("x", kF32, {4})
                                .Node("Identity", {"x"}, {"y"})
                                .Output("y"))),
              ElementsAre("Identity: x -> y"));
}

TEST_F(RemoveNoOpsTest, ACastThereAndBackGoesIfItLosesNothing) {
  const auto graph = [](DType from, int64_t to) {
    return TestGraph()
        .Opset(13)
        .Input("x", from, {4})
        .Node("Cast", {"x"}, {"a"}, {{"to", to}})
        .Node("Cast", {"a"}, {"b"}, {{"to", static_cast<int64_t>(from)}})
        .Node("Softmax", {"b"}, {"y"})
        .Output("y")
        .Output("a");
  };
  EXPECT_THAT(Nodes(Cleaned(graph(DType::kFloat16, 1))),
              ElementsAre("Cast: x -> a", "Softmax: x -> y"));
  EXPECT_THAT(Nodes(Cleaned(graph(DType::kFloat32, 10))), SizeIs(3));
}

TEST_F(RemoveNoOpsTest, TransposesBehindEachOtherAreOne) {
  const auto graph = [](const Ints& second) {
    return TestGraph()
        .Input("x", kF32, {2, 3, 4})
        .Node("Transpose", {"x"}, {"a"}, {{"perm", Ints{1, 2, 0}}}, "first")
        .Node("Transpose", {"a"}, {"b"}, {{"perm", second}}, "second")
        .Node("Softmax", {"b"}, {"y"})
        .Output("y");
  };
  const Graph composed = Cleaned(graph({0, 2, 1}));
  EXPECT_THAT(Nodes(composed),
              ElementsAre("Transpose: x -> b", "Softmax: b -> y"));
  EXPECT_THAT(std::get<TransposeParams>(composed.nodes[0].params).permutation,
              ElementsAre(1, 0, 2));
  EXPECT_THAT(composed.nodes[0].fused_from, ElementsAre("first", "second"));
  EXPECT_THAT(Nodes(Cleaned(graph({2, 0, 1}))), ElementsAre("Softmax: x -> y"));
}

TEST_F(RemoveNoOpsTest, ProductsReadTurnedMatricesAsTheyWere) {
  const Graph product = Folded(TestGraph()
                                   .Input("a", kF32, {"K", "M"})
                                   .Input("b", kF32, {"N", "K"})
                                   .Node("Transpose", {"a"}, {"at"})
                                   .Node("Transpose", {"b"}, {"bt"})
                                   .Node("MatMul", {"at", "bt"}, {"y"}, {}, "p")
                                   .Output("y"));
  EXPECT_THAT(Nodes(product), ElementsAre("Gemm: a b -> y"));
  EXPECT_TRUE(std::get<GemmParams>(product.nodes[0].params).transpose_a);
  EXPECT_TRUE(std::get<GemmParams>(product.nodes[0].params).transpose_b);
  EXPECT_EQ(product.nodes[0].name, "p");
  // Turned twice is not turned.
  const Graph gemm =
      Folded(TestGraph()
                 .Input("a", kF32, {"M", "K"})
                 .Input("b", kF32, {"K", "N"})
                 .Input("c", kF32, {"N"})
                 .Node("Transpose", {"b"}, {"bt"}, {{"perm", Ints{1, 0}}})
                 .Node("Gemm", {"a", "bt", "c"}, {"y"},
                       {{"transB", int64_t{1}}, {"alpha", 2.0f}})
                 .Output("y"));
  EXPECT_THAT(Nodes(gemm), ElementsAre("Gemm: a b c -> y"));
  EXPECT_FALSE(std::get<GemmParams>(gemm.nodes[0].params).transpose_b);
  EXPECT_EQ(std::get<GemmParams>(gemm.nodes[0].params).alpha, 2);
}

TEST_F(RemoveNoOpsTest, TransposesThatOthersReadOrOfMoreDimensionsStay) {
  EXPECT_THAT(Folded(TestGraph()
                         .Input("a", kF32, {3, 3})
                         .Node("Transpose", {"a"}, {"at"})
                         .Node("MatMul", {"a", "at"}, {"y"})
                         .Output("at")
                         .Output("y"))
                  .nodes,
              SizeIs(2));
  EXPECT_THAT(
      Folded(TestGraph()
                 .Input("a", kF32, {2, 3, 3})
                 .Node("Transpose", {"a"}, {"at"}, {{"perm", Ints{0, 2, 1}}})
                 .Node("MatMul", {"a", "at"}, {"y"})
                 .Output("y"))
          .nodes,
      SizeIs(2));
}

TEST_F(RemoveNoOpsTest, MovingNoElementIsAView) {
  const Graph view =
      Folded(TestGraph()
                 .Input("x", kF32, {2, 1, 12, 64})
                 .Node("Transpose", {"x"}, {"a"}, {{"perm", Ints{0, 2, 1, 3}}})
                 .Node("Softmax", {"a"}, {"y"})
                 .Output("y"));
  ASSERT_THAT(view.nodes, SizeIs(2));
  EXPECT_EQ(view.nodes[0].op, OpKind::kReshape);
}

}  // namespace
}  // namespace tensord
