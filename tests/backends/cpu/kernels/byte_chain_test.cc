#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "tests/support/kernel_runner.h"
#include "tests/support/matchers.h"
#include "tests/support/run_op.h"
#include "tests/support/tolerances.h"

// Chains of element-wise steps on 8-bit integers.
namespace tensord {
namespace {

TestTensor Bytes(DType dtype, unsigned seed) {
  std::mt19937 random(seed);
  const Shape shape({3, 517});
  std::vector<double> values;
  for (int64_t i = 0; i < shape.element_count(); ++i) {
    values.push_back(static_cast<double>(random() % 256) -
                     (dtype == DType::kInt8 ? 128 : 0));
  }
  return TensorOf(dtype, shape, values);
}

// Sums, which one loop computes, and other steps.
TEST(ByteChainTest, ChainsOfBytesRoundAndSaturateOnce) {
  const TestDevice& device = CpuTestDevice();
  constexpr int32_t kNone = ExpressionStep::kNoOperand;
  const std::vector<Expression> expressions = {
      // (a - 100) * 2 + b / 3
      {.input_count = 2,
       .constants = {100, 2, 3},
       .steps = {{OpKind::kSub, {0, 2}},
                 {OpKind::kMul, {5, 3}},
                 {OpKind::kDiv, {1, 4}},
                 {OpKind::kAdd, {6, 7}}}},
      // relu(a - b) * 0.5 + 7, whose bound moves along
      {.input_count = 2,
       .constants = {0.5, 7},
       .steps = {{OpKind::kSub, {0, 1}},
                 {OpKind::kRelu, {4, kNone}},
                 {OpKind::kMul, {5, 2}},
                 {OpKind::kAdd, {6, 3}}}},
      // sqrt(abs(a * b))
      {.input_count = 2,
       .constants = {},
       .steps = {{OpKind::kMul, {0, 1}},
                 {OpKind::kAbs, {2, kNone}},
                 {OpKind::kSqrt, {3, kNone}}}}};
  const auto expected = [](int which, double a, double b) {
    if (which == 0) return (a - 100) * 2 + b / 3;
    if (which == 1) return std::max(a - b, 0.0) * 0.5 + 7;
    return std::sqrt(std::abs(a * b));
  };
  for (DType dtype : {DType::kInt8, DType::kUInt8}) {
    const double low = dtype == DType::kInt8 ? -128 : 0;
    for (int which = 0; which < 3; ++which) {
      TestNode node{.op = OpKind::kElementwiseChain,
                    .inputs = {Bytes(dtype, 1), Bytes(dtype, 2)},
                    .outputs = {{dtype, Shape({3, 517})}},
                    .params = expressions[which]};
      const auto kernels = KernelsFor(*device.backend, node);
      ASSERT_FALSE(kernels.empty());
      auto result = RunKernel(*kernels[0], node, *device.device, *device.lane,
                              *device.workers);
      ASSERT_THAT(result, IsOk());
      const TestTensor& y = result->outputs[0];
      std::vector<double> values;
      for (int64_t i = 0; i < y.shape.element_count(); ++i) {
        const double value =
            expected(which, node.inputs[0].At(i), node.inputs[1].At(i));
        values.push_back(std::clamp(std::nearbyint(value), low, low + 255));
      }
      EXPECT_THAT(y, IsNear(TensorOf(dtype, y.shape, values),
                            ToleranceFor(dtype, OpFamily::kQuantized)))
          << which;
    }
  }
}

}  // namespace
}  // namespace tensord
