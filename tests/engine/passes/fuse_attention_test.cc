#include "engine/passes/fuse_attention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/passes/pack_attention.h"
#include "tests/engine/passes/pass_test.h"

namespace tensord {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr DType kF32 = DType::kFloat32;
using Ints = std::vector<int64_t>;

int FuseAndPack(PassContext& context) {
  FuseAttention(context);
  return PackAttention(context);
}

class FuseAttentionTest : public PassTest {
 protected:
  Graph Fused(const TestGraph& graph) { return After(&FuseAttention, graph); }
  Graph Packed(const TestGraph& graph) { return After(&FuseAndPack, graph); }

  static const AttentionParams& ParamsOf(const Node& node) {
    return std::get<AttentionParams>(node.params);
  }

  // The lines of nodes of this operator.
  static std::vector<std::string> Lines(const Graph& graph,
                                        const std::string& op) {
    std::vector<std::string> lines;
    for (const std::string& line : Nodes(graph)) {
      if (line.rfind(op + ":", 0) == 0) lines.push_back(line);
    }
    return lines;
  }
};

std::vector<std::pair<std::string, Attribute>> Perm(Ints permutation) {
  return {{"perm", std::move(permutation)}};
}

// Two heads of four elements, a batch of three, five queries and keys.
TestGraph& Numbers(TestGraph& graph) {
  return graph.Constant("heads", Tensor<int64_t>({4}, {0, 0, 2, 4}))
      .Constant("flat", Tensor<int64_t>({3}, {0, 0, 8}))
      .Constant("two", Tensor({}, {2}));
}

// BERT's: scores divided, a mask, heads moved to and fro.
TestGraph Bert(TestGraph graph) {
  return Numbers(graph)
      .Input("mask", kF32, {3, 1, 1, 5})
      .Node("Reshape", {"q3", "heads"}, {"q4"})
      .Node("Reshape", {"k3", "heads"}, {"k4"})
      .Node("Reshape", {"v3", "heads"}, {"v4"})
      .Node("Transpose", {"q4"}, {"q"}, Perm({0, 2, 1, 3}))
      .Node("Transpose", {"k4"}, {"kt"}, Perm({0, 2, 3, 1}))
      .Node("Transpose", {"v4"}, {"v"}, Perm({0, 2, 1, 3}))
      .Node("MatMul", {"q", "kt"}, {"s0"})
      .Node("Div", {"s0", "two"}, {"s1"})
      .Node("Add", {"s1", "mask"}, {"s2"})
      .Node("Softmax", {"s2"}, {"w"}, {{"axis", int64_t{-1}}})
      .Node("MatMul", {"w", "v"}, {"m"})
      .Node("Transpose", {"m"}, {"mt"}, Perm({0, 2, 1, 3}))
      .Node("Reshape", {"mt", "flat"}, {"y"})
      .Output("y");
}

TEST_F(FuseAttentionTest, WithHeadsMovedToAndFro) {
  const Graph fused = Fused(Bert(TestGraph()
                                     .Input("q3", kF32, {3, 5, 8})
                                     .Input("k3", kF32, {3, 5, 8})
                                     .Input("v3", kF32, {3, 5, 8})));
  EXPECT_THAT(Nodes(fused), ElementsAre("Attention: q3 k3 v3 mask -> y"));
  const AttentionParams& params = ParamsOf(fused.nodes[0]);
  EXPECT_EQ(params.query_heads, 2);
  EXPECT_EQ(params.key_value_heads, 2);
  EXPECT_EQ(params.scale, 0.5f);
  EXPECT_THAT(fused.nodes[0].fused_from, SizeIs(13));
}

TEST_F(FuseAttentionTest, ThreeProductsBecomeOne) {
  TestGraph graph;
  graph.Input("x", kF32, {3, 5, 6});
  for (const char* part : {"q", "k", "v"}) {
    const std::string name = part;
    graph.Constant("w" + name, Pattern(kF32, Shape({6, 8}), name[0]))
        .Constant("b" + name, Pattern(kF32, Shape({8}), name[0] + 1))
        .Node("MatMul", {"x", "w" + name}, {name + "0"})
        .Node("Add", {"b" + name, name + "0"}, {name + "3"});
  }
  const Graph packed = Packed(Bert(graph));
  ASSERT_THAT(packed.nodes, SizeIs(3));
  EXPECT_EQ(packed.nodes[0].op, OpKind::kMatMul);
  EXPECT_EQ(packed.nodes[1].op, OpKind::kAdd);
  EXPECT_THAT(packed.nodes[0].fused_from, SizeIs(3));
  const Node& attention = packed.nodes[2];
  EXPECT_TRUE(ParamsOf(attention).packs_qkv);
  EXPECT_EQ(attention.inputs[1], kNoValue);
  EXPECT_EQ(attention.inputs[2], kNoValue);
  // Columns 7 and 8 are the last of wq and the first of wk.
  const auto all = Floats(packed, packed.nodes[0].inputs[1]);
  ASSERT_THAT(all, SizeIs(6 * 24));
  EXPECT_EQ(all[24 + 7], Pattern(kF32, Shape({6, 8}), 'q').At(8 + 7));
  EXPECT_EQ(all[24 + 8], Pattern(kF32, Shape({6, 8}), 'k').At(8));
  const auto bias = Floats(packed, packed.nodes[1].inputs[1]);
  EXPECT_EQ(bias[16], Pattern(kF32, Shape({8}), 'v' + 1).At(0));
}

TEST_F(FuseAttentionTest, PartsOfOneProductAreReadWhereTheyAre) {
  const auto graph = [] {
    return TestGraph()
        .Input("x", kF32, {3, 5, 24})
        .Constant("parts", Tensor<int64_t>({3}, {8, 8, 8}))
        .Node("Split", {"x", "parts"}, {"q3", "k3", "v3"},
              {{"axis", int64_t{2}}});
  };
  EXPECT_THAT(Nodes(Packed(Bert(graph()))),
              ElementsAre("Attention: x _ _ mask -> y"));
  // Not by a kernel that takes them apart.
  kernel_of_ = [](const Node& node) {
    const auto* params = std::get_if<AttentionParams>(&node.params);
    return params != nullptr && params->packs_qkv ? nullptr : &kAnyKernel;
  };
  EXPECT_THAT(Nodes(Packed(Bert(graph()))),
              ElementsAre("Split: x parts -> q3 k3 v3",
                          "Attention: q3 k3 v3 mask -> y"));
}

// As Paddle and vision models write it: one Transpose, then a slice for each;
// the scale is in the queries.
TEST_F(FuseAttentionTest, PartsThatAreSlicedBehindATranspose) {
  TestGraph graph;
  Numbers(graph)
      .Opset(13)
      .Input("x", kF32, {3, 5, 24})
      .Constant("five", Tensor<int64_t>({5}, {3, 5, 3, 2, 4}))
      .Constant("zero", Tensor<int64_t>({1}, {0}))
      .Constant("i0", Tensor<int64_t>({1}, {0}))
      .Constant("i1", Tensor<int64_t>({1}, {1}))
      .Constant("i2", Tensor<int64_t>({1}, {2}))
      .Constant("i3", Tensor<int64_t>({1}, {3}))
      .Constant("last", Tensor<int64_t>({}, {2}))
      .Node("Reshape", {"x", "five"}, {"r"})
      .Node("Transpose", {"r"}, {"t"}, Perm({2, 0, 3, 1, 4}))
      .Node("Slice", {"t", "i0", "i1", "zero"}, {"q1"})
      .Node("Squeeze", {"q1", "zero"}, {"q0"})
      .Node("Mul", {"q0", "two"}, {"q"})
      .Node("Slice", {"t", "i1", "i2", "zero"}, {"k1"})
      .Node("Squeeze", {"k1", "zero"}, {"k"})
      .Node("Gather", {"t", "last"}, {"v"})
      .Node("Transpose", {"k"}, {"kt"}, Perm({0, 1, 3, 2}))
      .Node("MatMul", {"q", "kt"}, {"s"})
      .Node("Softmax", {"s"}, {"w"})
      .Node("MatMul", {"w", "v"}, {"m"})
      .Node("Transpose", {"m"}, {"mt"}, Perm({0, 2, 1, 3}))
      .Node("Reshape", {"mt", "flat"}, {"y"})
      .Output("y");
  const Graph packed = Packed(graph);
  EXPECT_THAT(Nodes(packed), ElementsAre("Attention: x _ _ -> y"));
  EXPECT_EQ(ParamsOf(packed.nodes[0]).scale, 2.0f);
}

// GPT-2's: keys and values of earlier runs come in and go out with the new
// ones.
TEST_F(FuseAttentionTest, PastKeysAndValuesAreTheNodesOwn) {
  TestGraph graph;
  Numbers(graph)
      .Input("x", kF32, {3, 5, 24})
      .Input("mask", kF32, {3, 1, 5, 12})
      .Input("past_k", kF32, {3, 2, 7, 4})
      .Input("past_v", kF32, {3, 2, 7, 4})
      .Constant("parts", Tensor<int64_t>({3}, {8, 8, 8}))
      .Node("Split", {"x", "parts"}, {"q3", "k3", "v3"},
            {{"axis", int64_t{-1}}});
  for (const std::string part : {"q", "k", "v"}) {
    graph.Node("Reshape", {part + "3", "heads"}, {part + "4"})
        .Node("Transpose", {part + "4"}, {part}, Perm({0, 2, 1, 3}));
  }
  graph.Node("Concat", {"past_k", "k"}, {"all_k"}, {{"axis", int64_t{2}}})
      .Node("Concat", {"past_v", "v"}, {"all_v"}, {{"axis", int64_t{-2}}})
      .Node("Transpose", {"all_k"}, {"kt"}, Perm({0, 1, 3, 2}))
      .Node("MatMul", {"q", "kt"}, {"s"})
      .Node("Add", {"mask", "s"}, {"s1"})
      .Node("Softmax", {"s1"}, {"w"})
      .Node("MatMul", {"w", "all_v"}, {"m"})
      .Node("Transpose", {"m"}, {"mt"}, Perm({0, 2, 1, 3}))
      .Node("Reshape", {"mt", "flat"}, {"y"})
      .Output("y")
      .Output("all_k")
      .Output("all_v");
  const Graph packed = Packed(graph);
  EXPECT_THAT(Nodes(packed),
              ElementsAre("Attention: x _ _ mask past_k past_v -> y all_k "
                          "all_v"));
  EXPECT_EQ(ParamsOf(packed.nodes[0]).scale, 1.0f);
}

// The heads are in a dimension of their own from the start.
TestGraph Plain() {
  return TestGraph()
      .Input("q", kF32, {3, 2, 5, 4})
      .Input("k", kF32, {3, 2, 6, 4})
      .Input("v", kF32, {3, 2, 6, 7})
      .Node("Transpose", {"k"}, {"kt"}, Perm({0, 1, 3, 2}));
}

TEST_F(FuseAttentionTest, WithHeadsInADimensionOfTheirOwn) {
  EXPECT_THAT(Nodes(Fused(Plain()
                              .Node("MatMul", {"q", "kt"}, {"s"})
                              .Node("Softmax", {"s"}, {"w"})
                              .Node("MatMul", {"w", "v"}, {"y"})
                              .Output("y"))),
              ElementsAre("Attention: q k v -> y"));
}

TEST_F(FuseAttentionTest, KeysThatAreTransposedAlreadyAreTurnedBack) {
  const Graph fused = Fused(TestGraph()
                                .Input("q", kF32, {3, 2, 5, 4})
                                .Input("kt", kF32, {3, 2, 4, 6})
                                .Input("v", kF32, {3, 2, 6, 7})
                                .Node("MatMul", {"q", "kt"}, {"s"})
                                .Node("Softmax", {"s"}, {"w"})
                                .Node("MatMul", {"w", "v"}, {"y"})
                                .Output("y"));
  ASSERT_THAT(fused.nodes, SizeIs(2));
  EXPECT_EQ(fused.nodes[0].op, OpKind::kTranspose);
  EXPECT_EQ(fused.nodes[1].op, OpKind::kAttention);
}

// Batch and heads in one dimension, as torch.bmm has them.
TEST_F(FuseAttentionTest, OfThreeDimensions) {
  const Graph fused =
      Fused(TestGraph()
                .Input("q", kF32, {6, 5, 4})
                .Input("k", kF32, {6, 5, 4})
                .Input("v", kF32, {6, 5, 4})
                .Input("mask", kF32, {5, 5})
                .Constant("two", Tensor({1}, {2}))
                .Node("Transpose", {"k"}, {"kt"}, Perm({0, 2, 1}))
                .Node("MatMul", {"q", "kt"}, {"s0"})
                .Node("Mul", {"two", "s0"}, {"s1"})
                .Node("Add", {"s1", "mask"}, {"s2"})
                .Node("Softmax", {"s2"}, {"w"})
                .Node("MatMul", {"w", "v"}, {"y"})
                .Output("y"));
  EXPECT_THAT(Lines(fused, "Attention"), SizeIs(1));
  EXPECT_THAT(fused.nodes, SizeIs(5));  // and views around it
  EXPECT_THAT(Lines(fused, "Reshape"), SizeIs(4));
}

TEST_F(FuseAttentionTest, WhatIsNoAttentionStays) {
  // The weights are read by somebody else.
  EXPECT_THAT(Lines(Fused(Plain()
                              .Node("MatMul", {"q", "kt"}, {"s"})
                              .Node("Softmax", {"s"}, {"w"})
                              .Node("MatMul", {"w", "v"}, {"y"})
                              .Output("y")
                              .Output("w")),
                    "Attention"),
              IsEmpty());
  // A softmax over queries.
  EXPECT_THAT(
      Lines(Fused(Plain()
                      .Node("MatMul", {"q", "kt"}, {"s"})
                      .Node("Softmax", {"s"}, {"w"}, {{"axis", int64_t{2}}})
                      .Node("MatMul", {"w", "v"}, {"y"})
                      .Output("y")),
            "Attention"),
      IsEmpty());
  // A mask with one key for all.
  EXPECT_THAT(Lines(Fused(Plain()
                              .Input("mask", kF32, {5, 1})
                              .Node("MatMul", {"q", "kt"}, {"s"})
                              .Node("Add", {"s", "mask"}, {"s1"})
                              .Node("Softmax", {"s1"}, {"w"})
                              .Node("MatMul", {"w", "v"}, {"y"})
                              .Output("y")),
                    "Attention"),
              IsEmpty());
  kernel_of_ = [](const Node&) { return nullptr; };
  EXPECT_THAT(Lines(Fused(Plain()
                              .Node("MatMul", {"q", "kt"}, {"s"})
                              .Node("Softmax", {"s"}, {"w"})
                              .Node("MatMul", {"w", "v"}, {"y"})
                              .Output("y")),
                    "Softmax"),
              Not(IsEmpty()));
}

}  // namespace
}  // namespace tensord
