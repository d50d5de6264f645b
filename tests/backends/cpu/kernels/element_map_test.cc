#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

// Operators that map each element of one input, against their definitions in
// double.
namespace tensord {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr float kAlpha = 0.75f;
constexpr float kBeta = 0.25f;
constexpr double kPi = 3.14159265358979323846;

struct ElementMap {
  std::string op;
  OpFamily family;
  std::function<double(double)> f;
  std::vector<std::pair<std::string, Attribute>> attributes = {};

  std::vector<KernelOutputs> OfEveryKernel(TestTensor x) const {
    auto all = RunOpOnEveryKernel({.op = op,
                                   .inputs = {std::move(x)},
                                   .attributes = attributes,
                                   .opset = 24});
    EXPECT_THAT(all, IsOk()) << op;
    return all.ok() ? *std::move(all) : std::vector<KernelOutputs>{};
  }
  // Of the portable kernel, the last sibling.
  TestTensor Of(TestTensor x) const {
    const std::vector<KernelOutputs> all = OfEveryKernel(std::move(x));
    return all.empty() ? TestTensor() : all.back().outputs[0];
  }
};

double Sign(double x) { return std::isnan(x) ? x : (x > 0) - (x < 0); }
double Round(double x) {
  return std::isinf(x) ? x : x - std::remainder(x, 1.0);
}
double HalfTo1(double x) { return std::clamp(x, 0.0, 1.0); }
double Softplus(double x) { return x > 50 ? x : std::log1p(std::exp(x)); }
double Celu(double x, double alpha) {
  return x > 0 ? x : alpha * (std::exp(x / alpha) - 1);
}
double Elu(double x, double alpha) {
  return x > 0 ? x : alpha * (std::exp(x) - 1);
}
double Gelu(double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2.0))); }
double GeluByTanh(double x) {
  return x / 2 *
         (1 + std::tanh(std::sqrt(2 / kPi) * (x + 0.044715 * x * x * x)));
}
double Swish(double x, double alpha) { return x / (1 + std::exp(-alpha * x)); }

const std::vector<ElementMap>& Maps() {
  using F = OpFamily;
  static const auto* maps = new std::vector<ElementMap>{
      {"Abs", F::kArithmetic, [](double x) { return std::fabs(x); }},
      {"Acos", F::kTranscendental, [](double x) { return std::acos(x); }},
      {"Acosh", F::kTranscendental, [](double x) { return std::acosh(x); }},
      {"Asin", F::kTranscendental, [](double x) { return std::asin(x); }},
      {"Asinh", F::kTranscendental, [](double x) { return std::asinh(x); }},
      {"Atan", F::kTranscendental, [](double x) { return std::atan(x); }},
      {"Atanh", F::kTranscendental, [](double x) { return std::atanh(x); }},
      {"Ceil", F::kMovement, [](double x) { return std::ceil(x); }},
      {"Celu", F::kTranscendental, [](double x) { return Celu(x, 1); }},
      {"Celu",
       F::kTranscendental,
       [](double x) { return Celu(x, kAlpha); },
       {{"alpha", kAlpha}}},
      {"Cos", F::kTranscendental, [](double x) { return std::cos(x); }},
      {"Cosh", F::kTranscendental, [](double x) { return std::cosh(x); }},
      {"Elu", F::kTranscendental, [](double x) { return Elu(x, 1); }},
      {"Elu",
       F::kTranscendental,
       [](double x) { return Elu(x, kAlpha); },
       {{"alpha", kAlpha}}},
      {"Erf", F::kTranscendental, [](double x) { return std::erf(x); }},
      {"Exp", F::kTranscendental, [](double x) { return std::exp(x); }},
      {"Floor", F::kMovement, [](double x) { return std::floor(x); }},
      {"Gelu", F::kTranscendental, &Gelu},
      {"Gelu", F::kTranscendental, &Gelu, {{"approximate", "none"}}},
      {"Gelu", F::kTranscendental, &GeluByTanh, {{"approximate", "tanh"}}},
      {"HardSigmoid", F::kArithmetic,
       [](double x) { return HalfTo1(0.2f * x + 0.5); }},
      {"HardSigmoid",
       F::kArithmetic,
       [](double x) { return HalfTo1(kAlpha * x + kBeta); },
       {{"alpha", kAlpha}, {"beta", kBeta}}},
      {"HardSwish", F::kArithmetic,
       [](double x) { return x * HalfTo1(x / 6 + 0.5); }},
      {"LeakyRelu", F::kArithmetic,
       [](double x) { return x < 0 ? 0.01f * x : x; }},
      {"LeakyRelu",
       F::kArithmetic,
       [](double x) { return x < 0 ? kAlpha * x : x; },
       {{"alpha", kAlpha}}},
      {"Log", F::kTranscendental, [](double x) { return std::log(x); }},
      {"Mish", F::kTranscendental,
       [](double x) { return x * std::tanh(Softplus(x)); }},
      {"Neg", F::kArithmetic, [](double x) { return -x; }},
      {"Reciprocal", F::kArithmetic, [](double x) { return 1 / x; }},
      {"Relu", F::kArithmetic, [](double x) { return x < 0 ? 0 : x; }},
      {"Round", F::kMovement, &Round},
      {"Selu", F::kTranscendental,
       [](double x) { return 1.05070102f * Elu(x, 1.67326319f); }},
      {"Selu",
       F::kTranscendental,
       [](double x) { return kBeta * Elu(x, kAlpha); },
       {{"alpha", kAlpha}, {"gamma", kBeta}}},
      {"Sigmoid", F::kTranscendental,
       [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"Sign", F::kMovement, &Sign},
      {"Sin", F::kTranscendental, [](double x) { return std::sin(x); }},
      {"Sinh", F::kTranscendental, [](double x) { return std::sinh(x); }},
      {"Softplus", F::kTranscendental, &Softplus},
      {"Softsign", F::kArithmetic,
       [](double x) { return x / (1 + std::fabs(x)); }},
      {"Sqrt", F::kArithmetic, [](double x) { return std::sqrt(x); }},
      {"Swish", F::kTranscendental, [](double x) { return Swish(x, 1); }},
      {"Swish",
       F::kTranscendental,
       [](double x) { return Swish(x, kAlpha); },
       {{"alpha", kAlpha}}},
      {"Tan", F::kTranscendental, [](double x) { return std::tan(x); }},
      {"Tanh", F::kTranscendental, [](double x) { return std::tanh(x); }},
      {"ThresholdedRelu", F::kArithmetic,
       [](double x) { return x > 1 ? x : 0; }},
      {"ThresholdedRelu",
       F::kArithmetic,
       [](double x) { return x > kAlpha ? x : 0; },
       {{"alpha", kAlpha}}},
  };
  return *maps;
}

void ExpectMatches(const ElementMap& map, const TestTensor& x) {
  std::vector<double> expected;
  for (int64_t i = 0; i < x.shape.element_count(); ++i) {
    expected.push_back(map.f(x.At(i)));
  }
  for (const auto& [kernel, outputs] : map.OfEveryKernel(x)) {
    EXPECT_THAT(outputs[0], IsNear(TensorOf(x.dtype, x.shape, expected),
                                   ToleranceFor(x.dtype, map.family)))
        << kernel << " of " << ::testing::PrintToString(x);
  }
}

TEST(ElementMapTest, MatchesTheDefinitionInEveryFloatingType) {
  // The last is one past the grain of cheap work, so that it is shared out.
  for (const Shape& shape : {Shape({}), Shape({0}), Shape({17}),
                             Shape({3, 0, 2}), Shape({2, 3}), Shape({33000})}) {
    for (DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16,
                        DType::kBFloat16}) {
      const TestTensor x = Pattern(dtype, shape);
      for (const ElementMap& map : Maps()) ExpectMatches(map, x);
    }
  }
}

TEST(ElementMapTest, HugeTinyAndStrangeNumbersAreAsTheDefinitionSays) {
  using Limits = std::numeric_limits<float>;
  std::vector<double> values = {NAN};
  for (double magnitude :
       {0.0, double{Limits::denorm_min()}, double{Limits::min()}, 1e-6, 0.5,
        1.0, 1.5, 2.5, 3.0, 6.0, 20.0, 90.0, 100.0, 1e4, 8388609.0, 1e20,
        double{Limits::max()}, kInfinity}) {
    values.push_back(magnitude);
    values.push_back(-magnitude);
  }
  const Shape shape({static_cast<int64_t>(values.size())});
  for (const ElementMap& map : Maps()) {
    ExpectMatches(map, TensorOf(DType::kFloat32, shape, values));
    ExpectMatches(map, TensorOf(DType::kFloat64, shape, values));
  }
}

// Every value that there is.
TEST(ElementMapTest, SixteenBitsAreComputedInFloat32AndRoundedOnce) {
  std::vector<uint16_t> bits(1 << 16);
  for (size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<uint16_t>(i);
  const Shape shape({1 << 16});
  for (DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    const TestTensor x = TensorOfBytes(dtype, shape, bits.data(),
                                       bits.size() * sizeof(uint16_t));
    std::vector<double> wide(bits.size());
    for (size_t i = 0; i < wide.size(); ++i) wide[i] = x.At(i);
    const TestTensor wide_x = TensorOf(DType::kFloat32, shape, wide);
    for (const ElementMap& map : Maps()) {
      const TestTensor wide_y = map.Of(wide_x);
      for (size_t i = 0; i < wide.size(); ++i) wide[i] = wide_y.At(i);
      EXPECT_THAT(map.Of(x), IsNear(TensorOf(dtype, shape, wide), Tolerance{}))
          << map.op << " " << DTypeName(dtype);
    }
  }
}

TEST(ElementMapTest, ZerosKeepTheSignThatTheyShould) {
  for (const char* op :
       {"Asin", "Asinh", "Atan", "Atanh", "Ceil", "Erf", "Floor", "Round",
        "Sin", "Sinh", "Sqrt", "Tan", "Tanh"}) {
    const TestTensor zeros = Tensor({2}, {0.0f, -0.0f});
    EXPECT_EQ(MustRunOp({.op = op, .inputs = {zeros}}), zeros) << op;
  }
  EXPECT_EQ(MustRunOp({.op = "Abs", .inputs = {Tensor({1}, {-0.0f})}}),
            Tensor({1}, {0.0f}));
  EXPECT_EQ(MustRunOp({.op = "Neg", .inputs = {Tensor({1}, {0.0f})}}),
            Tensor({1}, {-0.0f}));
  EXPECT_EQ(MustRunOp({.op = "Sign", .inputs = {Tensor({1}, {-0.0f})}}),
            Tensor({1}, {0.0f}));
}

// Where 1 + y or y - 1 would have lost them.
TEST(ElementMapTest, SmallResultsKeepTheirDigits) {
  const auto of = [](std::string op, float x) {
    return MustRunOp({.op = std::move(op), .inputs = {Tensor({1}, {x})}}).At(0);
  };
  for (const char* op : {"Celu", "Elu"}) {
    EXPECT_NEAR(of(op, -1e-6f), std::expm1(-1e-6f), 1e-12) << op;
  }
  EXPECT_NEAR(of("Selu", -1e-6f), -1.7580985e-6, 1e-12);
  EXPECT_NEAR(of("Softplus", -20), std::exp(-20.0), 1e-14);
  EXPECT_NEAR(of("Mish", -20), -20 * std::exp(-20.0), 1e-13);
  EXPECT_NEAR(of("Gelu", -5), -2.5 * std::erfc(5 / std::sqrt(2.0)), 1e-11);
  EXPECT_NEAR(of("Sigmoid", -20), std::exp(-20.0), 1e-14);
}

TEST(SeluTest, OldDefaultsHaveFewerDigits) {
  EXPECT_THAT(MustRunOp({.op = "Selu",
                         .inputs = {Tensor<double>({2}, {1, -1e3})},
                         .opset = 5}),
              Near({1.0507f, -double{1.0507f} * 1.6732f}, 1e-15));
}

}  // namespace
}  // namespace tensord
