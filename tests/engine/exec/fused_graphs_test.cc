// Graphs with all passes beside themselves without any, on the CPU.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/host_worker_pool.h"
#include "engine/passes/pass_names.h"
#include "tests/support/execution_rig.h"

namespace tensord {
namespace {

using testing::Le;
using testing::SizeIs;
using Ints = std::vector<int64_t>;

// A graph and its inputs, of one dtype.
struct Case {
  TestGraph graph;
  std::vector<TestTensor> inputs;
  // With all passes, views aside.
  int launch_count = 0;
};
struct NamedCase {
  std::string name;
  std::function<Case(DType)> make;
};

TestTensor As(DType dtype, const TestTensor& tensor) {
  std::vector<double> numbers;
  for (int64_t i = 0; i < tensor.shape.element_count(); ++i) {
    numbers.push_back(tensor.At(i));
  }
  return TensorOf(dtype, tensor.shape, numbers);
}

class FusedGraphs : public testing::TestWithParam<NamedCase> {
 protected:
  std::vector<TestTensor> Outputs(const Case& test,
                                  std::set<std::string> disabled) {
    rig_.options().disabled_passes = std::move(disabled);
    const auto outputs = rig_.Outputs(test.graph, test.inputs);
    EXPECT_TRUE(outputs.ok()) << outputs.status();
    return outputs.ok() ? *outputs : std::vector<TestTensor>();
  }

  int LaunchCount(const Case& test) {
    std::vector<Shape> shapes;
    for (const TestTensor& input : test.inputs) shapes.push_back(input.shape);
    rig_.options().disabled_passes.clear();
    return rig_.Plan(test.graph, shapes)->node_count;
  }

  HostWorkerPool workers_{2};
  std::unique_ptr<Backend> cpu_ = MakeCpuBackend({.workers = &workers_}, {});
  ExecutionRig rig_{*cpu_, &workers_};
};

// Sums of the graphs have at most this many terms.
constexpr int64_t kDepth = 64;

TEST_P(FusedGraphs, GiveWhatTheirNodesGive) {
  const std::set<std::string> all(std::begin(kOptionalPasses),
                                  std::end(kOptionalPasses));
  for (const DType dtype :
       {DType::kFloat32, DType::kFloat64, DType::kFloat16}) {
    SCOPED_TRACE(DTypeName(dtype));
    // 16 bits are compared with float32: each node would round.
    const DType wide = dtype == DType::kFloat16 ? DType::kFloat32 : dtype;
    const Case test = GetParam().make(dtype);
    Case plain = GetParam().make(wide);
    for (size_t i = 0; i < plain.inputs.size(); ++i) {
      plain.inputs[i] = As(wide, As(dtype, plain.inputs[i]));
    }
    const auto expected = Outputs(plain, all);
    std::vector<std::set<std::string>> settings = {{}};
    // A node that is left alone rounds its own 16 bits.
    for (const auto pass : kOptionalPasses) {
      if (dtype == wide) settings.push_back({std::string(pass)});
    }
    for (const auto& disabled : settings) {
      SCOPED_TRACE(disabled.empty() ? "all passes"
                                    : "without " + *disabled.begin());
      const auto actual = Outputs(test, disabled);
      ASSERT_THAT(actual, SizeIs(expected.size()));
      for (size_t i = 0; i < actual.size(); ++i) {
        EXPECT_THAT(
            actual[i],
            IsNear(As(dtype, expected[i]),
                   ToleranceFor(dtype, OpFamily::kContraction, kDepth)));
      }
    }
    if (dtype == DType::kFloat32) {
      EXPECT_THAT(LaunchCount(test), Le(test.launch_count));
    }
  }
}

std::vector<std::pair<std::string, Attribute>> Perm(Ints permutation) {
  return {{"perm", std::move(permutation)}};
}

class Layers {
 public:
  explicit Layers(DType dtype) : dtype_(dtype) { graph.Opset(17); }

  std::string Constant(std::string name, const TestTensor& tensor) {
    name = absl::StrCat(name, ++count_);
    graph.Constant(name, tensor);
    return name;
  }
  std::string Number(double value) {
    return Constant("number", TensorOf(dtype_, Shape({}), {value}));
  }
  std::string Weights(Shape shape) {
    return Constant("weights", Pattern(dtype_, std::move(shape), count_ + 7));
  }
  std::string Op(
      const char* op, std::vector<std::string> inputs,
      std::vector<std::pair<std::string, Attribute>> attributes = {}) {
    const std::string result = absl::StrCat(op, "_result", ++count_);
    graph.Node(op, std::move(inputs), {result}, std::move(attributes));
    return result;
  }
  std::string Dense(std::string x, int64_t in, int64_t out) {
    return Op("Add", {Op("MatMul", {x, Weights({in, out})}), Weights({out})});
  }
  std::string Norm(std::string x, int64_t width) {
    const std::vector<std::pair<std::string, Attribute>> last = {
        {"axes", Ints{-1}}};
    const std::string centred = Op("Sub", {x, Op("ReduceMean", {x}, last)});
    const std::string variance =
        Op("ReduceMean", {Op("Pow", {centred, Number(2)})}, last);
    const std::string deviation =
        Op("Sqrt", {Op("Add", {variance, Number(0.125)})});
    return Op("Add",
              {Op("Mul", {Op("Div", {centred, deviation}), Weights({width})}),
               Weights({width})});
  }
  std::string Gelu(std::string x) {
    const std::string gate = Op(
        "Add",
        {Op("Erf", {Op("Div", {x, Number(1.4142135623730951)})}), Number(1)});
    return Op("Mul", {Op("Mul", {x, gate}), Number(0.5)});
  }
  std::string Heads(std::string x, int64_t heads, int64_t size,
                    Ints permutation) {
    const std::string shape =
        Constant("shape", Tensor<int64_t>({4}, {0, 0, heads, size}));
    return Op("Transpose", {Op("Reshape", {x, shape})},
              Perm(std::move(permutation)));
  }

  TestGraph graph;

 private:
  const DType dtype_;
  int count_ = 0;
};

// One layer of BERT, behind a sum that only its normalization reads.
Case BertLayer(DType dtype) {
  Layers net(dtype);
  net.graph.Input("a", dtype, {2, 5, 8})
      .Input("b", dtype, {2, 5, 8})
      .Input("mask", dtype, {2, 1, 1, 5});
  std::string x = net.Norm(net.Op("Add", {"a", "b"}), 8);
  const std::string q = net.Heads(net.Dense(x, 8, 8), 2, 4, {0, 2, 1, 3});
  const std::string k = net.Heads(net.Dense(x, 8, 8), 2, 4, {0, 2, 3, 1});
  const std::string v = net.Heads(net.Dense(x, 8, 8), 2, 4, {0, 2, 1, 3});
  std::string scores = net.Op("Div", {net.Op("MatMul", {q, k}), net.Number(2)});
  scores = net.Op("Softmax", {net.Op("Add", {scores, "mask"})},
                  {{"axis", int64_t{-1}}});
  std::string y =
      net.Op("Transpose", {net.Op("MatMul", {scores, v})}, Perm({0, 2, 1, 3}));
  y = net.Op("Reshape",
             {y, net.Constant("flat", Tensor<int64_t>({3}, {0, 0, 8}))});
  x = net.Norm(net.Op("Add", {net.Dense(y, 8, 8), x}), 8);
  const std::string hidden = net.Gelu(net.Dense(x, 8, 32));
  x = net.Norm(net.Op("Add", {net.Dense(hidden, 32, 8), x}), 8);
  net.graph.Output(x);
  return {
      net.graph,
      {Pattern(dtype, Shape({2, 5, 8}), 1), Pattern(dtype, Shape({2, 5, 8}), 2),
       Pattern(dtype, Shape({2, 1, 1, 5}), 3)},
      8};
}

// One step of GPT-2's attention with what it remembers.
Case DecodingStep(DType dtype) {
  Layers net(dtype);
  net.graph.Input("x", dtype, {2, 1, 8})
      .Input("mask", dtype, {2, 1, 1, 4})
      .Input("past_k", dtype, {2, 2, 3, 4})
      .Input("past_v", dtype, {2, 2, 3, 4});
  const std::string all = net.Dense("x", 8, 24);
  net.graph.Constant("parts", Tensor<int64_t>({3}, {8, 8, 8}))
      .Node("Split", {all, "parts"}, {"q3", "k3", "v3"},
            {{"axis", int64_t{2}}});
  const std::string q = net.Heads("q3", 2, 4, {0, 2, 1, 3});
  net.graph
      .Node("Concat", {"past_k", net.Heads("k3", 2, 4, {0, 2, 1, 3})}, {"k"},
            {{"axis", int64_t{2}}})
      .Node("Concat", {"past_v", net.Heads("v3", 2, 4, {0, 2, 1, 3})}, {"v"},
            {{"axis", int64_t{2}}})
      .Output("k")
      .Output("v");
  const std::string scores =
      net.Op("MatMul", {q, net.Op("Transpose", {"k"}, Perm({0, 1, 3, 2}))});
  const std::string weights = net.Op(
      "Softmax", {net.Op("Add", {scores, "mask"})}, {{"axis", int64_t{-1}}});
  std::string y = net.Op("Transpose", {net.Op("MatMul", {weights, "v"})},
                         Perm({0, 2, 1, 3}));
  y = net.Op("Reshape",
             {y, net.Constant("flat", Tensor<int64_t>({3}, {0, 0, 8}))});
  net.graph.Output(net.Op("Add", {net.Dense(y, 8, 8), "x"}));
  return {net.graph,
          {Pattern(dtype, Shape({2, 1, 8}), 1),
           Pattern(dtype, Shape({2, 1, 1, 4}), 2),
           Pattern(dtype, Shape({2, 2, 3, 4}), 3),
           Pattern(dtype, Shape({2, 2, 3, 4}), 4)},
          3};
}

// Convolutions with normalizations, a residual, squeeze and excitation, and
// hard-swish in parts.
Case ConvolutionBlock(DType dtype) {
  Layers net(dtype);
  net.graph.Input("x", dtype, {1, 4, 6, 6});
  const auto norm = [&](std::string x) {
    std::vector<double> variance = {1, 0.5, 2, 0.25};
    return net.Op(
        "BatchNormalization",
        {x, net.Weights({4}), net.Weights({4}), net.Weights({4}),
         net.Constant("variance", TensorOf(dtype, Shape({4}), variance))});
  };
  const auto conv = [&](std::string x, int64_t kernel) {
    return norm(net.Op("Conv", {x, net.Weights({4, 4, kernel, kernel})},
                       {{"pads", Ints(4, kernel / 2)}}));
  };
  const auto hard_swish = [&](std::string x) {
    const std::string held = net.Op("Clip", {net.Op("Add", {x, net.Number(3)}),
                                             net.Number(0), net.Number(6)});
    return net.Op("Div", {net.Op("Mul", {x, held}), net.Number(6)});
  };
  const std::string branch = conv(hard_swish(conv("x", 1)), 3);
  const std::string gate =
      net.Op("HardSigmoid", {conv(net.Op("GlobalAveragePool", {branch}), 1)});
  const std::string y =
      net.Op("Relu", {net.Op("Add", {"x", net.Op("Mul", {branch, gate})})});
  net.graph.Output(net.Op("ConvTranspose", {y, net.Weights({4, 2, 2, 2})}));
  return {net.graph, {Pattern(dtype, Shape({1, 4, 6, 6}), 1)}, 6};
}

// A normalization that cannot go into weights, views between steps, matrices
// that are turned.
Case Leftovers(DType dtype) {
  Layers net(dtype);
  net.graph.Input("x", dtype, {2, 3, 4}).Input("w", dtype, {5, 12});
  std::string x = net.Op(
      "BatchNormalization",
      {"x", net.Weights({3}), net.Weights({3}), net.Weights({3}),
       net.Constant("variance", TensorOf(dtype, Shape({3}), {1, 2, 0.5}))});
  x = net.Op("Relu", {x});
  x = net.Op("Reshape",
             {x, net.Constant("shape", Tensor<int64_t>({2}, {0, -1}))});
  x = net.Op("Sigmoid", {net.Op("Neg", {x})});
  x = net.Op("MatMul", {x, net.Op("Transpose", {"w"})});
  x = net.Op("Identity", {x});
  net.graph.Output(net.Op("Tanh", {net.Op("Add", {x, net.Weights({5})})}));
  return {
      net.graph,
      {Pattern(dtype, Shape({2, 3, 4}), 1), Pattern(dtype, Shape({5, 12}), 2)},
      3};
}

INSTANTIATE_TEST_SUITE_P(
    All, FusedGraphs,
    testing::Values(NamedCase{"BertLayer", &BertLayer},
                    NamedCase{"DecodingStep", &DecodingStep},
                    NamedCase{"ConvolutionBlock", &ConvolutionBlock},
                    NamedCase{"Leftovers", &Leftovers}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tensord
