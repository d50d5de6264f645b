#include "engine/passes/graph_editor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/graph/graph_builder.h"
#include "tests/support/graphs.h"
#include "tests/support/matchers.h"

namespace tensord {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr DType kF32 = DType::kFloat32;

GraphEditor EditorOf(const TestGraph& test) {
  absl::StatusOr<Graph> graph = BuildGraph(test.definition(), GraphLimits());
  EXPECT_THAT(graph, IsOk());
  absl::StatusOr<Inference> inference = InferGraph(*graph, GraphLimits());
  EXPECT_THAT(inference, IsOk());
  return GraphEditor(*graph, *inference);
}

// x -> Neg a -> Exp b -> Add(b, a) -> y
TestGraph Diamond() {
  return TestGraph()
      .Input("x", kF32, {4})
      .Node("Neg", {"x"}, {"a"}, {}, "neg")
      .Node("Exp", {"a"}, {"b"}, {}, "exp")
      .Node("Add", {"b", "a"}, {"y"}, {}, "add")
      .Output("y");
}

ValueId Named(const GraphEditor& editor, const std::string& name) {
  const auto& values = editor.graph().values;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].name == name) return static_cast<ValueId>(i);
  }
  ADD_FAILURE() << "no value " << name;
  return kNoValue;
}

std::vector<std::string> NodeNames(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) names.push_back(node.name);
  return names;
}

Node Unary(OpKind op, std::string name, ValueId from, ValueId to) {
  Node node;
  node.op = op;
  node.name = std::move(name);
  node.inputs = {from};
  node.outputs = {to};
  return node;
}

TEST(GraphEditorTest, KnowsWhoReadsAndWhoMakesAValue) {
  GraphEditor editor = EditorOf(Diamond());
  const ValueId a = Named(editor, "a");
  const ValueId y = Named(editor, "y");
  EXPECT_EQ(editor.producer(a), 0);
  EXPECT_EQ(editor.producer(Named(editor, "x")), kNoNode);
  EXPECT_THAT(editor.readers(a), ElementsAre(1, 2));
  EXPECT_EQ(editor.only_reader(a), kNoNode);
  EXPECT_EQ(editor.only_reader(Named(editor, "b")), 2);
  EXPECT_TRUE(editor.is_output(y));
  EXPECT_EQ(editor.read_count(y), 1);
  EXPECT_THAT(editor.readers(y), IsEmpty());
}

TEST(GraphEditorTest, AFusedNodeStandsWhereTheLastStoodAndListsAll) {
  GraphEditor editor = EditorOf(Diamond());
  const ValueId a = Named(editor, "a");
  const ValueId y = Named(editor, "y");
  EXPECT_TRUE(editor.AreInternal({1, 2}, {y}));
  EXPECT_FALSE(editor.AreInternal({0, 1}, {Named(editor, "b")}));
  EXPECT_FALSE(editor.AreInternal({1, 2}, {}));
  const NodeId fused = editor.Fuse({2, 1}, Unary(OpKind::kRelu, "fused", a, y));
  EXPECT_EQ(fused, 2);
  EXPECT_EQ(editor.only_reader(a), fused);
  const NodeId all = editor.Fuse(
      {0, fused}, Unary(OpKind::kRelu, "all", Named(editor, "x"), y));
  EXPECT_THAT(editor.node(all).fused_from, ElementsAre("neg", "exp", "add"));
  const Graph graph = editor.Finish();
  EXPECT_THAT(NodeNames(graph), ElementsAre("all"));
  EXPECT_EQ(graph.values[y].producer, 0);
  EXPECT_EQ(graph.values[a].producer, kNoNode);
}

TEST(GraphEditorTest, APartThatIsThereTwiceCountsOnce) {
  GraphEditor editor = EditorOf(Diamond());
  const ValueId a = Named(editor, "a");
  const NodeId fused = editor.Fuse(
      {1, 2, 1}, Unary(OpKind::kRelu, "fused", a, Named(editor, "y")));
  EXPECT_THAT(editor.node(fused).fused_from, ElementsAre("exp", "add"));
  EXPECT_EQ(editor.node_count(), 2);
  EXPECT_EQ(editor.only_reader(a), fused);
  EXPECT_THAT(editor.nodes(), ElementsAre(0, fused));
}

TEST(GraphEditorTest, InsertedNodesStandWhereTheyWerePut) {
  GraphEditor editor = EditorOf(Diamond());
  const ValueId a = Named(editor, "a");
  std::vector<std::string> expected = {"neg"};
  ValueId from = a;
  // More than there are numbers between two of double precision.
  for (int i = 0; i < 200; ++i) {
    const ValueId to = editor.AddValue(editor.type(a), a);
    const std::string name = std::to_string(i);
    editor.InsertBefore(1, Unary(OpKind::kRelu, name, from, to));
    expected.push_back(name);
    from = to;
  }
  Node exp = editor.node(1);
  exp.inputs = {from};
  editor.Replace(1, exp);
  expected.push_back("exp");
  expected.push_back("behind");
  editor.InsertAfter(1, Unary(OpKind::kRelu, "behind", from,
                              editor.AddValue(editor.type(a), a)));
  expected.push_back("add");
  EXPECT_THAT(NodeNames(editor.Finish()), testing::ElementsAreArray(expected));
}

TEST(GraphEditorTest, RedirectedReadersReadTheOther) {
  GraphEditor editor = EditorOf(Diamond());
  const ValueId a = Named(editor, "a");
  const ValueId x = Named(editor, "x");
  editor.Redirect(a, x);
  EXPECT_EQ(editor.read_count(a), 0);
  EXPECT_THAT(editor.readers(x), ElementsAre(0, 1, 2));
  editor.Remove(0);
  EXPECT_THAT(editor.readers(x), ElementsAre(1, 2));
  EXPECT_EQ(editor.node_count(), 2u);
  EXPECT_THAT(NodeNames(editor.Finish()), ElementsAre("exp", "add"));
}

// A node that now reads what a later one makes goes behind it.
TEST(GraphEditorTest, ProducersComeFirstInTheEnd) {
  GraphEditor editor = EditorOf(TestGraph()
                                    .Input("x", kF32, {4})
                                    .Node("Neg", {"x"}, {"a"}, {}, "neg")
                                    .Node("Exp", {"x"}, {"b"}, {}, "exp")
                                    .Output("a")
                                    .Output("b"));
  Node neg = editor.node(0);
  neg.inputs = {Named(editor, "b")};
  editor.Replace(0, neg);
  const Graph graph = editor.Finish();
  EXPECT_THAT(NodeNames(graph), ElementsAre("exp", "neg"));
  EXPECT_EQ(graph.values[graph.outputs[0]].producer, 1);
}

TEST(GraphEditorTest, NewConstantsAreKnown) {
  GraphEditor editor = EditorOf(Diamond());
  const ValueId id =
      editor.AddConstant(HostTensor::Int64s({2, 3}), Named(editor, "x"));
  EXPECT_EQ(editor.constant(id).values<int64_t>()[1], 3);
  EXPECT_EQ(*editor.shape(id), Shape({2}));
  EXPECT_EQ(editor.graph().value(id).name, "x#4");
}

}  // namespace
}  // namespace tensord
