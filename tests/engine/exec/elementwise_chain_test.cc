// Chains beside the nodes that they are made of, on the CPU.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/host_worker_pool.h"
#include "engine/passes/pass_names.h"
#include "tests/support/execution_rig.h"

namespace tensord {
namespace {

using testing::ElementsAre;
using Attributes = std::vector<std::pair<std::string, Attribute>>;

using MakeGraph = std::function<TestGraph(DType)>;

TestTensor As(DType dtype, const TestTensor& tensor) {
  std::vector<double> numbers;
  for (int64_t i = 0; i < tensor.shape.element_count(); ++i) {
    numbers.push_back(tensor.At(i));
  }
  return TensorOf(dtype, tensor.shape, numbers);
}

class ElementwiseChain : public testing::TestWithParam<DType> {
 protected:
  std::vector<std::string> Ops(const MakeGraph& graph,
                               const std::vector<Shape>& shapes) {
    std::vector<std::string> ops;
    const auto compiled = rig_.Plan(graph(GetParam()), shapes);
    for (const auto& node : compiled->explanation.nodes) {
      ops.push_back(node.op);
    }
    return ops;
  }

  // The chain beside the nodes that it is made of. Those of 16-bit floats are
  // computed in float32, since each would round its result.
  void ExpectSameAsNodes(const MakeGraph& graph,
                         const std::vector<TestTensor>& inputs) {
    const DType dtype = GetParam();
    const DType wide =
        dtype == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
    std::vector<TestTensor> wide_inputs;
    for (const TestTensor& input : inputs) {
      wide_inputs.push_back(As(wide, input));
    }
    rig_.options().disabled_passes = {std::string(kFuseElementwise)};
    const auto expected = rig_.Outputs(graph(wide), wide_inputs);
    ASSERT_THAT(expected, IsOk());
    rig_.options().disabled_passes.clear();
    const auto actual = rig_.Outputs(graph(dtype), inputs);
    ASSERT_THAT(actual, IsOk());
    ASSERT_EQ(actual->size(), expected->size());
    for (size_t i = 0; i < actual->size(); ++i) {
      EXPECT_THAT((*actual)[i],
                  IsNear(As(dtype, (*expected)[i]),
                         ToleranceFor(dtype, OpFamily::kTranscendental)));
    }
  }

  HostWorkerPool workers_{2};
  std::unique_ptr<Backend> cpu_ = MakeCpuBackend({.workers = &workers_}, {});
  ExecutionRig rig_{*cpu_, &workers_};
};

struct Unary {
  const char* op;
  Attributes attributes = {};
  int64_t opset = 20;
};

std::vector<Unary> UnaryOps() {
  return {{"Abs"},
          {"Asinh"},
          {"Atan"},
          {"Ceil"},
          {"Cos"},
          {"Cosh"},
          {"Erf"},
          {"Exp"},
          {"Floor"},
          {"HardSwish"},
          {"Mish"},
          {"Neg"},
          {"Relu"},
          {"Round"},
          {"Sigmoid"},
          {"Sign"},
          {"Sin"},
          {"Sinh"},
          {"Tan"},
          {"Softplus"},
          {"Softsign"},
          {"Tanh"},
          {"Gelu"},
          {"Gelu", {{"approximate", std::string("tanh")}}},
          {"Elu", {{"alpha", 0.5f}}},
          {"Celu", {{"alpha", 0.5f}}},
          {"Selu"},
          {"HardSigmoid", {{"alpha", 0.3f}, {"beta", 0.25f}}},
          {"LeakyRelu", {{"alpha", 0.125f}}},
          {"ThresholdedRelu", {{"alpha", 0.25f}}}};
}

TEST_P(ElementwiseChain, EachStepComputesWhatItsKernelDoes) {
  for (const Unary& unary : UnaryOps()) {
    SCOPED_TRACE(unary.op);
    const auto graph = [&](DType dtype) {
      return TestGraph()
          .Opset(unary.opset)
          .Input("x", dtype, {7, 150})
          .Node(unary.op, {"x"}, {"a"}, unary.attributes)
          .Node("Neg", {"a"}, {"y"})
          .Output("y");
    };
    EXPECT_THAT(Ops(graph, {Shape({7, 150})}), ElementsAre("ElementwiseChain"));
    ExpectSameAsNodes(graph, {Pattern(GetParam(), Shape({7, 150}))});
  }
  for (const char* op : {"Log", "Sqrt", "Reciprocal"}) {
    SCOPED_TRACE(op);
    ExpectSameAsNodes(
        [&](DType dtype) {
          return TestGraph()
              .Input("x", dtype, {600})
              .Node("Exp", {"x"}, {"a"})
              .Node(op, {"a"}, {"y"})
              .Output("y");
        },
        {Pattern(GetParam(), Shape({600}))});
  }
}

TEST_P(ElementwiseChain, PairsTakeOperandsOfEveryKind) {
  const Shape whole({3, 5, 70});
  for (const char* op : {"Add", "Sub", "Mul", "Div", "Max", "Min", "PRelu"}) {
    for (const Shape& other :
         {whole, Shape({}), Shape({1}), Shape({70}), Shape({5, 1}),
          Shape({3, 1, 1}), Shape({3, 1, 70})}) {
      SCOPED_TRACE(absl::StrCat(op, " ", other.ToString()));
      std::vector<TestGraph::Extent> extents;
      for (int d = 0; d < other.rank(); ++d) extents.push_back(other[d]);
      const auto graph = [&](DType dtype) {
        return TestGraph()
            .Input("x", dtype, {3, 5, 70})
            .Input("z", dtype, extents)
            .Node("Neg", {"x"}, {"a"})
            .Node(op, {"a", "z"}, {"b"})
            .Node("Abs", {"b"}, {"y"})
            .Output("y");
      };
      EXPECT_THAT(Ops(graph, {whole, other}), ElementsAre("ElementwiseChain"));
      ExpectSameAsNodes(graph, {Pattern(GetParam(), whole, 1),
                                Pattern(GetParam(), other, 2)});
    }
  }
}

TEST_P(ElementwiseChain, LengthsAroundABlockAreWhole) {
  for (const int64_t length : {0, 1, 511, 512, 513, 70'000}) {
    SCOPED_TRACE(length);
    ExpectSameAsNodes(
        [&](DType dtype) {
          return TestGraph()
              .Input("x", dtype, {"N"})
              .Constant("half", TensorOf(dtype, Shape({}), {0.5}))
              .Node("Mul", {"x", "half"}, {"a"})
              .Node("Sigmoid", {"a"}, {"b"})
              .Node("Mul", {"x", "b"}, {"c"})
              .Node("Sub", {"half", "c"}, {"y"})
              .Output("y");
        },
        {Pattern(GetParam(), Shape({length}))});
  }
}

TEST_P(ElementwiseChain, AThousandStepsOnBroadcastInputsAreOneNode) {
  const auto graph = [&](DType dtype) {
    TestGraph made;
    made.Input("v0", dtype, {3, 50}).Input("c", dtype, {50});
    for (int i = 0; i < 1000; ++i) {
      const std::string from = absl::StrCat("v", i);
      const std::string to = absl::StrCat("v", i + 1);
      if (i % 2 == 0) {
        made.Node("Sub", {"c", from}, {to});
      } else {
        made.Node("Sin", {from}, {to});
      }
    }
    return made.Output("v1000");
  };
  EXPECT_THAT(Ops(graph, {Shape({3, 50}), Shape({50})}),
              ElementsAre("ElementwiseChain"));
  ExpectSameAsNodes(graph, {Pattern(GetParam(), Shape({3, 50}), 1),
                            Pattern(GetParam(), Shape({50}), 2)});
}

TEST_P(ElementwiseChain, SpecialNumbersPassAsThroughNodes) {
  const double infinity = std::numeric_limits<double>::infinity();
  const TestTensor x = TensorOf(GetParam(), Shape({6}),
                                {0, -0.0, infinity, -infinity,
                                 std::numeric_limits<double>::quiet_NaN(), 1});
  for (const char* op : {"Relu", "Abs", "Sign", "Sigmoid", "Tanh", "Exp"}) {
    ExpectSameAsNodes(
        [&](DType dtype) {
          return TestGraph()
              .Input("x", dtype, {6})
              .Node(op, {"x"}, {"a"})
              .Node("Neg", {"a"}, {"y"})
              .Output("y");
        },
        {x});
  }
}

INSTANTIATE_TEST_SUITE_P(Floats, ElementwiseChain,
                         testing::Values(DType::kFloat32, DType::kFloat64,
                                         DType::kFloat16, DType::kBFloat16),
                         [](const auto& info) {
                           return std::string(DTypeName(info.param));
                         });

}  // namespace
}  // namespace tensord
