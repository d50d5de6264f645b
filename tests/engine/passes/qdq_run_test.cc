#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/host_worker_pool.h"
#include "engine/passes/pass_names.h"
#include "tests/support/execution_rig.h"
#include "tests/support/graphs.h"
#include "tests/support/matchers.h"
#include "tests/support/tolerances.h"

// A quantized net on integers gives what it gives on floats, within a step.
namespace tensord {
namespace {

using testing::HasSubstr;
using Ints = std::vector<int64_t>;

constexpr int64_t kChannels = 16;

// The quantizations of a net: of signed values, and behind a Relu.
struct Kind {
  DType dtype;
  int zero_point, relu_zero_point;

  friend void PrintTo(const Kind& kind, std::ostream* out) {
    *out << DTypeName(kind.dtype) << ", zero points " << kind.zero_point
         << " and " << kind.relu_zero_point;
  }
};

class QdqRunTest : public testing::TestWithParam<Kind> {
 protected:
  void Quantize(const std::string& x, const std::string& y, bool positive) {
    const std::string zero = positive ? "positive" : "zero";
    net_.Node("QuantizeLinear", {x, "scale", zero}, {y + "_q"})
        .Node("DequantizeLinear", {y + "_q", "scale", zero}, {y});
  }

  void Convolve(const std::string& x, const std::string& y, int64_t kernel) {
    const uint64_t seed = ++seed_;
    const TestTensor numbers =
        Pattern(DType::kFloat32, {kChannels, kChannels, kernel, kernel}, seed);
    std::vector<double> integers, scales, biases;
    for (int64_t i = 0; i < numbers.shape.element_count(); ++i) {
      integers.push_back(std::round(numbers.At(i) * 60));
    }
    for (int64_t i = 0; i < kChannels; ++i) {
      scales.push_back(0.0005 * static_cast<double>(i + 4) /
                       static_cast<double>(kernel));
      biases.push_back(37.0 * static_cast<double>(i) - 200);
    }
    net_.Constant(y + "_w", TensorOf(DType::kInt8, numbers.shape, integers))
        .Constant(y + "_w_scale",
                  TensorOf(DType::kFloat32, {kChannels}, scales))
        .Constant(y + "_b", TensorOf(DType::kFloat32, {kChannels}, biases))
        .Constant(y + "_unit", Tensor({}, {0.001f}))
        .Node("DequantizeLinear", {y + "_w", y + "_w_scale"}, {y + "_w_real"},
              {{"axis", int64_t{0}}})
        .Node("Mul", {y + "_b", y + "_unit"}, {y + "_b_real"})
        .Node("Conv", {x, y + "_w_real", y + "_b_real"}, {y},
              {{"pads", Ints(4, kernel / 2)}});
  }

  // Two convolutions with a Relu between, a residual and a pool.
  TestGraph Net() {
    const Kind& kind = GetParam();
    net_ = TestGraph();
    net_.Constant("scale", Tensor({}, {0.03f}))
        .Constant("zero", TensorOf(kind.dtype, {},
                                   {static_cast<double>(kind.zero_point)}))
        .Constant("positive",
                  TensorOf(kind.dtype, {},
                           {static_cast<double>(kind.relu_zero_point)}))
        .Input("x", DType::kFloat32, {2, kChannels, 9, 11});
    Quantize("x", "a", false);
    Convolve("a", "b", 3);
    net_.Node("Relu", {"b"}, {"c"});
    Quantize("c", "d", true);
    Convolve("d", "e", 1);
    Quantize("e", "f", false);
    net_.Node("Add", {"f", "a"}, {"g"}).Node("Relu", {"g"}, {"h"});
    Quantize("h", "i", true);
    net_.Node("MaxPool", {"i"}, {"j"}, {{"kernel_shape", Ints{2, 2}}});
    Quantize("j", "y", true);
    return net_.Output("y");
  }

  TestGraph net_;
  uint64_t seed_ = 0;
  HostWorkerPool workers_{2};
  std::unique_ptr<Backend> backend_ =
      MakeCpuBackend(HostServices{.workers = &workers_});
  ExecutionRig rig_{*backend_, &workers_};
};

// Each of the three roundings of the residual's way may be a step off.
TEST_P(QdqRunTest, ANetGivesWhatItGavesWithinSteps) {
  const TestGraph net = Net();
  const TestTensor x = Pattern(DType::kFloat32, {2, kChannels, 9, 11}, 7);
  auto compiled = rig_.TryPlan(net, {x.shape});
  ASSERT_THAT(compiled, IsOk());
  std::string kernels;
  for (const auto& node : (*compiled)->explanation.nodes) {
    kernels += node.kernel + " ";
    EXPECT_NE(node.op, "Conv");
  }
  EXPECT_THAT(kernels, HasSubstr("qlinear_conv"));
  const auto on_integers = rig_.Outputs(*compiled, {x});
  ASSERT_THAT(on_integers, IsOk());
  rig_.options().disabled_passes = {std::string(kFuseQdq)};
  const auto on_floats = rig_.Outputs(net, {x});
  ASSERT_THAT(on_floats, IsOk());
  Tolerance steps = ToleranceFor(GetParam().dtype, OpFamily::kQuantized);
  steps.absolute *= 3 * 0.03 + 1e-6;
  EXPECT_THAT((*on_integers)[0], IsNear((*on_floats)[0], steps));
}

// Each chain saturates before the next one goes on.
TEST_P(QdqRunTest, ChainsInARowRoundAndSaturateEach) {
  const Kind& kind = GetParam();
  net_.Constant("scale", Tensor({}, {0.03f}))
      .Constant("zero", TensorOf(kind.dtype, {}, {1.0 * kind.zero_point}))
      .Constant("positive",
                TensorOf(kind.dtype, {}, {1.0 * kind.relu_zero_point}))
      .Constant("minus", Tensor({}, {-3.0f}))
      .Constant("plus", Tensor({}, {2.0f}))
      .Input("x", DType::kFloat32, {2, kChannels, 9, 11});
  Quantize("x", "a", false);
  Convolve("a", "b", 3);
  Quantize("b", "c", false);
  net_.Node("Add", {"c", "minus"}, {"d"});
  Quantize("d", "e", true);
  net_.Node("Add", {"e", "plus"}, {"f"});
  Quantize("f", "y", true);
  net_.Output("y");
  const TestTensor x = Pattern(DType::kFloat32, {2, kChannels, 9, 11}, 7);
  const auto on_integers = rig_.Outputs(net_, {x});
  ASSERT_THAT(on_integers, IsOk());
  rig_.options().disabled_passes = {std::string(kFuseQdq)};
  const auto on_floats = rig_.Outputs(net_, {x});
  ASSERT_THAT(on_floats, IsOk());
  Tolerance steps = ToleranceFor(kind.dtype, OpFamily::kQuantized);
  steps.absolute *= 3 * 0.03 + 1e-6;
  EXPECT_THAT((*on_integers)[0], IsNear((*on_floats)[0], steps));
}

// One rounding: within a step.
TEST_P(QdqRunTest, MatrixProductsGiveWhatTheyGaveWithinAStep) {
  const Kind& kind = GetParam();
  std::vector<double> integers, scales, bias;
  for (int64_t i = 0; i < 24 * 40; ++i) {
    integers.push_back(static_cast<double>(i * 37 % 251) - 125);
  }
  for (int64_t i = 0; i < 40; ++i) {
    scales.push_back(0.0002 * static_cast<double>(i % 7 + 4));
    bias.push_back(0.01 * static_cast<double>(i % 11) - 0.05);
  }
  const TestTensor x = Pattern(DType::kFloat32, {9, 24}, 7);
  for (const std::string op : {"MatMul", "Gemm", "Gemm'"}) {
    const bool is_transposed = op == "Gemm'";
    const Shape shape = is_transposed ? Shape({40, 24}) : Shape({24, 40});
    net_ = TestGraph();
    net_.Constant("scale", Tensor({}, {0.03f}))
        .Constant("zero", TensorOf(kind.dtype, {}, {1.0 * kind.zero_point}))
        .Constant("positive",
                  TensorOf(kind.dtype, {}, {1.0 * kind.relu_zero_point}))
        .Constant("w", TensorOf(DType::kInt8, shape, integers))
        .Constant("w_scale", TensorOf(DType::kFloat32, {40}, scales))
        .Constant("c", TensorOf(DType::kFloat32, {40}, bias))
        .Input("x", DType::kFloat32, {9, 24});
    Quantize("x", "a", false);
    net_.Node("DequantizeLinear", {"w", "w_scale"}, {"w_real"},
              {{"axis", int64_t{is_transposed ? 0 : 1}}});
    if (op == "MatMul") {
      net_.Node("MatMul", {"a", "w_real"}, {"b"});
    } else {
      net_.Node("Gemm", {"a", "w_real", "c"}, {"b"},
                {{"transB", int64_t{is_transposed}}});
    }
    net_.Node("Relu", {"b"}, {"r"});
    Quantize("r", "y", true);
    net_.Output("y");
    rig_.options().disabled_passes.clear();
    auto compiled = rig_.TryPlan(net_, {x.shape});
    ASSERT_THAT(compiled, IsOk()) << op;
    std::string ops;
    for (const auto& node : (*compiled)->explanation.nodes) {
      ops += node.op + " ";
    }
    EXPECT_THAT(ops, HasSubstr("QLinear")) << op;
    const auto on_integers = rig_.Outputs(*compiled, {x});
    ASSERT_THAT(on_integers, IsOk()) << op;
    rig_.options().disabled_passes = {std::string(kFuseQdq)};
    const auto on_floats = rig_.Outputs(net_, {x});
    ASSERT_THAT(on_floats, IsOk()) << op;
    Tolerance step = ToleranceFor(kind.dtype, OpFamily::kQuantized);
    step.absolute *= 0.03 + 1e-6;
    EXPECT_THAT((*on_integers)[0], IsNear((*on_floats)[0], step)) << op;
  }
}

INSTANTIATE_TEST_SUITE_P(Quantizations, QdqRunTest,
                         testing::Values(Kind{DType::kUInt8, 128, 0},
                                         Kind{DType::kUInt8, 128, 128},
                                         Kind{DType::kUInt8, 121, 13},
                                         Kind{DType::kInt8, 0, -128},
                                         Kind{DType::kInt8, 5, 5}));

}  // namespace
}  // namespace tensord
