#include "engine/tune/result_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "engine/tune/site_tolerance.h"
#include "tests/support/matchers.h"
#include "tests/support/tensor.h"

namespace tensord {
namespace {

using ::testing::HasSubstr;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

absl::Status Check(const TestTensor& actual, const TestTensor& expected,
                   Tolerance tolerance) {
  return CheckResult(expected.dtype, actual.bytes, expected.bytes, tolerance);
}

absl::Status CheckFloats(const std::vector<float>& actual,
                         const std::vector<float>& expected,
                         Tolerance tolerance = {1e-3, 1e-3}) {
  const Shape shape{static_cast<int64_t>(expected.size())};
  return Check(Tensor(shape, actual), Tensor(shape, expected), tolerance);
}

TEST(CheckResult, TakesWhatIsWithinTheTolerance) {
  EXPECT_THAT(CheckFloats({1, 2, -3}, {1, 2.001f, -3.001f}), IsOk());
  EXPECT_THAT(CheckFloats({}, {}), IsOk());
  EXPECT_THAT(CheckFloats({1, 2, -3}, {1, 2.1f, -3}),
              StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("element 1")));
}

// Results of magnitude 1e-6 that are all wrong are not within an absolute 1e-3.
TEST(CheckResult, TheAbsolutePartIsForTheLargestMagnitude) {
  EXPECT_FALSE(CheckFloats({0, 0}, {1e-6f, 2e-6f}).ok());
  EXPECT_THAT(CheckFloats({1000, 0.5f}, {1000, 0}), IsOk());
  EXPECT_FALSE(CheckFloats({1000, 2}, {1000, 0}).ok());
}

TEST(CheckResult, WhatIsNotFiniteMatchesItselfAlone) {
  EXPECT_THAT(
      CheckFloats({kInfinity, -kInfinity, kNan}, {kInfinity, -kInfinity, kNan}),
      IsOk());
  EXPECT_FALSE(CheckFloats({-kInfinity}, {kInfinity}).ok());
  EXPECT_FALSE(CheckFloats({1}, {kInfinity}).ok());
  EXPECT_FALSE(CheckFloats({kInfinity}, {1}).ok());
  EXPECT_FALSE(CheckFloats({kNan}, {1}).ok());
  EXPECT_FALSE(CheckFloats({1}, {kNan}).ok());
  EXPECT_FALSE(CheckFloats({kNan, 1}, {1, kNan}).ok());
}

TEST(CheckResult, EveryFloatingTypeIsCompared) {
  for (DType dtype : {DType::kFloat64, DType::kFloat16, DType::kBFloat16}) {
    const TestTensor one = TensorOf(dtype, Shape{2}, {1, 1});
    EXPECT_THAT(Check(TensorOf(dtype, Shape{2}, {1, 1.0625}), one, {0.1, 0}),
                IsOk());
    EXPECT_FALSE(
        Check(TensorOf(dtype, Shape{2}, {1, 1.25}), one, {0.1, 0}).ok());
  }
}

TEST(CheckResult, AnIntegersStepIsOneWhateverItsMagnitude) {
  for (DType dtype : {DType::kInt8, DType::kUInt8}) {
    const TestTensor expected = TensorOf(dtype, Shape{2}, {100, 3});
    EXPECT_THAT(Check(TensorOf(dtype, Shape{2}, {99, 4}), expected, {0, 1}),
                IsOk());
    EXPECT_FALSE(
        Check(TensorOf(dtype, Shape{2}, {100, 5}), expected, {0, 1}).ok());
  }
}

TEST(CheckResult, WithoutARowEveryBitCounts) {
  EXPECT_THAT(CheckFloats({1}, {1}, {}), IsOk());
  EXPECT_FALSE(CheckFloats({0.0f}, {-0.0f}, {}).ok());
  const TestTensor longs = Tensor<int64_t>(Shape{2}, {1, 2});
  EXPECT_THAT(Check(longs, longs, {1, 1}), IsOk());
  EXPECT_FALSE(Check(Tensor<int64_t>(Shape{2}, {1, 3}), longs, {1, 1}).ok());
}

NodeSite MatMulSite(const std::vector<DType>& dtypes,
                    const std::vector<Layout>& layouts, const OpParams& params,
                    Precision precision) {
  return {.op = OpKind::kMatMul,
          .dtypes = dtypes,
          .input_count = 2,
          .layouts = layouts,
          .params = params,
          .precision = precision};
}

TEST(SiteTolerance, GrowsWithTheDepthOfSumsAndWithWhatTheClientAllows) {
  const std::vector<DType> dtypes(3, DType::kFloat32);
  const std::vector<Layout> layouts = {Layout::Contiguous(Shape{2, 64}),
                                       Layout::Contiguous(Shape{64, 8}),
                                       Layout::Contiguous(Shape{2, 8})};
  const OpParams params = NoParams();
  const auto tolerance = [&](Precision precision) {
    return SiteTolerance(MatMulSite(dtypes, layouts, params, precision),
                         DType::kFloat32);
  };
  const Tolerance strict = tolerance(Precision::kStrict);
  EXPECT_EQ(strict.absolute,
            ToleranceFor(DType::kFloat32, OpFamily::kContraction, 64).absolute);
  EXPECT_GT(tolerance(Precision::kAllowTf32).relative, 100 * strict.relative);
  EXPECT_GT(tolerance(Precision::kAllowBf16).absolute,
            tolerance(Precision::kAllowTf32).absolute);
}

TEST(SiteTolerance, ANormalizationOfInstancesSumsUpOneOfThem) {
  const std::vector<DType> dtypes(4, DType::kFloat32);
  const std::vector<Layout> layouts = {
      Layout::Contiguous(Shape{2, 3, 40, 50}), Layout::Contiguous(Shape{3}),
      Layout::Contiguous(Shape{3}), Layout::Contiguous(Shape{2, 3, 40, 50})};
  const OpParams params = NoParams();
  const Tolerance tolerance =
      SiteTolerance({.op = OpKind::kInstanceNormalization,
                     .dtypes = dtypes,
                     .input_count = 3,
                     .layouts = layouts,
                     .params = params},
                    DType::kFloat32);
  EXPECT_EQ(tolerance.absolute,
            ToleranceFor(DType::kFloat32, OpFamily::kReduction, 2000).absolute);
  EXPECT_TRUE(HasKnownDepth(OpKind::kInstanceNormalization));
  EXPECT_FALSE(HasKnownDepth(OpKind::kLSTM));
}

TEST(SiteTolerance, AnOperatorThatIsNotKnownToRoundMustBeExact) {
  EXPECT_EQ(FamilyOf(OpKind::kGather), OpFamily::kMovement);
  EXPECT_EQ(FamilyOf(OpKind::kMatMulInteger), OpFamily::kMovement);
  const std::vector<DType> dtypes(2, DType::kFloat32);
  const std::vector<Layout> layouts(2, Layout::Contiguous(Shape{4}));
  const OpParams params = NoParams();
  const Tolerance tolerance = SiteTolerance({.op = OpKind::kRelu,
                                             .dtypes = dtypes,
                                             .input_count = 1,
                                             .layouts = layouts,
                                             .params = params},
                                            DType::kFloat32);
  EXPECT_EQ(tolerance.relative, 0);
  EXPECT_EQ(tolerance.absolute, 0);
}

}  // namespace
}  // namespace tensord
