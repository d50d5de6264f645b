#include "engine/passes/inline_branches.h"

#include <string>
#include <vector>

#include "engine/graph/graph_builder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/graph_maker.h"

namespace tensord {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

HostTensor Bools(const std::vector<bool>& truths,
                 absl::Span<const int64_t> extents) {
  std::vector<std::byte> bytes;
  for (const bool truth : truths) bytes.push_back(std::byte{truth});
  return *HostTensor::Copy(DType::kBool, *Shape::Create(extents), bytes);
}

HostTensor BoolScalar(bool truth) { return Bools({truth}, {}); }

Attribute Branch(const std::string& name) {
  return std::make_shared<const GraphDef>(
      GraphMaker()
          .Initializer(name + "_k", FloatTensor({3}, 1))
          .Node("Mul", {"x", name + "_k"}, {name + "_p"}, {}, name + "_mul")
          .Node("Exp", {name + "_p"}, {name + "_e"}, {}, name + "_exp")
          .Output(name + "_e")
          .Def());
}

// before, If, after; the condition is an initializer, or an input.
Graph Choice(bool is_known, bool condition = true) {
  GraphMaker maker;
  maker.Input("x", {3});
  if (is_known) {
    maker.Initializer("c", BoolScalar(condition));
  } else {
    maker.Input("c", {}, DType::kBool);
  }
  absl::StatusOr<Graph> graph = BuildGraph(
      maker.Node("Neg", {"x"}, {"n"}, {}, "before")
          .Node("If", {"c"}, {"chosen"},
                {{"then_branch", Branch("yes")}, {"else_branch", Branch("no")}},
                "choice")
          .Node("Add", {"chosen", "n"}, {"y"}, {}, "after")
          .Output("y")
          .Def(),
      GraphLimits());
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? *std::move(graph) : Graph();
}

std::vector<TakenBranch> Known(const Graph& graph) {
  absl::StatusOr<Inference> inference = InferGraph(graph, GraphLimits());
  EXPECT_TRUE(inference.ok()) << inference.status();
  return KnownBranches(graph, *inference);
}

std::vector<std::string> NodeNames(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) names.push_back(node.name);
  return names;
}

TEST(InlineBranchesTest, TheBranchStandsWhereItsIfWas) {
  for (const bool condition : {true, false}) {
    const Graph graph = Choice(/*is_known=*/true, condition);
    ASSERT_THAT(NodeNames(graph), ElementsAre("before", "choice", "after"));
    const Inlined inlined = InlineBranches(graph, Known(graph));
    const std::string name = condition ? "yes" : "no";
    EXPECT_THAT(NodeNames(inlined.graph),
                ElementsAre("before", name + "_mul", name + "_exp", "after"));
    EXPECT_THAT(inlined.origin, ElementsAre(0, 1, 1, 2));
  }
}

TEST(InlineBranchesTest, ValuesKeepTheirIdsAndTheBranchsComeBehindThem) {
  const Graph graph = Choice(/*is_known=*/true);
  const Graph inlined = InlineBranches(graph, Known(graph)).graph;
  ASSERT_GT(inlined.values.size(), graph.values.size());
  for (size_t v = 0; v < graph.values.size(); ++v) {
    EXPECT_EQ(inlined.values[v].name, graph.values[v].name);
  }
  // The branch's result is the If's.
  EXPECT_EQ(inlined.nodes[2].outputs, graph.nodes[1].outputs);
  EXPECT_EQ(inlined.value(graph.nodes[1].outputs[0]).producer, 2);
  const Value& constant = inlined.value(inlined.nodes[1].inputs[1]);
  EXPECT_EQ(constant.name, "choice/yes_k");
  EXPECT_THAT(constant.constant.values<float>(), ElementsAre(1, 2, 3));
  const Value& product = inlined.value(inlined.nodes[1].outputs[0]);
  EXPECT_EQ(product.name, "choice/yes_p");
  EXPECT_EQ(product.producer, 1);
}

TEST(InlineBranchesTest, WithoutAKnownConditionNothingIsTaken) {
  const Graph graph = Choice(/*is_known=*/false);
  EXPECT_THAT(Known(graph), IsEmpty());
}

TEST(InlineBranchesTest, AConditionThatIsNoBoolIsLeftToTheRun) {
  const Graph graph = Choice(/*is_known=*/false);
  EXPECT_TRUE(BranchFor(graph, 1, BoolScalar(true)).has_value());
  EXPECT_FALSE(BranchFor(graph, 0, BoolScalar(true)).has_value());
  EXPECT_FALSE(BranchFor(graph, 1, FloatTensor({1}, 1)).has_value());
  EXPECT_FALSE(BranchFor(graph, 1, Bools({true, true}, {2})).has_value());
}

}  // namespace
}  // namespace tensord
