#include "engine/passes/channels_last.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/host_worker_pool.h"
#include "engine/graph/graph_builder.h"
#include "engine/passes/pass_names.h"
#include "engine/passes/remove_dead_nodes.h"
#include "tests/support/execution_rig.h"
#include "tests/support/graphs.h"
#include "tests/support/matchers.h"
#include "tests/support/tolerances.h"

namespace tensord {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Ints = std::vector<int64_t>;

constexpr DType kF32 = DType::kFloat32;

bool IsChannelsLast(const Node& node) {
  if (const auto* conv = std::get_if<ConvParams>(&node.params)) {
    return conv->channels_last;
  }
  const auto* pool = std::get_if<PoolParams>(&node.params);
  return pool != nullptr && pool->channels_last;
}

// A device on which everything takes 10 ns, and what has its channels last 1.
std::optional<double> PrefersLast(const Node& node,
                                  absl::Span<const TensorType>,
                                  absl::Span<const HostTensor* const>) {
  if (node.op == OpKind::kTranspose) return 0.5;
  return IsChannelsLast(node) ? 1.0 : 10.0;
}

std::optional<double> PrefersFirst(const Node& node,
                                   absl::Span<const TensorType>,
                                   absl::Span<const HostTensor* const>) {
  return IsChannelsLast(node) ? 10.0 : 1.0;
}

Graph Turned(const TestGraph& test, const std::vector<Shape>& shapes,
             EstimateNode estimate = &PrefersLast) {
  absl::StatusOr<Graph> graph = BuildGraph(test.definition(), GraphLimits());
  EXPECT_THAT(graph, IsOk());
  absl::StatusOr<Inference> inference =
      InferGraph(*graph, shapes, KnownExtents{}, GraphLimits());
  EXPECT_THAT(inference, IsOk());
  return RemoveDeadNodes(PropagateChannelsLast(*graph, *inference, estimate));
}

// "Conv*" for a node that was marked, "Transpose" and so on.
std::string Ops(const Graph& graph) {
  std::string text;
  for (const Node& node : graph.nodes) {
    absl::StrAppend(&text, text.empty() ? "" : " ", OpKindName(node.op),
                    IsChannelsLast(node) ? "*" : "");
  }
  return text;
}

TestTensor Weights(int64_t outputs, int64_t inputs, int64_t kernel) {
  return Pattern(kF32, {outputs, inputs, kernel, kernel}, outputs + inputs);
}

// Two convolutions with what stands between and behind them in real nets.
TestGraph Net() {
  return TestGraph()
      .Input("x", kF32, {2, 3, 9, 7})
      .Constant("w0", Weights(8, 3, 3))
      .Constant("b0", Pattern(kF32, {8}, 5))
      .Constant("slope", Pattern(kF32, {8, 1, 1}, 6))
      .Constant("w1", Weights(8, 1, 3))
      .Constant("w2", Weights(4, 8, 1))
      .Constant("shift", Pattern(kF32, {1}, 7))
      .Node("Conv", {"x", "w0", "b0"}, {"c0"}, {{"pads", Ints{1, 1, 1, 1}}})
      .Node("PRelu", {"c0", "slope"}, {"p0"})
      .Node("Conv", {"p0", "w1"}, {"c1"},
            {{"pads", Ints{1, 1, 1, 1}}, {"group", int64_t{8}}})
      .Node("Add", {"c1", "p0"}, {"sum"})
      .Node("GlobalAveragePool", {"sum"}, {"mean"})
      .Node("Sigmoid", {"mean"}, {"gate"})
      .Node("Mul", {"sum", "gate"}, {"gated"})
      .Node("MaxPool", {"gated"}, {"pooled"},
            {{"kernel_shape", Ints{3, 2}}, {"strides", Ints{2, 2}}})
      .Node("Conv", {"pooled", "w2"}, {"c2"})
      .Node("Concat", {"pooled", "c2"}, {"joined"}, {{"axis", int64_t{1}}})
      .Node("Sub", {"joined", "shift"}, {"y"})
      .Output("y");
}

const Shape kNetInput({2, 3, 9, 7});

TEST(ChannelsLast, ARegionIsTurnedAndElementsMoveAtItsEdges) {
  EXPECT_EQ(Ops(Turned(Net(), {kNetInput})),
            "Transpose Conv* PRelu Conv* Add GlobalAveragePool* Sigmoid Mul "
            "MaxPool* Conv* Concat Sub Transpose");
}

TEST(ChannelsLast, NothingIsTurnedWhereKernelsAreSlowerThatWay) {
  const Graph graph = Turned(Net(), {kNetInput}, &PrefersFirst);
  EXPECT_THAT(Ops(graph), testing::Not(HasSubstr("Transpose")));
  EXPECT_THAT(Ops(graph), testing::Not(HasSubstr("*")));
}

// One convolution wins 9 ns, and moving its operands would lose 40.
TEST(ChannelsLast, NothingIsTurnedWhenTheMovesCostMore) {
  const TestGraph one = TestGraph()
                            .Input("x", kF32, {1, 4, 5, 5})
                            .Constant("w", Weights(4, 4, 1))
                            .Node("Conv", {"x", "w"}, {"y"})
                            .Output("y");
  const auto slow_moves = [](const Node& node, absl::Span<const TensorType> t,
                             absl::Span<const HostTensor* const> c) {
    return node.op == OpKind::kTranspose ? 20.0 : PrefersLast(node, t, c);
  };
  EXPECT_EQ(Ops(Turned(one, {Shape({1, 4, 5, 5})}, slow_moves)), "Conv");
  EXPECT_EQ(Ops(Turned(one, {Shape({1, 4, 5, 5})})),
            "Transpose Conv* Transpose");
}

// As exporters of frameworks with channels last write it.
TEST(ChannelsLast, TransposesOfTheGraphItselfAreTheEdges) {
  const Graph graph =
      Turned(TestGraph()
                 .Input("x", kF32, {1, 5, 5, 3})
                 .Constant("w", Weights(4, 3, 1))
                 .Node("Transpose", {"x"}, {"a"}, {{"perm", Ints{0, 3, 1, 2}}})
                 .Node("Conv", {"a", "w"}, {"b"})
                 .Node("Relu", {"b"}, {"c"})
                 .Node("Transpose", {"c"}, {"y"}, {{"perm", Ints{0, 2, 3, 1}}})
                 .Output("y"),
             {Shape({1, 5, 5, 3})});
  EXPECT_EQ(Ops(graph), "Conv* Relu Identity");
}

TEST(ChannelsLast, VectorsOfChannelsMoveForFree) {
  const Graph graph = Turned(TestGraph()
                                 .Input("x", kF32, {1, 4, 5, 5})
                                 .Constant("w", Weights(4, 4, 1))
                                 .Node("Conv", {"x", "w"}, {"a"})
                                 .Node("GlobalMaxPool", {"a"}, {"b"})
                                 .Node("Flatten", {"b"}, {"y"})
                                 .Output("y"),
                             {Shape({1, 4, 5, 5})});
  EXPECT_EQ(Ops(graph), "Transpose Conv* GlobalMaxPool* Reshape Flatten");
}

// A device without the kernel that a turned Resize would need.
TEST(ChannelsLast, NothingIsTurnedForADeviceThatCouldNotRunIt) {
  const TestGraph graph = TestGraph()
                              .Input("x", kF32, {1, 4, 5, 5})
                              .Constant("w", Weights(4, 4, 1))
                              .Constant("scales", Tensor({4}, {1, 1, 2, 2}))
                              .Node("Conv", {"x", "w"}, {"a"})
                              .Node("Resize", {"a", "", "scales"}, {"y"})
                              .Output("y");
  const auto no_resize = [](const Node& node, absl::Span<const TensorType> t,
                            absl::Span<const HostTensor* const> c) {
    return node.op == OpKind::kResize ? std::optional<double>()
                                      : PrefersLast(node, t, c);
  };
  EXPECT_EQ(Ops(Turned(graph, {Shape({1, 4, 5, 5})}, no_resize)),
            "Conv Resize");
  EXPECT_EQ(Ops(Turned(graph, {Shape({1, 4, 5, 5})})),
            "Transpose Conv* Resize Transpose");
}

// A block of scales, though it is one, says along which dimension.
TEST(ChannelsLast, ScalesInBlocksKeepTheOrder) {
  const auto quantize = [](const TestTensor& scale, int64_t block_size) {
    return TestGraph()
        .Input("x", kF32, {1, 4, 5, 5})
        .Constant("w", Weights(4, 4, 1))
        .Constant("scale", scale)
        .Node("Conv", {"x", "w"}, {"a"})
        .Node("QuantizeLinear", {"a", "scale"}, {"y"},
              {{"axis", int64_t{1}}, {"block_size", block_size}})
        .Output("y")
        .Opset(21);
  };
  EXPECT_EQ(Ops(Turned(quantize(Tensor({}, {0.5f}), 0), {Shape({1, 4, 5, 5})})),
            "Transpose Conv* QuantizeLinear Transpose");
  EXPECT_EQ(Ops(Turned(quantize(Pattern(kF32, {1, 1, 5, 5}), 4),
                       {Shape({1, 4, 5, 5})})),
            "Transpose Conv* Transpose QuantizeLinear");
}

// Scales by channel stay vectors; a chain of integers goes along.
TEST(ChannelsLast, ConvolutionsOfIntegersAreTurned) {
  const TestTensor bytes = Pattern(DType::kInt8, {6, 3, 1, 1}, 3);
  const Graph turned =
      Turned(TestGraph()
                 .Input("x", DType::kUInt8, {2, 3, 5, 4})
                 .Constant("scale", Tensor({}, {0.5f}))
                 .Constant("zero", Tensor<uint8_t>({}, {3}))
                 .Constant("w", bytes)
                 .Constant("w_scales", Tensor({6}, {1, 2, 3, 4, 5, 6}))
                 .Constant("w_zero", Tensor<int8_t>({}, {0}))
                 .Node("QLinearConv",
                       {"x", "scale", "zero", "w", "w_scales", "w_zero",
                        "scale", "zero"},
                       {"a"})
                 .Node("Max", {"a", "zero"}, {"y"})
                 .Output("y"),
             {Shape({2, 3, 5, 4})});
  EXPECT_EQ(Ops(turned), "Transpose QLinearConv* Max Transpose");
}

class ChannelsLastRun : public testing::Test {
 protected:
  // The outputs with the pass forced on every node, against those without it.
  void ExpectTheSame(const TestGraph& test,
                     const std::vector<TestTensor>& inputs,
                     const std::string& ops) {
    std::vector<Shape> shapes;
    for (const TestTensor& input : inputs) shapes.push_back(input.shape);
    absl::StatusOr<Graph> plain = BuildGraph(test.definition(), GraphLimits());
    ASSERT_THAT(plain, IsOk());
    auto turned = std::make_shared<Graph>(Turned(test, shapes));
    EXPECT_THAT(Ops(*turned), HasSubstr(ops));
    const auto expected = Run(std::make_shared<Graph>(*plain), shapes, inputs);
    const auto actual = Run(turned, shapes, inputs);
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < actual.size(); ++i) {
      EXPECT_THAT(
          actual[i],
          IsNear(expected[i], ToleranceFor(kF32, OpFamily::kContraction, 100)));
    }
  }

  std::vector<TestTensor> Run(std::shared_ptr<const Graph> graph,
                              const std::vector<Shape>& shapes,
                              const std::vector<TestTensor>& inputs) {
    rig_.options().disabled_passes = {std::string(kChannelsLast)};
    auto planned = rig_.TryPlan(std::move(graph), shapes);
    EXPECT_THAT(planned, IsOk());
    if (!planned.ok()) return {};
    auto outputs = rig_.Outputs(*planned, inputs);
    EXPECT_THAT(outputs, IsOk());
    return outputs.ok() ? *std::move(outputs) : std::vector<TestTensor>();
  }

  HostWorkerPool workers_{2};
  std::unique_ptr<Backend> backend_ =
      MakeCpuBackend(HostServices{.workers = &workers_});
  ExecutionRig rig_{*backend_, &workers_};
};

TEST_F(ChannelsLastRun, ANetGivesWhatItGave) {
  ExpectTheSame(Net(), {Pattern(kF32, kNetInput)}, "Concat Sub Transpose");
}

TEST_F(ChannelsLastRun, PadsAxesAndScalesAreReordered) {
  ExpectTheSame(
      TestGraph()
          .Input("x", kF32, {2, 3, 5, 4})
          .Constant("w", Weights(6, 3, 3))
          .Constant("pads", Tensor<int64_t>({8}, {0, 1, 2, 0, 0, 0, 1, 3}))
          .Constant("scales", Tensor({4}, {1, 1, 2, 3}))
          .Constant("spatial", Tensor<int64_t>({2}, {2, -1}))
          .Constant("channel", Tensor<int64_t>({1}, {1}))
          .Node("Conv", {"x", "w"}, {"a"},
                {{"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{1, 2}}})
          .Node("Pad", {"a", "pads"}, {"b"})
          .Node("Resize", {"b", "", "scales"}, {"c"})
          .Node("ReduceMean", {"c", "spatial"}, {"mean"},
                {{"keepdims", int64_t{0}}})
          .Node("ReduceMax", {"c", "channel"}, {"maximum"})
          .Node("Transpose", {"c"}, {"moved"}, {{"perm", Ints{3, 1, 0, 2}}})
          .Output("mean")
          .Output("maximum")
          .Output("moved")
          .Opset(18),
      {Pattern(kF32, {2, 3, 5, 4})}, "Conv* Pad Resize ReduceMean ReduceMax");
}

// Every set of axes, kept and dropped: what is left keeps its order.
TEST_F(ChannelsLastRun, EverySetOfAxesIsReduced) {
  for (int rank : {3, 4, 5}) {
    const Dims dims = {2, 3, 5, 4, 6};
    const Shape shape = *Shape::Create(absl::MakeConstSpan(dims).first(rank));
    std::vector<TestGraph::Extent> extents(dims.begin(), dims.begin() + rank);
    Dims kernel = {6, 3, 1, 1, 1};
    kernel.resize(rank);
    for (int set = 1; set < 1 << rank; ++set) {
      Ints axes;
      for (int d = 0; d < rank; ++d) {
        if (set >> d & 1) axes.push_back(d % 2 == 0 ? d : d - rank);
      }
      for (int64_t keep : {0, 1}) {
        ExpectTheSame(
            TestGraph()
                .Input("x", kF32, extents)
                .Constant("w", Pattern(kF32, *Shape::Create(kernel), 3))
                .Constant(
                    "axes",
                    Tensor<int64_t>({static_cast<int64_t>(axes.size())}, axes))
                .Node("Conv", {"x", "w"}, {"a"})
                .Node("ReduceMean", {"a", "axes"}, {"y"}, {{"keepdims", keep}})
                .Output("y")
                .Opset(18),
            {Pattern(kF32, shape)}, "Conv*");
      }
    }
  }
}

// As nets with groups exchange their channels.
TEST_F(ChannelsLastRun, ChannelsAreSplitAndShuffled) {
  ExpectTheSame(
      TestGraph()
          .Input("x", kF32, {2, 3, 5, 4})
          .Constant("w", Weights(8, 3, 1))
          .Constant("parts", Tensor<int64_t>({5}, {2, 2, 4, 5, 4}))
          .Constant("joined", Tensor<int64_t>({4}, {2, -1, 5, 4}))
          .Constant("halves", Tensor<int64_t>({2}, {3, 5}))
          .Node("Conv", {"x", "w"}, {"a"})
          .Node("Reshape", {"a", "parts"}, {"b"})
          .Node("Transpose", {"b"}, {"c"}, {{"perm", Ints{0, 2, 1, 3, 4}}})
          .Node("Reshape", {"c", "joined"}, {"d"})
          .Node("Split", {"d", "halves"}, {"e", "f"}, {{"axis", int64_t{1}}})
          .Node("Concat", {"f", "e"}, {"y"}, {{"axis", int64_t{1}}})
          .Output("y"),
      {Pattern(kF32, {2, 3, 5, 4})},
      "Transpose Conv* Reshape Transpose Reshape Split Concat Transpose");
}

TEST_F(ChannelsLastRun, OneAndThreeSpatialDimensions) {
  ExpectTheSame(TestGraph()
                    .Input("x", kF32, {2, 4, 11})
                    .Constant("w", Pattern(kF32, {6, 2, 3}, 3))
                    .Node("Conv", {"x", "w"}, {"a"},
                          {{"group", int64_t{2}}, {"dilations", Ints{2}}})
                    .Node("AveragePool", {"a"}, {"y"},
                          {{"kernel_shape", Ints{3}}, {"pads", Ints{1, 1}}})
                    .Output("y"),
                {Pattern(kF32, {2, 4, 11})}, "Conv* AveragePool*");
  ExpectTheSame(
      TestGraph()
          .Input("x", kF32, {1, 2, 4, 5, 3})
          .Constant("w", Pattern(kF32, {3, 2, 2, 3, 1}, 3))
          .Node("Conv", {"x", "w"}, {"a"})
          .Node("MaxPool", {"a"}, {"y"}, {{"kernel_shape", Ints{2, 2, 2}}})
          .Output("y"),
      {Pattern(kF32, {1, 2, 4, 5, 3})}, "Conv* MaxPool*");
}

}  // namespace
}  // namespace tensord
