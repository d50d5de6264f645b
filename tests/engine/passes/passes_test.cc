#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "engine/graph/graph_builder.h"
#include "engine/infer/infer.h"
#include "engine/passes/device_evaluator.h"
#include "engine/passes/fold_constants.h"
#include "engine/passes/remove_dead_nodes.h"
#include "tests/support/graph_maker.h"
#include "tests/support/run_op.h"

namespace tensord {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<std::string> NodeNames(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) names.push_back(node.name);
  return names;
}

class PassesTest : public testing::Test {
 protected:
  PassesTest()
      : evaluator_(*DeviceEvaluator::Create(*CpuTestDevice().device,
                                            CpuTestDevice().backend->kernels(),
                                            CpuTestDevice().workers)) {}

  Graph Built(GraphMaker& maker) {
    absl::StatusOr<Graph> graph = BuildGraph(maker.Def(), GraphLimits());
    EXPECT_TRUE(graph.ok()) << graph.status();
    return graph.ok() ? *std::move(graph) : Graph();
  }

  Graph Folded(const Graph& graph, const GraphLimits& limits = GraphLimits(),
               HostEvaluator* for_inference = nullptr) {
    absl::StatusOr<Inference> inference =
        InferGraph(graph, limits, for_inference);
    EXPECT_TRUE(inference.ok()) << inference.status();
    return FoldConstants(graph, *inference, *evaluator_, limits);
  }

  std::unique_ptr<DeviceEvaluator> evaluator_;
};

TEST_F(PassesTest, WhatDependsOnConstantsAloneBecomesAConstant) {
  const Graph graph = Built(GraphMaker()
                                .Input("x", {3})
                                .Initializer("a", FloatTensor({3}, 1))
                                .Initializer("b", FloatTensor({3}, 10))
                                .Node("Add", {"a", "b"}, {"sum"}, {}, "sum")
                                .Node("Mul", {"sum", "x"}, {"y"}, {}, "mul")
                                .Output("y"));
  const Graph folded = Folded(graph);
  EXPECT_THAT(NodeNames(folded), ElementsAre("mul"));
  EXPECT_THAT(NodeNames(graph), ElementsAre("sum", "mul"));
  const Value& sum = folded.value(folded.nodes[0].inputs[0]);
  EXPECT_EQ(sum.name, "sum");
  EXPECT_EQ(sum.producer, kNoNode);
  EXPECT_THAT(sum.constant.values<float>(), ElementsAre(11, 13, 15));
  EXPECT_EQ(folded.value(folded.outputs[0]).producer, 0);
}

TEST_F(PassesTest, AChainOfConstantsFoldsToItsEnd) {
  const Graph graph =
      Built(GraphMaker()
                .Initializer("a", FloatTensor({2, 3}))
                .Node("Neg", {"a"}, {"b"})
                .Node("Flatten", {"b"}, {"c"}, {{"axis", int64_t{0}}})
                .Node("Abs", {"c"}, {"y"})
                .Output("y"));
  const Graph folded = Folded(graph);
  EXPECT_THAT(NodeNames(folded), IsEmpty());
  const HostTensor& y = folded.value(folded.outputs[0]).constant;
  EXPECT_EQ(y.shape(), Shape({1, 6}));
  EXPECT_THAT(y.values<float>(), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST_F(PassesTest, FoldingThatWouldPassTheLimitLeavesTheNode) {
  const Graph graph = Built(GraphMaker()
                                .Initializer("a", FloatTensor({100}))
                                .Node("Neg", {"a"}, {"b"}, {}, "first")
                                .Node("Abs", {"a"}, {"c"}, {}, "second")
                                .Output("b")
                                .Output("c"));
  GraphLimits limits;
  limits.max_folded_bytes = 400;
  EXPECT_THAT(NodeNames(Folded(graph, limits)), ElementsAre("second"));
  limits.max_folded_bytes = 399;
  EXPECT_THAT(NodeNames(Folded(graph, limits)), ElementsAre("first", "second"));
  limits.max_folded_bytes = 800;
  EXPECT_THAT(NodeNames(Folded(graph, limits)), IsEmpty());
}

// 40,000 x 40,000 float32 is 6.4 GB: it must not even be tried.
TEST_F(PassesTest, FoldingThatWouldMakeSixGigabytesDoesNotFold) {
  const Graph graph =
      Built(GraphMaker()
                .Initializer("column", FloatTensor({40'000, 1}))
                .Initializer("row", FloatTensor({1, 40'000}))
                .Node("MatMul", {"column", "row"}, {"y"}, {}, "big")
                .Output("y"));
  const uint64_t before = CpuTestDevice().device->allocated_bytes();
  EXPECT_THAT(NodeNames(Folded(graph)), ElementsAre("big"));
  EXPECT_EQ(CpuTestDevice().device->allocated_bytes(), before);
}

TEST_F(PassesTest, WorkThatWouldTakeSecondsIsNotDoneAtCompileTime) {
  const Graph graph = Built(GraphMaker()
                                .Initializer("a", FloatTensor({1'024, 1'024}))
                                .Node("MatMul", {"a", "a"}, {"y"}, {}, "slow")
                                .Output("y"));
  EXPECT_THAT(NodeNames(Folded(graph)), ElementsAre("slow"));
}

// For another set of shapes the graph is folded again.
TEST_F(PassesTest, AFoldedWeightIsMadeOnceForAllShapes) {
  const Graph graph =
      Built(GraphMaker()
                .Initializer("w", FloatTensor({3, 4}))
                .Input("x", {5, 3})
                .Node("Transpose", {"w"}, {"t"})
                .Node("Gemm", {"x", "t"}, {"y"}, {{"transB", int64_t{1}}})
                .Output("y"));
  const Graph first = Folded(graph);
  const Graph second = Folded(graph);
  const ValueId folded = first.nodes[0].inputs[1];
  ASSERT_TRUE(first.value(folded).constant.is_present());
  EXPECT_EQ(first.value(folded).constant.owner(),
            second.value(folded).constant.owner());
}

TEST_F(PassesTest, EqualInputsUnderOtherShapesFoldToOtherValues) {
  GraphMaker maker;
  maker.Initializer("w", FloatTensor({3, 4}))
      .Initializer("to", HostTensor::Int64s({4, 3}))
      .Node("Reshape", {"w", "to"}, {"turned"})
      .Node("Transpose", {"w"}, {"a"})
      .Node("Transpose", {"turned"}, {"b"})
      .Output("a")
      .Output("b");
  const Graph folded = Folded(Built(maker));
  EXPECT_EQ(folded.value(folded.outputs[0]).constant.shape(), Shape({4, 3}));
  EXPECT_EQ(folded.value(folded.outputs[1]).constant.shape(), Shape({3, 4}));
}

// A tenth of a second each, or a fifth: one is worth it, a thousand are not.
TEST_F(PassesTest, FoldingStopsWhenItsBudgetOfWorkIsSpent) {
  GraphMaker maker;
  maker.Initializer("a", FloatTensor({16, 400'000}))
      .Initializer("b", FloatTensor({400'000, 16}));
  for (int i = 0; i < 24; ++i) {
    const std::string y = "y" + std::to_string(i);
    maker.Node("MatMul", {"a", "b"}, {y}).Output(y);
  }
  // 2 * 16 * 400,000 * 16 operations each: four are within 1e9, and some more
  // where a kernel counts itself as faster than that.
  const std::vector<std::string> left = NodeNames(Folded(Built(maker)));
  EXPECT_THAT(left, testing::SizeIs(
                        testing::AllOf(testing::Ge(12u), testing::Le(20u))));
  EXPECT_EQ(left.back(), "MatMul_23");
}

TEST_F(PassesTest, WorkWithoutArithmeticIsPaidForToo) {
  GraphMaker maker;
  maker.Initializer("a", FloatTensor({20'000'000}))
      .Initializer("i", HostTensor::Int64s({7}));
  for (int i = 0; i < 60; ++i) {
    const std::string y = "y" + std::to_string(i);
    maker.Node("Gather", {"a", "i"}, {y}).Output(y);
  }
  EXPECT_THAT(NodeNames(Folded(Built(maker))), SizeIs(11));  // 49 are folded
}

TEST_F(PassesTest, InferenceComputesSmallValuesWithTheSameKernels) {
  const Graph graph = Built(GraphMaker()
                                .Initializer("a", FloatTensor({2}, 1))
                                .Node("Neg", {"a"}, {"y"})
                                .Output("y"));
  const absl::StatusOr<Inference> inference =
      InferGraph(graph, GraphLimits(), evaluator_.get());
  ASSERT_TRUE(inference.ok()) << inference.status();
  EXPECT_THAT(inference->constants[graph.outputs[0]].values<float>(),
              ElementsAre(-1, -2));
  EXPECT_THAT(NodeNames(Folded(graph, GraphLimits(), evaluator_.get())),
              IsEmpty());
}

TEST_F(PassesTest, EmptyConstantsAndScalarsFold) {
  const Graph graph = Built(GraphMaker()
                                .Initializer("empty", FloatTensor({0, 3}))
                                .Initializer("scalar", FloatTensor({}, 4))
                                .Node("Neg", {"empty"}, {"a"})
                                .Node("Neg", {"scalar"}, {"b"})
                                .Output("a")
                                .Output("b"));
  const Graph folded = Folded(graph);
  EXPECT_THAT(NodeNames(folded), IsEmpty());
  EXPECT_EQ(folded.value(folded.outputs[0]).constant.shape(), Shape({0, 3}));
  EXPECT_EQ(folded.value(folded.outputs[1]).constant.values<float>()[0], -4);
}

TEST_F(PassesTest, NodesThatReachNoOutputGoAndTakeTheirConstantsAlong) {
  const Graph graph = Built(GraphMaker()
                                .Input("x", {3})
                                .Input("unused", {3})
                                .Initializer("w", FloatTensor({3}))
                                .Node("Relu", {"x"}, {"a"}, {}, "live")
                                .Node("Add", {"a", "w"}, {"b"}, {}, "dead")
                                .Node("Exp", {"b"}, {"c"}, {}, "dead too")
                                .Node("Exp", {"a"}, {"y"}, {}, "last")
                                .Output("y"));
  EXPECT_EQ(graph.constant_bytes(), 12u);
  const Graph result = RemoveDeadNodes(graph);
  EXPECT_THAT(NodeNames(result), ElementsAre("live", "last"));
  EXPECT_EQ(result.constant_bytes(), 0u);
  EXPECT_EQ(result.values.size(), graph.values.size());
  EXPECT_EQ(result.inputs, graph.inputs);
  EXPECT_EQ(result.value(result.outputs[0]).producer, 1);
  EXPECT_EQ(graph.nodes.size(), 4u);
}

TEST_F(PassesTest, AGraphWithoutDeadNodesStaysAsItIs) {
  const Graph graph = Built(GraphMaker()
                                .Input("x", {3})
                                .Initializer("w", FloatTensor({3}))
                                .Node("Add", {"x", "w"}, {"y"}, {}, "add")
                                .Output("y")
                                .Output("w"));
  const Graph result = RemoveDeadNodes(graph);
  EXPECT_THAT(NodeNames(result), ElementsAre("add"));
  EXPECT_EQ(result.constant_bytes(), graph.constant_bytes());
}

}  // namespace
}  // namespace tensord
