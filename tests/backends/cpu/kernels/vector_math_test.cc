#include "backends/cpu/kernels/vector_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "backends/cpu/kernels/step_functions.h"

namespace tensord {
namespace {

struct Case {
  OpKind op;
  double parameter;
  std::function<double(double)> exact;
  double lowest, highest;
  double relative, absolute;
};

double Logistic(double x) { return 1 / (1 + std::exp(-x)); }

const Case kCases[] = {
    {OpKind::kExp, 0, [](double x) { return std::exp(x); }, -86, 88.7, 1e-7, 0},
    {OpKind::kTanh, 0, [](double x) { return std::tanh(x); }, -20, 20, 5e-7, 0},
    {OpKind::kErf, 0, [](double x) { return std::erf(x); }, -9, 9, 5e-7, 0},
    {OpKind::kSigmoid, 0, &Logistic, -80, 80, 2e-7, 0},
    {OpKind::kGelu, 0,
     [](double x) { return x * std::erfc(-x * std::sqrt(0.5)) / 2; }, -20, 20,
     2e-7, 2e-7},
    {OpKind::kGelu, 1,
     [](double x) {
       return x * Logistic(std::sqrt(8 / M_PI) * (x + 0.044715 * x * x * x));
     },
     -20, 20, 3e-7, 6e-7},
    {OpKind::kSwish, 1.5, [](double x) { return x * Logistic(1.5 * x); }, -40,
     40, 3e-7, 1e-7},
    {OpKind::kMish, 0,
     [](double x) { return x * std::tanh(std::log1p(std::exp(x))); }, -20, 20,
     5e-7, 1e-7},
};

// By the step functions, so in the vectors of this machine, with every length
// of a tail.
TEST(VectorMathTest, IsAsCloseAsItsHeaderSays) {
  for (const Case& c : kCases) {
    const ExpressionStep step{.op = c.op,
                              .operands = {0, ExpressionStep::kNoOperand},
                              .parameters = {c.parameter, 0}};
    const StepFunction<float> function = FindStepFunction<float>(c.op);
    constexpr int kPoints = 200'000;
    int length = 1;
    for (int first = 0; first < kPoints; first += length) {
      length = length % 67 + 1;
      std::vector<float> x, y(length);
      for (int i = 0; i < length; ++i) {
        x.push_back(static_cast<float>(c.lowest + (c.highest - c.lowest) *
                                                      (first + i) / kPoints));
      }
      function(step, StepOperand<float>::Block(x.data()), {}, length, y.data());
      for (int i = 0; i < length; ++i) {
        const double exact = c.exact(x[i]);
        ASSERT_NEAR(y[i], exact, c.absolute + c.relative * std::abs(exact))
            << OpKindName(c.op) << " of " << x[i];
      }
    }
  }
}

TEST(VectorMathTest, TheEndsOfTheRange) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(vector_math::Exp(-kInfinity), 0);
  EXPECT_EQ(vector_math::Exp(-1000), 0);
  EXPECT_EQ(vector_math::Exp(0), 1);
  EXPECT_EQ(vector_math::Exp(89), kInfinity);
  EXPECT_EQ(vector_math::Exp(kInfinity), kInfinity);
  // Exactly, whether or not the target fuses multiplications and additions.
  for (float large : {4.1f, 7.95f, 9.0f, 1000.0f, kInfinity}) {
    EXPECT_EQ(vector_math::Erf(large), 1) << large;
    EXPECT_EQ(vector_math::Erf(-large), -1) << large;
    EXPECT_LE(vector_math::Tanh(large), 1) << large;
    EXPECT_GE(vector_math::Tanh(-large), -1) << large;
  }
  EXPECT_EQ(vector_math::Tanh(1000), 1);
  EXPECT_EQ(vector_math::Tanh(kInfinity), 1);
  EXPECT_EQ(vector_math::Tanh(-kInfinity), -1);
  EXPECT_EQ(vector_math::Logistic(-kInfinity), 0);
  EXPECT_EQ(vector_math::Logistic(kInfinity), 1);
  EXPECT_EQ(vector_math::Gelu(kInfinity), kInfinity);
}

TEST(VectorMathTest, ANaNStaysOneInEveryStep) {
  for (const Case& c : kCases) {
    const std::vector<float> x(19, NAN);
    std::vector<float> y(19);
    FindStepFunction<float>(c.op)({.op = c.op, .operands = {0, -1}},
                                  StepOperand<float>::Block(x.data()), {}, 19,
                                  y.data());
    for (float value : y) EXPECT_TRUE(std::isnan(value)) << OpKindName(c.op);
  }
}

}  // namespace
}  // namespace tensord
