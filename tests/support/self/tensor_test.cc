#include "tests/support/tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "tests/support/half.h"
#include "tests/support/matchers.h"

namespace tensord {
namespace {

using ::testing::ElementsAre;
using ::testing::Not;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

TEST(TensorTest, HoldsItsValues) {
  EXPECT_THAT(Tensor({2}, {1.5, 2}).values<float>(), ElementsAre(1.5f, 2.0f));
  EXPECT_THAT(Tensor<int64_t>({2}, {1, -2}).values<int64_t>(),
              ElementsAre(1, -2));
  EXPECT_EQ(Tensor<bool>({2}, {true, false}).dtype, DType::kBool);
  EXPECT_EQ(TensorOf(DType::kInt8, Shape({1}), {-7}).At(0), -7);
  EXPECT_EQ(TensorOf(DType::kBool, Shape({1}), {0.5}).At(0), 1);
}

TEST(TensorTest, PatternsRepeatAndDiffer) {
  const TestTensor a = Pattern(DType::kFloat32, Shape({100}));
  EXPECT_EQ(a, Pattern(DType::kFloat32, Shape({100})));
  EXPECT_FALSE(a == Pattern(DType::kFloat32, Shape({100}), 2));
  const absl::Span<const float> values = a.values<float>();
  EXPECT_GT(std::set<float>(values.begin(), values.end()).size(), 50u);
  // Exact in the narrowest of the wide types.
  EXPECT_THAT(Pattern(DType::kBFloat16, Shape({100})),
              IsNear(TensorOf(DType::kBFloat16, Shape({100}),
                              {values.begin(), values.end()}),
                     {}));
}

TEST(TensorDeathTest, ValuesThatDoNotFillTheShapeAbort) {
  EXPECT_DEATH(Tensor({3}, {1, 2}), "8 bytes of values for float32 \\[3\\]");
}

TEST(HalfTest, EveryFloat16GoesRound) {
  for (int bits = 0; bits < 1 << 16; ++bits) {
    const double value = DecodeFloat16(bits);
    if (std::isnan(value)) continue;
    ASSERT_EQ(EncodeFloat16(value), bits);
  }
}

TEST(HalfTest, EveryBFloat16GoesRound) {
  for (int bits = 0; bits < 1 << 16; ++bits) {
    const double value = DecodeBFloat16(bits);
    if (std::isnan(value)) continue;
    ASSERT_EQ(EncodeBFloat16(value), bits);
    // It is the upper half of a float32.
    const uint32_t wide = static_cast<uint32_t>(bits) << 16;
    float as_float;
    std::memcpy(&as_float, &wide, sizeof(as_float));
    ASSERT_EQ(value, as_float);
  }
}

TEST(HalfTest, RoundsToNearestEvenAndOverflowsToInfinity) {
  EXPECT_EQ(EncodeFloat16(1.0), 0x3c00);
  EXPECT_EQ(EncodeFloat16(-2.0), 0xc000);
  EXPECT_EQ(EncodeFloat16(65504), 0x7bff);
  EXPECT_EQ(EncodeFloat16(65519), 0x7bff);
  EXPECT_EQ(EncodeFloat16(65520), 0x7c00);
  EXPECT_EQ(EncodeFloat16(1 + std::ldexp(1, -11)), 0x3c00);      // tie: even
  EXPECT_EQ(EncodeFloat16(1 + 3 * std::ldexp(1, -11)), 0x3c02);  // tie: even
  EXPECT_EQ(EncodeFloat16(std::ldexp(1, -24)), 0x0001);
  EXPECT_EQ(EncodeFloat16(std::ldexp(1, -25)), 0x0000);
  EXPECT_TRUE(std::isnan(DecodeFloat16(EncodeFloat16(kNan))));
}

TEST(MatchersTest, NearLooksAtEachElement) {
  const TestTensor tensor = Tensor({2}, {1, 100});
  EXPECT_THAT(tensor, IsNear(Tensor({2}, {1.01f, 100}), {0, 0.02}));
  EXPECT_THAT(tensor, Not(IsNear(Tensor({2}, {1.03f, 100}), {0, 0.02})));
  EXPECT_THAT(tensor, IsNear(Tensor({2}, {1, 101}), {0.02, 0}));
  EXPECT_THAT(tensor, Not(IsNear(Tensor({2}, {1, 103}), {0.02, 0})));
  EXPECT_THAT(tensor, Not(IsNear(Tensor({1, 2}, {1, 100}), {1, 1})));
  EXPECT_THAT(tensor, Not(IsNear(Tensor<double>({2}, {1, 100}), {1, 1})));
  EXPECT_THAT(tensor, Near({1, 100}, 0));
  EXPECT_THAT(tensor, Not(Near({1}, 0)));
  EXPECT_THAT(tensor, Not(Near({1, 99}, 0.5)));
}

TEST(MatchersTest, NearTakesNoNanOrInfinityForANumber) {
  const auto one = [](double value) {
    return TensorOf(DType::kFloat32, Shape({1}), {value});
  };
  const Tolerance wide{1, 1e30};
  EXPECT_THAT(one(kNan), IsNear(one(kNan), {}));
  EXPECT_THAT(one(kInfinity), IsNear(one(kInfinity), {}));
  EXPECT_THAT(one(kNan), Not(IsNear(one(1), wide)));
  EXPECT_THAT(one(1), Not(IsNear(one(kNan), wide)));
  EXPECT_THAT(one(kInfinity), Not(IsNear(one(1), wide)));
  EXPECT_THAT(one(1), Not(IsNear(one(kInfinity), wide)));
  EXPECT_THAT(one(-kInfinity), Not(IsNear(one(kInfinity), wide)));
}

TEST(TolerancesTest, IntegersMustBeEqual) {
  const Tolerance tolerance = ToleranceFor(DType::kInt32, OpFamily::kReduction);
  EXPECT_EQ(tolerance.relative, 0);
  EXPECT_EQ(tolerance.absolute, 0);
}

TEST(TolerancesTest, MovementMustBeEqualInEveryDType) {
  for (int number = 1; number < kDTypeCount; ++number) {
    const Tolerance tolerance =
        ToleranceFor(static_cast<DType>(number), OpFamily::kMovement);
    EXPECT_EQ(tolerance.relative, 0) << number;
    EXPECT_EQ(tolerance.absolute, 0) << number;
  }
}

TEST(TolerancesTest, SumsGrowWithTheirDepthAndOthersDoNot) {
  const auto absolute = [](OpFamily family, int64_t depth) {
    return ToleranceFor(DType::kFloat32, family, depth).absolute;
  };
  EXPECT_DOUBLE_EQ(absolute(OpFamily::kContraction, 100),
                   10 * absolute(OpFamily::kContraction, 1));
  EXPECT_DOUBLE_EQ(absolute(OpFamily::kArithmetic, 100),
                   absolute(OpFamily::kArithmetic, 1));
}

}  // namespace
}  // namespace tensord
