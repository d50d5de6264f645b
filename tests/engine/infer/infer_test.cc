#include "engine/infer/infer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "engine/graph/graph_builder.h"
#include "engine/limit_exceeded.h"
#include "tests/support/graph_maker.h"

namespace tensord {
namespace {

using testing::HasSubstr;

Graph Built(GraphMaker& maker) {
  absl::StatusOr<Graph> graph = BuildGraph(maker.Def(), GraphLimits());
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? *std::move(graph) : Graph();
}

ValueId IdOf(const Graph& graph, const std::string& name) {
  for (size_t i = 0; i < graph.values.size(); ++i) {
    if (graph.values[i].name == name) return static_cast<ValueId>(i);
  }
  ADD_FAILURE() << "no value " << name;
  return 0;
}

std::string ShapeOf(const Graph& graph, const Inference& inference,
                    const std::string& name) {
  const TensorType& type = inference.types[IdOf(graph, name)];
  return type.shape.has_value() ? inference.symbols.ToString(*type.shape)
                                : "unknown";
}

absl::StatusOr<Inference> InferFor(const Graph& graph,
                                   std::vector<Shape> shapes,
                                   const GraphLimits& limits = GraphLimits()) {
  return InferGraph(graph, shapes, KnownExtents(), limits);
}

// Counts calls and answers with the values 7, 8, 9, ...
class CountingEvaluator : public HostEvaluator {
 public:
  absl::StatusOr<std::vector<HostTensor>> Evaluate(
      const Node& node, absl::Span<const HostTensor> inputs,
      absl::Span<const TensorType> output_types, EvaluationBudget&) override {
    ++calls;
    EXPECT_EQ(inputs.size(), node.inputs.size());
    std::vector<HostTensor> outputs;
    for (const TensorType& type : output_types) {
      outputs.push_back(FloatTensor(*ToConcrete(*type.shape), 7));
    }
    return outputs;
  }
  int calls = 0;
};

TEST(InferTest, SymbolsReachTheOutputs) {
  const Graph graph = Built(GraphMaker()
                                .Input("x", {"batch", 3})
                                .Initializer("w", FloatTensor({3, 5}))
                                .Node("MatMul", {"x", "w"}, {"y"})
                                .Node("Relu", {"y"}, {"z"})
                                .Output("z"));
  const absl::StatusOr<Inference> inference = InferGraph(graph, GraphLimits());
  ASSERT_TRUE(inference.ok()) << inference.status();
  EXPECT_EQ(ShapeOf(graph, *inference, "z"), "[batch, 5]");
  EXPECT_EQ(inference->types[graph.outputs[0]].dtype, DType::kFloat32);
}

TEST(InferTest, ConcreteShapesMakeAllExtentsKnown) {
  const Graph graph = Built(GraphMaker()
                                .Input("x", {"batch", 3})
                                .Node("Relu", {"x"}, {"y"})
                                .Output("y"));
  const absl::StatusOr<Inference> inference = InferFor(graph, {Shape({0, 3})});
  ASSERT_TRUE(inference.ok()) << inference.status();
  EXPECT_EQ(ShapeOf(graph, *inference, "y"), "[0, 3]");
}

TEST(InferTest, AnUnknownRankStaysUnknownUntilAShapeIsGiven) {
  const Graph graph = Built(GraphMaker()
                                .InputOfUnknownRank("x")
                                .Node("Relu", {"x"}, {"y"})
                                .Output("y"));
  EXPECT_EQ(ShapeOf(graph, *InferGraph(graph, GraphLimits()), "y"), "unknown");
  EXPECT_EQ(ShapeOf(graph, *InferFor(graph, {Shape({2, 2})}), "y"), "[2, 2]");
}

TEST(InferTest, InputShapesThatDoNotFitTheDeclarationAreRefused) {
  const Graph graph = Built(GraphMaker()
                                .Input("a", {"n", 3})
                                .Input("b", {"n"})
                                .Node("Relu", {"a"}, {"y"})
                                .Output("y"));
  const auto error = [&](std::vector<Shape> shapes) {
    return std::string(InferFor(graph, shapes).status().message());
  };
  EXPECT_EQ(error({Shape({2, 3})}), "1 input shapes for a graph with 2 inputs");
  EXPECT_EQ(error({Shape({2}), Shape({2})}),
            "input 'a' has shape [2] of rank 1; declared is [n, 3] of rank 2");
  EXPECT_EQ(error({Shape({2, 4}), Shape({2})}),
            "dimension 1 of input 'a' is 4; declared is 3");
  EXPECT_EQ(error({Shape({2, 3}), Shape({5})}),
            "dimension 0 of input 'b' is 5, but 'n' is 2 in input 'a'");
  EXPECT_EQ(error({Shape({2, 3}), Shape({2})}), "");
}

TEST(InferTest, AShapeAboveThePromisedBoundIsRefused) {
  GraphDef def = GraphMaker()
                     .Input("x", {"n"})
                     .Node("Relu", {"x"}, {"y"})
                     .Output("y")
                     .Def();
  def.inputs[0].max_extents = {8};
  const absl::StatusOr<Graph> graph = BuildGraph(def, GraphLimits());
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_TRUE(InferFor(*graph, {Shape({8})}).ok());
  EXPECT_EQ(InferFor(*graph, {Shape({9})}).status().message(),
            "dimension 0 of input 'x' is 9, above the declared 8");
}

TEST(InferTest, ErrorsNameTheNodeAndTheNumbers) {
  const Graph graph = Built(GraphMaker()
                                .Input("x", {2, 512})
                                .Initializer("w", FloatTensor({768, 4}))
                                .Node("MatMul", {"x", "w"}, {"y"}, {}, "proj")
                                .Output("y"));
  const absl::Status status = InferGraph(graph, GraphLimits()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              testing::AllOf(HasSubstr("node 'proj' (MatMul): "),
                             HasSubstr("512"), HasSubstr("768")));
}

TEST(InferTest, AnOutputAboveMaxElementsIsRefusedWithTheLimit) {
  GraphLimits limits;
  limits.max_elements = 100;
  const Graph graph = Built(GraphMaker()
                                .Input("x", {20, 1})
                                .Input("w", {1, 20})
                                .Node("MatMul", {"x", "w"}, {"y"}, {}, "big")
                                .Output("y"));
  const absl::Status status = InferGraph(graph, limits).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(LimitDetails::FromStatus(status)->limit, "max_elements");
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("node 'big' (MatMul): output 0 of shape [20, 20] has "
                        "400 elements; the limit max_elements is 100"));
}

TEST(InferTest, OutputsThatAreNotWhatTheClientClaimsAreRefused) {
  const auto error = [](std::vector<GraphMaker::Extent> dims, DType dtype) {
    const Graph graph = Built(GraphMaker()
                                  .Input("x", {"n", 3})
                                  .Node("Relu", {"x"}, {"y"})
                                  .OutputAs("y", dims, dtype));
    return std::string(InferGraph(graph, GraphLimits()).status().message());
  };
  EXPECT_EQ(error({"n", 3}, DType::kFloat32), "");
  // A symbol claims nothing, whatever its name.
  EXPECT_EQ(error({"m", "k"}, DType::kFloat32), "");
  EXPECT_EQ(error({"n", 4}, DType::kFloat32),
            "output 'y' is declared as float32 [n, 4] and is float32 [n, 3]");
  EXPECT_EQ(error({3}, DType::kFloat32),
            "output 'y' is declared as float32 [3] and is float32 [n, 3]");
  EXPECT_EQ(error({"n", 3}, DType::kInt64),
            "output 'y' is declared as int64 [n, 3] and is float32 [n, 3]");
}

TEST(InferTest, SmallValuesOfConstantsAreComputedAndLargeOnesNot) {
  const Graph graph = Built(GraphMaker()
                                .Initializer("small", FloatTensor({64}))
                                .Initializer("large", FloatTensor({65}))
                                .Input("x", {4})
                                .Node("Exp", {"small"}, {"a"})
                                .Node("Exp", {"large"}, {"b"})
                                .Node("Exp", {"x"}, {"c"})
                                .Node("Exp", {"a"}, {"d"})
                                .Output("a"));
  CountingEvaluator evaluator;
  const absl::StatusOr<Inference> inference =
      InferGraph(graph, GraphLimits(), &evaluator);
  ASSERT_TRUE(inference.ok()) << inference.status();
  const auto is_known = [&](const char* name) {
    return inference->constants[IdOf(graph, name)].is_present();
  };
  EXPECT_TRUE(is_known("a"));
  EXPECT_FALSE(is_known("b"));
  EXPECT_FALSE(is_known("c"));
  EXPECT_TRUE(is_known("d"));
  EXPECT_EQ(evaluator.calls, 2);
  EXPECT_EQ(inference->constants[IdOf(graph, "a")].values<float>()[0], 7);
}

TEST(InferTest, AViewOfAConstantIsKnownWithoutAnEvaluatorAndSharesItsBytes) {
  const Graph graph =
      Built(GraphMaker()
                .Initializer("w", FloatTensor({10, 20}))
                .Node("Flatten", {"w"}, {"v"}, {{"axis", int64_t{0}}})
                .Output("v"));
  const absl::StatusOr<Inference> inference = InferGraph(graph, GraphLimits());
  ASSERT_TRUE(inference.ok()) << inference.status();
  const HostTensor& view = inference->constants[IdOf(graph, "v")];
  ASSERT_TRUE(view.is_present());
  EXPECT_EQ(view.shape(), Shape({1, 200}));
  EXPECT_EQ(view.bytes().data(),
            graph.value(IdOf(graph, "w")).constant.bytes().data());
}

TEST(InferTest, ExtentsThatARunHasToldReplaceTheSymbols) {
  const Graph graph = Built(GraphMaker()
                                .Input("x", {4, 5})
                                .Node("NonZero", {"x"}, {"found"})
                                .Node("Identity", {"found"}, {"y"})
                                .Output("y"));
  const std::vector<Shape> shapes = {Shape({4, 5})};
  const absl::StatusOr<Inference> first =
      InferGraph(graph, shapes, KnownExtents(), GraphLimits());
  ASSERT_TRUE(first.ok()) << first.status();
  const Dim found = (*first->types[IdOf(graph, "y")].shape)[1];
  ASSERT_FALSE(found.is_known());
  EXPECT_EQ(first->symbols.upper_bound(found.symbol()), 20);

  KnownExtents known;
  known.extents[IdOf(graph, "found")] = {{1, 7}};
  const absl::StatusOr<Inference> second =
      InferGraph(graph, shapes, known, GraphLimits());
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(ShapeOf(graph, *second, "y"), "[2, 7]");
}

}  // namespace
}  // namespace tensord
