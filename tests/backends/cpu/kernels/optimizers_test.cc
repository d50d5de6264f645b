#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

namespace tensord {
namespace {

// By the standard's names; doubles of what the attributes hold.
struct Coefficients {
  float alpha = 0.75f;
  float beta = 0.5f;
  float decay_factor = 0.25f;
  float epsilon = 0.125f;
  float norm = 0.375f;
  float norm_post = 0.0625f;
};
constexpr Coefficients kC;

struct Optimizer {
  const char* op;
  int states;
  const char* mode = nullptr;  // Momentum's
};
constexpr Optimizer kOptimizers[] = {{"Adagrad", 1},
                                     {"Adam", 2},
                                     {"Momentum", 1, "standard"},
                                     {"Momentum", 1, "nesterov"}};

// Two tensors, one past the grain of work and a scalar.
const Shape kShapes[] = {Shape({16385}), Shape({})};

TestTensor Positive(DType dtype, const Shape& shape, uint64_t seed) {
  const TestTensor pattern = Pattern(dtype, shape, seed);
  std::vector<double> values;
  for (int64_t i = 0; i < shape.element_count(); ++i) {
    values.push_back(std::abs(pattern.At(i)) + 0.5);
  }
  return TensorOf(dtype, shape, values);
}

OpCase MakeCase(const Optimizer& optimizer, DType dtype, DType rate,
                int64_t step) {
  OpCase test{
      .op = optimizer.op,
      .inputs = {TensorOf(rate, {}, {0.5}), Tensor<int64_t>({}, {step})},
      .attributes = {{"norm_coefficient", kC.norm}},
      .output_count = 2 * (1 + optimizer.states)};
  for (int operand = 0; operand < 2 + optimizer.states; ++operand) {
    for (const Shape& shape : kShapes) {
      // The states that are roots of are above 0.
      test.inputs.push_back(operand < 2 ? Pattern(dtype, shape, operand + 1)
                                        : Positive(dtype, shape, operand + 1));
    }
  }
  const std::string op = optimizer.op;
  if (op == "Adagrad") {
    test.attributes.emplace_back("decay_factor", kC.decay_factor);
  } else {
    test.attributes.emplace_back("alpha", kC.alpha);
    test.attributes.emplace_back("beta", kC.beta);
  }
  if (op == "Momentum") {
    test.attributes.emplace_back("mode", optimizer.mode);
  } else {
    test.attributes.emplace_back("epsilon", kC.epsilon);
  }
  if (op == "Adam") {
    test.attributes.emplace_back("norm_coefficient_post", kC.norm_post);
  }
  return test;
}

// The tensor's new element, then its states'.
std::vector<double> Reference(const Optimizer& optimizer, double x,
                              double gradient, double first, double second,
                              double step) {
  const double rate = 0.5;
  const double g = kC.norm * x + gradient;
  const std::string op = optimizer.op;
  if (op == "Adagrad") {
    const double h = first + g * g;
    return {x - rate / (1 + step * kC.decay_factor) * g /
                    (std::sqrt(h) + kC.epsilon),
            h};
  }
  if (op == "Momentum") {
    const double v = kC.alpha * first + (step > 0 ? kC.beta : 1) * g;
    const bool is_nesterov = optimizer.mode == std::string("nesterov");
    return {x - rate * (is_nesterov ? g + kC.alpha * v : v), v};
  }
  const double v = kC.alpha * first + (1 - kC.alpha) * g;
  const double h = kC.beta * second + (1 - kC.beta) * g * g;
  const double q = step > 0 ? rate * std::sqrt(1 - std::pow(kC.beta, step)) /
                                  (1 - std::pow(kC.alpha, step))
                            : rate;
  return {(1 - kC.norm_post) * (x - q * v / (std::sqrt(h) + kC.epsilon)), v, h};
}

void ExpectMatches(const Optimizer& optimizer, DType dtype, DType rate,
                   int64_t step) {
  SCOPED_TRACE(testing::Message() << optimizer.op << ", step " << step << ", "
                                  << DTypeName(dtype));
  const OpCase test = MakeCase(optimizer, dtype, rate, step);
  const auto outputs = RunOp(test);
  ASSERT_THAT(outputs, IsOk());
  for (int tensor = 0; tensor < 2; ++tensor) {
    const auto input = [&](int operand, int64_t i) {
      return test.inputs[2 + 2 * operand + tensor].At(i);
    };
    std::vector<std::vector<double>> expected(1 + optimizer.states);
    for (int64_t i = 0; i < kShapes[tensor].element_count(); ++i) {
      const std::vector<double> element = Reference(
          optimizer, input(0, i), input(1, i), input(2, i),
          optimizer.states == 2 ? input(3, i) : 0, static_cast<double>(step));
      for (size_t s = 0; s < element.size(); ++s) {
        expected[s].push_back(element[s]);
      }
    }
    for (int s = 0; s <= optimizer.states; ++s) {
      EXPECT_THAT((*outputs)[2 * s + tensor],
                  IsNear(TensorOf(dtype, kShapes[tensor], expected[s]),
                         ToleranceFor(dtype, OpFamily::kReduction)));
    }
  }
}

TEST(OptimizersTest, MatchTheDefinition) {
  for (const Optimizer& optimizer : kOptimizers) {
    for (DType dtype : {DType::kFloat32, DType::kFloat64}) {
      for (DType rate : {DType::kFloat32, DType::kFloat64}) {
        for (int64_t step : {0, 1, 5}) {
          ExpectMatches(optimizer, dtype, rate, step);
        }
      }
    }
  }
}

TEST(OptimizersTest, StatesThatNobodyWantsAreNotWritten) {
  for (const Optimizer& optimizer : kOptimizers) {
    OpCase test = MakeCase(optimizer, DType::kFloat32, DType::kFloat32, 1);
    const auto all = RunOp(test);
    ASSERT_THAT(all, IsOk());
    test.absent_outputs = {0, 2};
    const auto some = RunOp(test);
    ASSERT_THAT(some, IsOk());
    EXPECT_EQ((*some)[1], (*all)[1]);
    EXPECT_EQ((*some)[3], (*all)[3]);
  }
}

TEST(OptimizersTest, TensorsOfDifferentDTypesHaveNoKernel) {
  OpCase test = MakeCase(kOptimizers[0], DType::kFloat32, DType::kFloat32, 1);
  for (int i : {3, 5, 7}) {
    test.inputs[i] = Pattern(DType::kFloat64, kShapes[1]);
  }
  EXPECT_THAT(RunOp(test), StatusIs(absl::StatusCode::kUnimplemented,
                                    testing::HasSubstr("no kernel")));
}

}  // namespace
}  // namespace tensord
