#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

namespace tensord {
namespace {

using ::testing::HasSubstr;
using Ints = std::vector<int64_t>;
using NamedAttributes = std::vector<std::pair<std::string, Attribute>>;

constexpr int64_t kDoubleNumber = 11;  // of ONNX's DataType
constexpr int64_t kMany = 100000;

TestTensor Draw(const std::string& op, NamedAttributes attributes,
                int64_t count = kMany) {
  attributes.emplace_back("shape", Ints{count});
  return MustRunOp(
      {.op = op, .inputs = {}, .attributes = std::move(attributes)});
}

struct Moments {
  double mean = 0;
  double deviation = 0;
};

Moments MomentsOf(const TestTensor& y) {
  const int64_t count = y.shape.element_count();
  Moments moments;
  for (int64_t i = 0; i < count; ++i) moments.mean += y.At(i);
  moments.mean /= static_cast<double>(count);
  for (int64_t i = 0; i < count; ++i) {
    moments.deviation += std::pow(y.At(i) - moments.mean, 2);
  }
  moments.deviation = std::sqrt(moments.deviation / static_cast<double>(count));
  return moments;
}

// Bounds are some six deviations of what is estimated.
TEST(RandomTest, UniformNumbersFillTheirRange) {
  const TestTensor y =
      Draw("RandomUniform", {{"seed", 3.0f}, {"low", -2.0f}, {"high", 4.0f}});
  std::map<int, int> histogram;
  for (float value : y.values<float>()) {
    ASSERT_GE(value, -2);
    ASSERT_LE(value, 4);
    ++histogram[static_cast<int>(std::floor(value))];
  }
  for (int cell = -2; cell < 4; ++cell) {
    EXPECT_NEAR(histogram[cell], kMany / 6.0, 720) << cell;
  }
  EXPECT_NEAR(MomentsOf(y).mean, 1, 0.035);
}

TEST(RandomTest, NormalNumbersHaveMeanAndDeviation) {
  const TestTensor y = Draw("RandomNormal", {{"seed", 3.0f},
                                             {"mean", 5.0f},
                                             {"scale", 2.0f},
                                             {"dtype", kDoubleNumber}});
  ASSERT_EQ(y.dtype, DType::kFloat64);
  EXPECT_NEAR(MomentsOf(y).mean, 5, 0.04);
  EXPECT_NEAR(MomentsOf(y).deviation, 2, 0.03);
  int beyond = 0;
  for (int64_t i = 0; i < kMany; ++i) beyond += std::abs(y.At(i) - 5) > 4;
  EXPECT_NEAR(beyond, 0.0455 * kMany, 400);
}

TEST(RandomTest, ASeedGivesTheSameAndNoneGivesOthers) {
  for (const char* op : {"RandomUniform", "RandomNormal"}) {
    const TestTensor y = Draw(op, {{"seed", 1.0f}});
    EXPECT_EQ(y, Draw(op, {{"seed", 1.0f}})) << op;
    EXPECT_FALSE(y == Draw(op, {{"seed", 2.0f}})) << op;
    EXPECT_FALSE(y == Draw(op, {})) << op;
    EXPECT_FALSE(Draw(op, {}) == Draw(op, {})) << op;
  }
}

// The bits of that seed are 0, which a mixer may keep.
TEST(RandomTest, SeedZeroIsLikeAnyOther) {
  const TestTensor uniform = Draw("RandomUniform", {{"seed", 0.0f}});
  const TestTensor normal = Draw("RandomNormal", {{"seed", 0.0f}});
  for (int64_t i = 0; i < 4; ++i) {
    EXPECT_GT(uniform.At(i), 1e-6) << i;
    EXPECT_GT(std::abs(normal.At(i)), 1e-6) << i;
  }
  EXPECT_NEAR(MomentsOf(uniform).mean, 0.5, 0.006);
}

TEST(RandomTest, LikeTakesTheShapeAndTheDType) {
  for (const char* op : {"RandomUniformLike", "RandomNormalLike"}) {
    for (DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16,
                        DType::kBFloat16}) {
      const TestTensor y =
          MustRunOp({.op = op, .inputs = {Pattern(dtype, {2, 3, 4})}});
      EXPECT_EQ(y.dtype, dtype) << op;
      EXPECT_EQ(y.shape, Shape({2, 3, 4})) << op;
      EXPECT_GT(MomentsOf(y).deviation, 0.05) << op;
    }
    EXPECT_EQ(MustRunOp({.op = op,
                         .inputs = {Tensor<int64_t>({2}, {1, 2})},
                         .attributes = {{"dtype", kDoubleNumber}}})
                  .dtype,
              DType::kFloat64);
  }
}

TEST(RandomTest, BernoulliDrawsByItsProbabilities) {
  for (DType dtype :
       {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16}) {
    const TestTensor y = MustRunOp(
        {.op = "Bernoulli",
         .inputs = {TensorOf(dtype, {kMany}, std::vector<double>(kMany, 0.25))},
         .attributes = {{"seed", 7.0f}}});
    ASSERT_EQ(y.dtype, dtype);
    EXPECT_NEAR(MomentsOf(y).mean, 0.25, 0.009);
    for (int64_t i = 0; i < kMany; ++i) {
      ASSERT_TRUE(y.At(i) == 0 || y.At(i) == 1);
    }
  }
  // Certain ones, and those that are no probabilities.
  EXPECT_THAT(MustRunOp({.op = "Bernoulli",
                         .inputs = {Tensor({6}, {0, 1, -1, 2, NAN, INFINITY})},
                         .attributes = {{"dtype", int64_t{9}}}}),
              IsNear(Tensor<bool>({6}, {false, true, false, true, false, true}),
                     Tolerance{}));
}

TEST(RandomTest, MultinomialDrawsByItsWeights) {
  const TestTensor y = MustRunOp(
      {.op = "Multinomial",
       .inputs = {Tensor({2, 3}, {std::log(1.0f), std::log(2.0f),
                                  std::log(5.0f), 1000, -INFINITY, 1000})},
       .attributes = {
           {"sample_size", kMany}, {"seed", 5.0f}, {"dtype", int64_t{7}}}});
  ASSERT_EQ(y.dtype, DType::kInt64);
  ASSERT_EQ(y.shape, Shape({2, kMany}));
  std::map<int64_t, int> first, second;
  for (int64_t i = 0; i < kMany; ++i) {
    ++first[y.values<int64_t>()[i]];
    ++second[y.values<int64_t>()[kMany + i]];
  }
  EXPECT_NEAR(first[0], kMany / 8.0, 700);
  EXPECT_NEAR(first[1], kMany / 4.0, 900);
  EXPECT_NEAR(first[2], kMany * 5 / 8.0, 1000);
  EXPECT_EQ(second[1], 0);
  EXPECT_NEAR(second[0], kMany / 2.0, 1000);
  EXPECT_EQ(second[0] + second[2], kMany);
}

TEST(RandomTest, WeightsOfNoUseAreRefused) {
  for (float weight : {-INFINITY, INFINITY, NAN}) {
    EXPECT_THAT(RunOp({.op = "Multinomial",
                       .inputs = {Tensor({2, 2}, {0, 0, weight, weight})}}),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("row 1 has no weights to draw by")));
  }
}

TEST(RandomTest, NothingIsDrawnWhereNothingIsAsked) {
  EXPECT_EQ(Draw("RandomUniform", {}, 0).shape, Shape({0}));
  EXPECT_EQ(MustRunOp({.op = "Multinomial",
                       .inputs = {Tensor({2, 3}, {0, 0, 0, 0, 0, 0})},
                       .attributes = {{"sample_size", int64_t{0}}}})
                .shape,
            Shape({2, 0}));
  EXPECT_EQ(
      MustRunOp({.op = "Multinomial", .inputs = {Tensor({0, 3}, {})}}).shape,
      Shape({0, 1}));
}

}  // namespace
}  // namespace tensord
