#include "engine/graph/graph_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/limit_exceeded.h"
#include "tests/support/graph_maker.h"

namespace tensord {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

absl::StatusOr<Graph> Build(GraphMaker& maker,
                            const GraphLimits& limits = GraphLimits()) {
  return BuildGraph(maker.Def(), limits);
}

absl::Status ErrorOf(GraphMaker& maker,
                     const GraphLimits& limits = GraphLimits()) {
  return Build(maker, limits).status();
}

std::string TextOf(GraphMaker& maker,
                   const GraphLimits& limits = GraphLimits()) {
  const absl::Status status = ErrorOf(maker, limits);
  EXPECT_FALSE(status.ok());
  return std::string(status.message());
}

std::vector<std::string> NodeNames(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) names.push_back(node.name);
  return names;
}

TEST(GraphBuilderTest, ResolvesNamesToValues) {
  const absl::StatusOr<Graph> graph =
      Build(GraphMaker()
                .Input("x", {"batch", 3})
                .Initializer("w", FloatTensor({3}))
                .Node("Add", {"x", "w"}, {"sum"}, {}, "add")
                .Node("Relu", {"sum"}, {"y"})
                .Output("y"));
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(NodeNames(*graph), ElementsAre("add", "Relu_1"));
  ASSERT_EQ(graph->inputs.size(), 1u);
  const Value& x = graph->value(graph->inputs[0]);
  EXPECT_TRUE(x.is_input);
  EXPECT_EQ(graph->symbols.ToString(*x.type.shape), "[batch, 3]");
  const Value& y = graph->value(graph->outputs[0]);
  EXPECT_EQ(y.name, "y");
  EXPECT_EQ(y.producer, 1);
  EXPECT_EQ(graph->nodes[1].inputs, graph->nodes[0].outputs);
  EXPECT_EQ(graph->constant_bytes(), 12u);
}

TEST(GraphBuilderTest, OrdersNodesByTheirNeedsAndKeepsTheRest) {
  const absl::StatusOr<Graph> graph =
      Build(GraphMaker()
                .Input("x", {1})
                .Node("Relu", {"b"}, {"c"}, {}, "3")
                .Node("Relu", {"x"}, {"a"}, {}, "1")
                .Node("Relu", {"a"}, {"b"}, {}, "2")
                .Node("Exp", {"x"}, {"d"}, {}, "4")
                .Output("c")
                .Output("d"));
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(NodeNames(*graph), ElementsAre("1", "2", "3", "4"));
}

TEST(GraphBuilderTest, NamesForUnnamedNodesAvoidThoseThatWereGiven) {
  const absl::StatusOr<Graph> graph =
      Build(GraphMaker()
                .Input("x", {1})
                .Node("Relu", {"x"}, {"a"}, {}, "Relu_1")
                .Node("Relu", {"a"}, {"b"})
                .Output("b"));
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(NodeNames(*graph), ElementsAre("Relu_1", "Relu_1_2"));
}

TEST(GraphBuilderTest, ConstantNodesBecomeConstants) {
  const absl::StatusOr<Graph> graph =
      Build(GraphMaker()
                .Input("x", {2})
                .Node("Constant", {}, {"c"}, {{"value_float", 2.0f}})
                .Node("Mul", {"x", "c"}, {"y"})
                .Output("y"));
  ASSERT_TRUE(graph.ok()) << graph.status();
  ASSERT_EQ(graph->nodes.size(), 1u);
  const Value& c = graph->value(graph->nodes[0].inputs[1]);
  EXPECT_EQ(c.constant.values<float>()[0], 2.0f);
  EXPECT_EQ(c.producer, kNoNode);
}

TEST(GraphBuilderTest, AnInitializerThatIsAlsoAnInputIsAConstant) {
  const absl::StatusOr<Graph> graph =
      Build(GraphMaker()
                .Input("x", {3})
                .Input("w", {3})
                .Initializer("w", FloatTensor({3}))
                .Node("Add", {"x", "w"}, {"y"})
                .Output("y"));
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->inputs.size(), 1u);
  EXPECT_EQ(TextOf(GraphMaker()
                       .Input("w", {4})
                       .Initializer("w", FloatTensor({3}))
                       .Node("Relu", {"w"}, {"y"})
                       .Output("y")),
            "input 'w' is declared as float32 [4] and is float32 [3]");
}

TEST(GraphBuilderTest, InputsAndConstantsMayBeOutputs) {
  const absl::StatusOr<Graph> graph =
      Build(GraphMaker()
                .Input("x", {3})
                .Initializer("w", FloatTensor({3}))
                .Output("x")
                .OutputAs("w", {3}));
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->outputs.size(), 2u);
  EXPECT_EQ(
      TextOf(
          GraphMaker().Initializer("w", FloatTensor({3})).OutputAs("w", {5})),
      "output 'w' is declared as float32 [5] and is float32 [3]");
}

TEST(GraphBuilderTest, TrailingAbsentOperandsAreAsGoodAsLeftOut) {
  const absl::StatusOr<Graph> graph =
      Build(GraphMaker()
                .Input("x", {3})
                .Node("Relu", {"x", "", ""}, {"y", ""})
                .Output("y"));
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->nodes[0].inputs.size(), 1u);
  EXPECT_EQ(graph->nodes[0].outputs.size(), 1u);
}

TEST(GraphBuilderTest, EmptyTensorsAndScalarsAreValues) {
  const absl::StatusOr<Graph> graph =
      Build(GraphMaker()
                .Input("x", {0, 5})
                .Input("s", {})
                .Initializer("e", FloatTensor({0}))
                .Node("Relu", {"x"}, {"y"})
                .Node("Relu", {"s"}, {"t"})
                .Node("Relu", {"e"}, {"f"})
                .Output("y")
                .Output("t")
                .Output("f"));
  EXPECT_TRUE(graph.ok()) << graph.status();
}

TEST(GraphBuilderTest, ACycleIsRefusedWithANodeThatIsOnIt) {
  EXPECT_EQ(TextOf(GraphMaker()
                       .Input("x", {1})
                       .Node("Add", {"x", "b"}, {"a"}, {}, "first")
                       .Node("Relu", {"a"}, {"b"}, {}, "second")
                       .Node("Relu", {"b"}, {"y"}, {}, "behind")
                       .Output("y")),
            "node 'first' (Add): its inputs depend on its own outputs: the "
            "node is on a cycle");
}

TEST(GraphBuilderTest, UndefinedValuesAreRefusedWithWhoWantsThem) {
  EXPECT_EQ(TextOf(GraphMaker().Node("Relu", {"nix"}, {"y"}).Output("y")),
            "node 'Relu_0' (Relu): value 'nix' is not defined by any input, "
            "initializer or node");
  EXPECT_EQ(TextOf(GraphMaker().Input("x", {1}).Output("nix")),
            "output 'nix': value 'nix' is not defined by any input, "
            "initializer or node");
}

TEST(GraphBuilderTest, DuplicateNamesAreRefused) {
  EXPECT_EQ(TextOf(GraphMaker()
                       .Input("x", {1})
                       .Node("Relu", {"x"}, {"y"}, {}, "a")
                       .Node("Exp", {"x"}, {"y"}, {}, "b")
                       .Output("y")),
            "value 'y' is defined twice; the second time as output 0 of node "
            "'b'");
  EXPECT_EQ(TextOf(GraphMaker().Input("x", {1}).Input("x", {1}).Output("x")),
            "input 'x' is declared twice");
  EXPECT_THAT(TextOf(GraphMaker()
                         .Initializer("w", FloatTensor({1}))
                         .Initializer("w", FloatTensor({1}))
                         .Output("w")),
              HasSubstr("value 'w' is defined twice"));
  EXPECT_EQ(TextOf(GraphMaker().Input("x", {1}).Output("x").Output("x")),
            "output 'x' is listed twice");
  EXPECT_EQ(TextOf(GraphMaker()
                       .Input("x", {1})
                       .Node("Relu", {"x"}, {"a"}, {}, "n")
                       .Node("Relu", {"x"}, {"b"}, {}, "n")
                       .Output("a")),
            "two nodes are named 'n'");
}

TEST(GraphBuilderTest, UnknownOperatorsAndDomainsAreUnimplemented) {
  const absl::Status status = ErrorOf(GraphMaker()
                                          .Input("x", {1})
                                          .Node("Frobnicate", {"x"}, {"y"})
                                          .Output("y"));
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("node 'Frobnicate_0': operator 'Frobnicate' of domain "
                        "''"));
  GraphDef def =
      GraphMaker().Input("x", {1}).Node("Relu", {"x"}, {"y"}).Output("y").Def();
  def.nodes[0].domain = "com.microsoft";
  EXPECT_EQ(BuildGraph(def, GraphLimits()).status().code(),
            absl::StatusCode::kUnimplemented);
  def.nodes[0].domain = "ai.onnx";
  EXPECT_TRUE(BuildGraph(def, GraphLimits()).ok());
}

TEST(GraphBuilderTest, AnOperatorIsOfOneDomainAlone) {
  GraphDef def = GraphMaker()
                     .Input("r", {})
                     .Input("x", {2})
                     .Node("Cast", {"r"}, {"t"}, {{"to", int64_t{7}}})
                     .Node("Adagrad", {"r", "t", "x", "x", "x"}, {"y"})
                     .Output("y")
                     .Def();
  for (const char* domain : {"", "ai.onnx", "ai.onnx.preview"}) {
    def.nodes[1].domain = domain;
    EXPECT_THAT(std::string(BuildGraph(def, GraphLimits()).status().message()),
                HasSubstr(absl::StrCat("operator 'Adagrad' of domain '", domain,
                                       "' has no definition")));
  }
  def.nodes[1].domain = "ai.onnx.preview.training";
  EXPECT_TRUE(BuildGraph(def, GraphLimits()).ok());
  def.nodes[0].domain = "ai.onnx.preview.training";
  EXPECT_EQ(BuildGraph(def, GraphLimits()).status().code(),
            absl::StatusCode::kUnimplemented);
}

TEST(GraphBuilderTest, OpsetsOutsideTheRangeAreRefusedWithTheRange) {
  for (int64_t opset : {kMinOpset - 1, kMaxOpset + 1}) {
    const absl::Status status =
        ErrorOf(GraphMaker().Opset(opset).Input("x", {1}).Output("x"));
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
    EXPECT_EQ(status.message(), absl::StrCat("operator set version ", opset,
                                             " is outside those supported, ",
                                             kMinOpset, " to ", kMaxOpset));
  }
  EXPECT_EQ(ErrorOf(GraphMaker().Opset(0).Input("x", {1}).Output("x")).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(GraphBuilderTest, ANodeOfAnotherOperatorSetIsReadAsItIsThere) {
  GraphDef def = GraphMaker()
                     .Opset(13)
                     .Input("x", {1, 3})
                     .Node("Squeeze", {"x"}, {"y"},
                           {{"axes", std::vector<int64_t>{0}}}, "squeeze")
                     .Output("y")
                     .Def();
  EXPECT_THAT(std::string(BuildGraph(def, GraphLimits()).status().message()),
              HasSubstr("unknown attribute 'axes' in operator set 13"));
  def.nodes[0].opset = 12;
  const absl::StatusOr<Graph> graph = BuildGraph(def, GraphLimits());
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->nodes[0].inputs.size(), 2u);  // the axes
  def.nodes[0].opset = kMaxOpset + 1;
  EXPECT_THAT(
      std::string(BuildGraph(def, GraphLimits()).status().message()),
      HasSubstr(
          "node 'squeeze' (Squeeze): operator set version 28 is outside"));
}

TEST(GraphBuilderTest, OperandCountsAreCheckedAgainstTheOperator) {
  EXPECT_EQ(TextOf(GraphMaker()
                       .Input("x", {1})
                       .Node("Add", {"x"}, {"y"}, {}, "n")
                       .Output("y")),
            "node 'n' (Add): 1 inputs, where the operator has 2");
  EXPECT_EQ(TextOf(GraphMaker()
                       .Input("x", {1})
                       .Node("Add", {"", "x"}, {"y"}, {}, "n")
                       .Output("y")),
            "node 'n' (Add): input 0 is required and absent");
  EXPECT_EQ(TextOf(GraphMaker()
                       .Input("x", {1})
                       .Node("Concat", {"x", "", "x"}, {"y"},
                             {{"axis", int64_t{0}}}, "n")
                       .Output("y")),
            "node 'n' (Concat): input 1 is required and absent");
  EXPECT_EQ(TextOf(GraphMaker()
                       .Input("x", {1})
                       .Node("Relu", {"x"}, {"y", "z"}, {}, "n")
                       .Output("y")),
            "node 'n' (Relu): 2 outputs, where the operator has 1");
}

TEST(GraphBuilderTest, AttributesThatNobodyReadsAreRefused) {
  EXPECT_EQ(TextOf(GraphMaker()
                       .Input("x", {1})
                       .Node("Relu", {"x"}, {"y"}, {{"aplha", 1.0f}}, "n")
                       .Output("y")),
            "node 'n' (Relu): unknown attribute 'aplha' in operator set 17");
}

TEST(GraphBuilderTest, AnAttributeOfAnotherTypeIsRefusedWithBothTypes) {
  EXPECT_EQ(TextOf(GraphMaker()
                       .Input("x", {2, 2})
                       .Node("Softmax", {"x"}, {"y"}, {{"axis", 1.0f}}, "n")
                       .Output("y")),
            "node 'n' (Softmax): attribute 'axis' has type float; it should be "
            "of type int");
}

TEST(GraphBuilderTest, NanAttributesAreValuesLikeAnyOther) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(Build(GraphMaker()
                        .Input("x", {2, 2})
                        .Initializer("w", FloatTensor({2, 2}))
                        .Node("Gemm", {"x", "w"}, {"y"}, {{"alpha", nan}})
                        .Node("Constant", {}, {"c"}, {{"value_float", nan}})
                        .Output("y")
                        .Output("c"))
                  .ok());
}

TEST(GraphBuilderTest, InputTypesOutOfRangeAreRefused) {
  EXPECT_EQ(TextOf(GraphMaker().Input("x", {1}, DType::kUndefined).Output("x")),
            "input 'x' has no dtype");
  EXPECT_EQ(
      ErrorOf(GraphMaker().Input("x", {1}, DType::kString).Output("x")).code(),
      absl::StatusCode::kUnimplemented);
  EXPECT_EQ(TextOf(GraphMaker().Input("x", {3, -1}).Output("x")),
            "input 'x': dimension 1 is -1, below 0");
  EXPECT_THAT(TextOf(GraphMaker()
                         .Input("x", {int64_t{1} << 62, int64_t{1} << 62})
                         .Output("x")),
              HasSubstr("input 'x': shape [4611686018427387904, "
                        "4611686018427387904] has more than"));
  EXPECT_THAT(TextOf(GraphMaker().Input("x", {1 << 20, 1 << 12}).Output("x")),
              HasSubstr("has 4294967296 elements; the limit max_elements is "
                        "2147483648 (--max-elements)"));
  EXPECT_EQ(TextOf(GraphMaker()
                       .Input("x", std::vector<GraphMaker::Extent>(17, 1))
                       .Output("x")),
            "input 'x' has 17 dimensions; the limit max_rank is 16 "
            "(--max-rank)");
}

TEST(GraphBuilderTest, LimitsAreNamedWithTheirNumbers) {
  GraphLimits limits;
  limits.max_nodes = 2;
  const absl::Status status = ErrorOf(GraphMaker()
                                          .Input("x", {1})
                                          .Node("Relu", {"x"}, {"a"})
                                          .Node("Relu", {"x"}, {"b"})
                                          .Node("Relu", {"x"}, {"c"})
                                          .Output("a"),
                                      limits);
  EXPECT_EQ(status.message(),
            "graph has 3 nodes; the limit max_nodes is 2 (--max-nodes)");
  EXPECT_EQ(LimitDetails::FromStatus(status)->requested, 3);

  limits = GraphLimits();
  limits.max_constant_bytes = 10;
  EXPECT_EQ(TextOf(GraphMaker().Initializer("w", FloatTensor({3})).Output("w"),
                   limits),
            "graph has 12 bytes of constants; the limit max_constant_bytes is "
            "10 (--max-constant-bytes)");

  limits = GraphLimits();
  limits.max_name_bytes = 8;
  EXPECT_THAT(TextOf(GraphMaker().Input("123456789", {1}).Output("x"), limits),
              HasSubstr("has 9 bytes; the limit max_name_bytes is 8"));
}

TEST(GraphBuilderTest, NamesWithControlCharactersAreRefusedEscaped) {
  EXPECT_EQ(TextOf(GraphMaker().Input("a\x1b[2Jb", {1}).Output("x")),
            "name of input 0 'a\\x1b[2Jb' has a control character at byte 1");
  EXPECT_THAT(TextOf(GraphMaker()
                         .Input("x", {1})
                         .Node("Relu", {"x"}, {"y\n"}, {}, "n")
                         .Output("x")),
              HasSubstr("output name of node 'n' 'y\\n' has a control"));
  EXPECT_EQ(TextOf(GraphMaker().Input("", {1}).Output("x")),
            "input 0 has no name");
}

TEST(GraphBuilderTest, AGraphWithoutOutputsIsRefused) {
  EXPECT_EQ(TextOf(GraphMaker().Input("x", {1})),
            "graph has 0 outputs; it needs 1");
}

TEST(GraphBuilderTest, NestedGraphsCountAndAreNotFollowedTooDeep) {
  std::shared_ptr<const GraphDef> nested = std::make_shared<GraphDef>();
  for (int depth = 0; depth < 3'000; ++depth) {
    GraphDef around;
    NodeDef node;
    node.op_type = "If";
    node.attributes.Add("then_branch", nested);
    around.nodes.push_back(std::move(node));
    nested = std::make_shared<GraphDef>(std::move(around));
  }
  GraphDef def = *nested;
  def.opset = 17;
  const absl::Status status =
      BuildGraph(std::move(def), GraphLimits()).status();
  EXPECT_EQ(status.message(),
            "graph has 17 levels of nested graphs; the limit max_nesting_depth "
            "is 16 (--max-nesting-depth)");
}

TEST(GraphBuilderTest, WhatNestedGraphsCaptureIsLimitedInAllOfThem) {
  // Each level captures x once more.
  GraphDef body = GraphMaker().Node("Neg", {"x"}, {"t"}).Output("t").Def();
  for (int level = 0; level < 3; ++level) {
    const auto shared = std::make_shared<const GraphDef>(std::move(body));
    body = GraphMaker()
               .Node("If", {"c"}, {"t"},
                     {{"then_branch", shared}, {"else_branch", shared}})
               .Output("t")
               .Def();
  }
  body.inputs =
      GraphMaker().Input("x", {1}).Input("c", {}, DType::kBool).Def().inputs;
  GraphLimits limits;
  // x in 2 + 4 + 8 graphs, c in 2 + 4.
  limits.max_values = 20;
  EXPECT_TRUE(BuildGraph(body, limits).ok());
  limits.max_values = 19;
  EXPECT_THAT(std::string(BuildGraph(body, limits).status().message()),
              testing::EndsWith(
                  "graph has 20 values that nested graphs capture; the limit "
                  "max_values is 19 (--max-values)"));
}

TEST(GraphBuilderTest, AHundredThousandNodesInReverseOrderAreBuilt) {
  GraphMaker maker;
  maker.Input("v0", {4});
  constexpr int kNodes = 100'000;
  for (int i = kNodes; i-- > 0;) {
    maker.Node("Relu", {absl::StrCat("v", i)}, {absl::StrCat("v", i + 1)});
  }
  maker.Output(absl::StrCat("v", kNodes));
  const absl::StatusOr<Graph> graph = Build(maker);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->nodes.front().name, "Relu_99999");
}

}  // namespace
}  // namespace tensord
