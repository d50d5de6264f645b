#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

namespace tensord {
namespace {

TEST(BatchNormalizationTest, MatchesTheDefinitionWithStatisticsOfEitherKind) {
  for (const Shape& shape :
       {Shape({2, 3, 4, 5}), Shape({2, 17}), Shape({1, 3, 33000}),
        Shape({0, 3, 2}), Shape({2, 0, 3}), Shape({3, 1, 7})}) {
    const int64_t channels = shape[1];
    const int64_t inner = shape.ElementCount(2, shape.rank());
    const TestTensor x = Pattern(DType::kFloat32, shape, 1);
    std::vector<double> variances;
    for (int64_t c = 0; c < channels; ++c) variances.push_back(0.25 + c % 5);
    OpCase test{.op = "BatchNormalization",
                .inputs = {x, Pattern(DType::kFloat32, {channels}, 2),
                           Pattern(DType::kFloat32, {channels}, 3),
                           Pattern(DType::kFloat32, {channels}, 4),
                           TensorOf(DType::kFloat32, {channels}, variances)},
                .attributes = {{"epsilon", 0.5f}}};
    std::vector<double> expected;
    for (int64_t i = 0; i < shape.element_count(); ++i) {
      const int64_t c = i / inner % channels;
      expected.push_back((x.At(i) - test.inputs[3].At(c)) /
                             std::sqrt(variances[c] + 0.5) *
                             test.inputs[1].At(c) +
                         test.inputs[2].At(c));
    }
    const Tolerance tolerance{4e-6, 4e-6};
    for (const std::vector<int>& constants :
         {std::vector<int>{}, std::vector<int>{1, 2, 3, 4},
          std::vector<int>{1, 2}}) {
      test.constants = constants;
      EXPECT_THAT(MustRunOp(test),
                  IsNear(TensorOf(DType::kFloat32, shape, expected), tolerance))
          << shape.ToString() << ", " << constants.size() << " constants";
    }
  }
}

// From operator set 15 on, scale and bias may be of one dtype, mean and
// variance of another.
TEST(BatchNormalizationTest, TakesEveryFloatAndMixesThem) {
  constexpr DType kFloats[] = {DType::kFloat32, DType::kFloat64,
                               DType::kFloat16, DType::kBFloat16};
  const Shape shape({2, 3, 5});
  for (DType dtype : kFloats) {
    for (DType scale_dtype : kFloats) {
      for (DType mean_dtype : kFloats) {
        const TestTensor x = Pattern(dtype, shape, 1);
        OpCase test{.op = "BatchNormalization",
                    .inputs = {x, Pattern(scale_dtype, {3}, 2),
                               Pattern(scale_dtype, {3}, 3),
                               Pattern(mean_dtype, {3}, 4),
                               TensorOf(mean_dtype, {3}, {0.25, 1.25, 2.25})},
                    .attributes = {{"epsilon", 0.5f}}};
        std::vector<double> expected;
        for (int64_t i = 0; i < shape.element_count(); ++i) {
          const int64_t c = i / 5 % 3;
          expected.push_back((x.At(i) - test.inputs[3].At(c)) /
                                 std::sqrt(test.inputs[4].At(c) + 0.5) *
                                 test.inputs[1].At(c) +
                             test.inputs[2].At(c));
        }
        for (const std::vector<int>& constants :
             {std::vector<int>{}, std::vector<int>{1, 2, 3, 4}}) {
          test.constants = constants;
          EXPECT_THAT(MustRunOp(test),
                      IsNear(TensorOf(dtype, shape, expected),
                             ToleranceFor(dtype, OpFamily::kReduction)))
              << DTypeName(dtype) << ", " << DTypeName(scale_dtype) << ", "
              << DTypeName(mean_dtype);
        }
      }
    }
  }
}

TEST(BatchNormalizationTest, AVectorHasOneChannel) {
  EXPECT_THAT(MustRunOp({.op = "BatchNormalization",
                         .inputs = {Tensor({3}, {1, 2, 3}), Tensor({1}, {2}),
                                    Tensor({1}, {1}), Tensor({1}, {2}),
                                    Tensor({1}, {1})},
                         .attributes = {{"epsilon", 0.0f}}}),
              Near({-1, 1, 3}, 1e-6));
}

}  // namespace
}  // namespace tensord
