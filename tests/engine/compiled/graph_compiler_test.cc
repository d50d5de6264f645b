#include "engine/compiled/graph_compiler.h"

#include <memory>
#include <vector>

#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/host_worker_pool.h"
#include "engine/graph/graph_builder.h"
#include "engine/passes/device_evaluator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/fake_backend.h"
#include "tests/support/graphs.h"
#include "tests/support/matchers.h"

namespace tensord {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr DType kF32 = DType::kFloat32;

// Plans on the fake device, whose memory the host does not address.
class GraphCompilerTest : public testing::Test {
 protected:
  GraphCompilerTest()
      : device_(*backend_.OpenDevice(0)),
        lane_(*device_->CreateLane()),
        weights_(*device_) {
    EXPECT_THAT(table_.AddBackend(backend_), IsOk());
    environment_.table = &table_;
    environment_.profile = &profile_;
  }

  absl::StatusOr<std::shared_ptr<CompiledGraph>> Plan(
      const TestGraph& graph, const std::vector<Shape>& shapes,
      const CompileOptions& options = {}) {
    absl::StatusOr<Graph> built =
        BuildGraph(graph.definition(), environment_.limits);
    if (!built.ok()) return built.status();
    return PlanGraph(std::make_shared<Graph>(*std::move(built)), shapes,
                     options, *device_, weights_, *lane_, environment_);
  }

  std::vector<std::string> Launches(const CompiledGraph& graph) {
    std::vector<std::string> ops;
    for (const Step& step : graph.first.steps) {
      ops.push_back(std::string(OpKindName(step.node.op)));
    }
    return ops;
  }

  FakeBackend backend_{BackendId::kVulkan};
  KernelBindingTable table_;
  op_profile::OpProfile profile_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Lane> lane_;
  WeightStore weights_;
  CompilerEnvironment environment_;
};

TestGraph ReluChain(int length) {
  TestGraph graph;
  graph.Input("x0", kF32, {"N"});
  for (int i = 0; i < length; ++i) {
    graph.Node("Relu", {"x" + std::to_string(i)},
               {"x" + std::to_string(i + 1)});
  }
  return graph.Output("x" + std::to_string(length));
}

TEST_F(GraphCompilerTest, LaunchesEveryLiveNodeInOrder) {
  const auto compiled = Plan(TestGraph()
                                 .Input("x", kF32, {4})
                                 .Node("Mul", {"r", "x"}, {"y"})
                                 .Node("Relu", {"x"}, {"r"})
                                 .Node("Add", {"x", "x"}, {"unused"})
                                 .Output("y"),
                             {Shape({4})});
  ASSERT_THAT(compiled, IsOk());
  EXPECT_THAT(Launches(**compiled), ElementsAre("Relu", "Mul"));
}

TEST_F(GraphCompilerTest, AViewLaunchesNothingAndSharesItsInputsPlace) {
  const auto compiled = Plan(TestGraph()
                                 .Input("x", kF32, {4})
                                 .Node("Relu", {"x"}, {"a"})
                                 .Node("Identity", {"a"}, {"b"})
                                 .Node("Relu", {"b"}, {"y"})
                                 .Output("y"),
                             {Shape({4})});
  ASSERT_THAT(compiled, IsOk());
  EXPECT_THAT(Launches(**compiled), ElementsAre("Relu", "Relu"));
  const auto& steps = (*compiled)->first.steps;
  EXPECT_EQ(steps[0].operands[1].place, steps[1].operands[0].place);
  EXPECT_EQ(steps[0].operands[1].offset_bytes,
            steps[1].operands[0].offset_bytes);
}

// Ten temporaries of 4 KB; a kernel that may work in place needs one slot,
// others two. Inputs and outputs join the arena on this device.
TEST_F(GraphCompilerTest, AChainReusesItsSlots) {
  const auto compiled = Plan(ReluChain(10), {Shape({1024})});
  ASSERT_THAT(compiled, IsOk());
  EXPECT_LE((*compiled)->arena_bytes, 4 * 4096);
  EXPECT_GE((*compiled)->arena_bytes, 3 * 4096);
}

TEST_F(GraphCompilerTest, PeakBytesAreKnownBeforeTheRunAndLimited) {
  environment_.max_peak_bytes = 10'000;
  EXPECT_THAT(Plan(ReluChain(3), {Shape({100})}), IsOk());
  EXPECT_THAT(Plan(ReluChain(3), {Shape({10'000})}),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("max_peak_bytes")));
}

TEST_F(GraphCompilerTest, AnInPlaceOutputTakesItsInputsSlotOnlyAtTheLastRead) {
  const auto compiled = Plan(TestGraph()
                                 .Input("x", kF32, {16})
                                 .Node("Relu", {"x"}, {"a"})
                                 .Node("Add", {"a", "x"}, {"b"})
                                 .Node("Mul", {"a", "b"}, {"c"})
                                 .Node("Relu", {"c"}, {"y"})
                                 .Output("y"),
                             {Shape({16})});
  ASSERT_THAT(compiled, IsOk());
  const auto& steps = (*compiled)->first.steps;
  const Operand& a = steps[0].operands[1];
  const Operand& b = steps[1].operands[2];
  const Operand& c = steps[2].operands[2];
  EXPECT_NE(a.offset_bytes, b.offset_bytes) << "a is read after b is written";
  EXPECT_TRUE(c.offset_bytes == a.offset_bytes ||
              c.offset_bytes == b.offset_bytes)
      << "both die at the Mul";
}

TEST_F(GraphCompilerTest, AnOperandThatIsReadTwiceIsNotOverwritten) {
  const auto compiled = Plan(TestGraph()
                                 .Input("x", kF32, {16})
                                 .Node("Relu", {"x"}, {"a"})
                                 .Node("Add", {"a", "a"}, {"b"})
                                 .Node("Relu", {"b"}, {"y"})
                                 .Output("y"),
                             {Shape({16})});
  ASSERT_THAT(compiled, IsOk());
  const auto& add = (*compiled)->first.steps[1];
  EXPECT_NE(add.operands[0].offset_bytes, add.operands[2].offset_bytes);
}

TEST_F(GraphCompilerTest, AnOutputThatIsAnInputOrAConstantIsCopied) {
  const auto compiled = Plan(TestGraph()
                                 .Input("x", kF32, {2})
                                 .Constant("c", Tensor({2}, {1, 2}))
                                 .Output("x")
                                 .Output("c"),
                             {Shape({2})});
  ASSERT_THAT(compiled, IsOk());
  ASSERT_THAT((*compiled)->output_copies, SizeIs(2));
  EXPECT_EQ((*compiled)->output_copies[0].source.place, Operand::Place::kInput);
  EXPECT_EQ((*compiled)->output_copies[1].source.place,
            Operand::Place::kWeight);
}

TEST_F(GraphCompilerTest, GraphsWithTheSameWeightsShareThem) {
  const TestGraph graph = TestGraph()
                              .Input("x", kF32, {"N", 2})
                              .Constant("c", Tensor({2}, {1, 2}))
                              .Node("Add", {"x", "c"}, {"y"})
                              .Output("y");
  const auto one = Plan(graph, {Shape({1, 2})});
  const auto other = Plan(graph, {Shape({3, 2})});
  ASSERT_THAT(one, IsOk());
  ASSERT_THAT(other, IsOk());
  EXPECT_EQ((*one)->weights[0], (*other)->weights[0]);
  EXPECT_EQ(weights_.resident_bytes(), 8);
}

TEST_F(GraphCompilerTest, ANodeWithoutAKernelIsNamed) {
  const auto compiled = Plan(TestGraph()
                                 .Input("x", kF32, {2})
                                 .Node("Sigmoid", {"x"}, {"y"}, {}, "gate")
                                 .Output("y"),
                             {Shape({2})});
  EXPECT_THAT(compiled, StatusIs(absl::StatusCode::kUnimplemented,
                                 HasSubstr("node 'gate'")));
  EXPECT_EQ(NoBackendForOp::FromStatus(compiled.status())->node, "gate");
}

TEST_F(GraphCompilerTest, EveryNodeIsPreparedInOrder) {
  std::vector<std::string> prepared;
  backend_.control(0).SetPrepareHook([&](const NodeSite& site) {
    prepared.push_back(std::string(OpKindName(site.op)));
    return absl::OkStatus();
  });
  const auto compiled = Plan(TestGraph()
                                 .Input("x", kF32, {2, 2})
                                 .Node("Mul", {"x", "x"}, {"a"})
                                 .Node("MatMul", {"a", "x"}, {"y"})
                                 .Output("y"),
                             {Shape({2, 2})});
  ASSERT_THAT(compiled, IsOk());
  EXPECT_THAT(prepared, SizeIs(0));
  PreparationChannel channel(8);
  ASSERT_THAT(PrepareNodes(**compiled, *device_, channel), IsOk());
  EXPECT_THAT(prepared, ElementsAre("Mul", "MatMul"));
}

TEST_F(GraphCompilerTest, AFailedPreparationNamesItsNodeAndEndsTheChannel) {
  backend_.control(0).SetPrepareHook([](const NodeSite&) {
    return absl::ResourceExhaustedError("no room to pack 12 bytes");
  });
  const auto compiled = Plan(TestGraph()
                                 .Input("x", kF32, {2, 2})
                                 .Node("MatMul", {"x", "x"}, {"y"}, {}, "proj")
                                 .Output("y"),
                             {Shape({2, 2})});
  ASSERT_THAT(compiled, IsOk());
  PreparationChannel channel(8);
  EXPECT_THAT(PrepareNodes(**compiled, *device_, channel),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("node 'proj': no room")));
  EXPECT_THAT(
      channel.Take(0, absl::InfiniteFuture()),
      StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("proj")));
}

TEST_F(GraphCompilerTest, AConstantSubgraphIsFoldedUnlessThePassIsOff) {
  HostWorkerPool workers(1);
  const std::unique_ptr<Backend> cpu =
      MakeCpuBackend({.workers = &workers}, {});
  const std::unique_ptr<Device> host = *cpu->OpenDevice(0);
  const auto evaluator =
      DeviceEvaluator::Create(*host, cpu->kernels(), &workers);
  ASSERT_THAT(evaluator, IsOk());
  environment_.evaluator = evaluator->get();
  const TestGraph graph = TestGraph()
                              .Input("x", kF32, {2})
                              .Constant("c", Tensor({2}, {1, 2}))
                              .Node("Add", {"c", "c"}, {"d"})
                              .Node("Mul", {"x", "d"}, {"y"})
                              .Output("y");
  EXPECT_THAT(Launches(**Plan(graph, {Shape({2})})), ElementsAre("Mul"));
  CompileOptions options;
  options.disabled_passes = {"fold_constants"};
  environment_.evaluator = nullptr;
  EXPECT_THAT(Launches(**Plan(graph, {Shape({2})}, options)),
              ElementsAre("Add", "Mul"));
}

TEST_F(GraphCompilerTest, ExplainsEveryLaunchAndView) {
  CompileOptions options;
  options.disabled_passes = {"remove_no_ops"};
  const auto compiled = Plan(TestGraph()
                                 .Input("x", kF32, {9})
                                 .Node("Relu", {"x"}, {"a"}, {}, "act")
                                 .Node("Identity", {"a"}, {"b"}, {}, "same")
                                 .Node("Add", {"b", "x"}, {"y"}, {}, "sum")
                                 .Output("y"),
                             {Shape({9})}, options);
  ASSERT_THAT(compiled, IsOk());
  const auto& nodes = (*compiled)->explanation.nodes;
  ASSERT_THAT(nodes, SizeIs(3));
  EXPECT_EQ(nodes[0].name, "act");
  EXPECT_EQ(nodes[0].output_shape, "[9]");
  ASSERT_THAT(nodes[0].declined, SizeIs(1)) << "Relu's first sibling";
  EXPECT_EQ(nodes[1].name, "sum");
  EXPECT_GT(nodes[1].estimated_ns, 0);
  EXPECT_EQ(nodes[2].name, "same");
  EXPECT_EQ(nodes[2].kernel, "");
}

TEST_F(GraphCompilerTest, DataDependentExtentsCutTheGraphIntoSegments) {
  const auto compiled = Plan(TestGraph()
                                 .Input("x", kF32, {3, 4})
                                 .Node("NonZero", {"x"}, {"indices"})
                                 .Node("Relu", {"x"}, {"r"})
                                 .Output("indices")
                                 .Output("r"),
                             {Shape({3, 4})});
  ASSERT_THAT(compiled, IsOk());
  EXPECT_EQ((*compiled)->extent_cell_count, 2);
  EXPECT_TRUE((*compiled)->outputs[0].has_bound_only);
  EXPECT_EQ((*compiled)->outputs[0].shape, Shape({2, 12}));
  EXPECT_THAT(*(*compiled)->later_segments->OutputShapes({2, 5}),
              ElementsAre(Shape({2, 5}), Shape({3, 4})));
  EXPECT_THAT((*compiled)->later_segments->OutputShapes({2, 13}),
              StatusIs(absl::StatusCode::kInternal,
                       HasSubstr("extent 13 for dimension 1")));
}

TEST_F(GraphCompilerTest, CheckBindingsNeedsNoShape) {
  const TestGraph graph = TestGraph()
                              .Input("x", DType::kFloat64, {"N"})
                              .Node("Relu", {"x"}, {"y"}, {}, "wide")
                              .Output("y");
  const Graph built = *BuildGraph(graph.definition(), {});
  const Inference inference = *InferGraph(built, GraphLimits{});
  EXPECT_THAT(
      CheckBindings(built, inference, {BackendId::kVulkan}, table_),
      StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("node 'wide'")));
}

}  // namespace
}  // namespace tensord
