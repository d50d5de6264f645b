#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

namespace tensord {
namespace {

using testing::HasSubstr;
using Attributes = std::vector<std::pair<std::string, Attribute>>;

OpCase ByScale(const TestTensor& x, const std::vector<float>& scales,
               Attributes attributes) {
  return {
      .op = "Resize",
      .inputs = {x, TestTensor(),
                 Tensor(Shape({static_cast<int64_t>(scales.size())}), scales)},
      .attributes = std::move(attributes),
      .opset = 19,
      .constants = {2}};
}

OpCase BySize(const TestTensor& x, const std::vector<int64_t>& sizes,
              Attributes attributes) {
  return {.op = "Resize",
          .inputs = {x, TestTensor(), TestTensor(),
                     Tensor<int64_t>(
                         Shape({static_cast<int64_t>(sizes.size())}), sizes)},
          .attributes = std::move(attributes),
          .opset = 19,
          .constants = {3}};
}

TEST(ResizeTest, NearestRoundsAsItIsTold) {
  const TestTensor x = Tensor({4}, {0, 1, 2, 3});
  // Samples at -0.25, 0.25, 0.75, ... with half_pixel; x / 2 with asymmetric.
  const auto resized = [&](const std::string& rounding) {
    return MustRunOp(BySize(
        x, {8},
        {{"nearest_mode", rounding},
         {"coordinate_transformation_mode", std::string("asymmetric")}}));
  };
  EXPECT_THAT(resized("floor"), Near({0, 0, 1, 1, 2, 2, 3, 3}, 0));
  EXPECT_THAT(resized("ceil"), Near({0, 1, 1, 2, 2, 3, 3, 3}, 0));
  EXPECT_THAT(resized("round_prefer_floor"), Near({0, 0, 1, 1, 2, 2, 3, 3}, 0));
  EXPECT_THAT(resized("round_prefer_ceil"), Near({0, 1, 1, 2, 2, 3, 3, 3}, 0));
}

TEST(ResizeTest, LinearIsExactOnALine) {
  const TestTensor x = Tensor({1, 3}, {0, 10, 20});
  EXPECT_THAT(MustRunOp(ByScale(x, {1, 2}, {{"mode", std::string("linear")}})),
              Near({0, 2.5, 7.5, 12.5, 17.5, 20}, 1e-5));
  EXPECT_THAT(MustRunOp(BySize(x, {1, 5},
                               {{"mode", std::string("linear")},
                                {"coordinate_transformation_mode",
                                 std::string("align_corners")}})),
              Near({0, 5, 10, 15, 20}, 1e-5));
}

TEST(ResizeTest, WeightsOfEveryModeSumUpToOne) {
  const TestTensor x =
      TensorOf(DType::kFloat32, {1, 1, 5, 7}, std::vector<double>(35, 3.5));
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    for (const char* coordinates :
         {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
          "align_corners", "asymmetric"}) {
      for (int64_t flags = 0; flags < 4; ++flags) {
        for (const std::vector<int64_t>& sizes :
             {std::vector<int64_t>{1, 1, 1, 1}, {1, 1, 3, 20}, {1, 2, 11, 2}}) {
          const auto y = RunOp(BySize(
              x, sizes,
              {{"mode", std::string(mode)},
               {"coordinate_transformation_mode", std::string(coordinates)},
               {"antialias", flags & 1},
               {"exclude_outside", flags >> 1}}));
          ASSERT_THAT(y, IsOk());
          for (int64_t i = 0; i < (*y)[0].shape.element_count(); ++i) {
            ASSERT_NEAR((*y)[0].At(i), 3.5, 1e-5)
                << mode << ", " << coordinates << ", " << flags;
          }
        }
      }
    }
  }
}

TEST(ResizeTest, AntialiasTakesEveryPixelIntoAccount) {
  const TestTensor x = Tensor({8}, {8, 0, 0, 0, 0, 0, 0, 0});
  const auto shrink = [&](int64_t antialias) {
    return MustRunOp(BySize(
        x, {2}, {{"mode", std::string("linear")}, {"antialias", antialias}}));
  };
  EXPECT_THAT(shrink(0), Near({0, 0}, 0));
  EXPECT_GT(shrink(1).At(0), 0.5);
}

TEST(ResizeTest, ElementsOutsideTheRegionAreExtrapolated) {
  const OpCase test = {
      .op = "Resize",
      .inputs = {Tensor({3}, {1, 2, 3}), Tensor({2}, {0.5f, 1.5f}),
                 TestTensor(), Tensor<int64_t>({1}, {3})},
      .attributes = {{"mode", std::string("linear")},
                     {"coordinate_transformation_mode",
                      std::string("tf_crop_and_resize")},
                     {"extrapolation_value", 9.0f}},
      .constants = {1, 3}};
  EXPECT_THAT(MustRunOp(test), Near({2, 3, 9}, 1e-6));
}

TEST(ResizeTest, AspectPoliciesFitIntoOrAroundTheSizes) {
  const TestTensor x = Pattern(DType::kFloat32, {2, 4});
  const auto shape = [&](const std::string& policy) {
    return MustRunOp(BySize(x, {3, 8}, {{"keep_aspect_ratio_policy", policy}}))
        .shape;
  };
  EXPECT_EQ(shape("stretch"), Shape({3, 8}));
  EXPECT_EQ(shape("not_larger"), Shape({3, 6}));
  EXPECT_EQ(shape("not_smaller"), Shape({4, 8}));
}

TEST(ResizeTest, AnInfinityWithoutWeightStaysOut) {
  const TestTensor x = Tensor({2}, {1, std::numeric_limits<float>::infinity()});
  EXPECT_THAT(MustRunOp(BySize(x, {3},
                               {{"mode", std::string("linear")},
                                {"coordinate_transformation_mode",
                                 std::string("align_corners")}})),
              Near({1, INFINITY, INFINITY}, 0));
}

TEST(ResizeTest, WrongArgumentsAreRefused) {
  const TestTensor x = Tensor({2}, {1, 2});
  for (float scale : {0.0f, -1.0f, NAN, INFINITY}) {
    EXPECT_THAT(
        RunOp(ByScale(x, {scale}, {})),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("scale 0 is")));
  }
  EXPECT_THAT(RunOp(ByScale(x, {1, 1}, {})),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("number of scales")));
  EXPECT_THAT(
      RunOp(BySize(x, {-1}, {})),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("size 0 is -1")));
  EXPECT_THAT(RunOp(BySize(Tensor<float>({0}, {}), {2}, {})),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("nothing to sample")));
  EXPECT_THAT(RunOp(BySize(x, {2}, {{"mode", std::string("bilinear")}})),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("nearest, linear, cubic")));
  // Whatever a scale of almost nothing gives, it is not a crash.
  EXPECT_THAT(RunOp(ByScale(
                  x, {1e-38f},
                  {{"mode", std::string("cubic")}, {"antialias", int64_t{1}}})),
              IsOk());
}

TEST(UpsampleTest, BothFormsOfScales) {
  const TestTensor x = Tensor({2}, {1, 2});
  EXPECT_THAT(MustRunOp({.op = "Upsample",
                         .inputs = {x},
                         .attributes = {{"scales", std::vector<float>{2}}},
                         .opset = 7}),
              Near({1, 1, 2, 2}, 0));
  EXPECT_THAT(MustRunOp({.op = "Upsample",
                         .inputs = {x, Tensor({1}, {2})},
                         .attributes = {{"mode", std::string("linear")}},
                         .opset = 9,
                         .constants = {1}}),
              Near({1, 1.5, 2, 2}, 0));
}

}  // namespace
}  // namespace tensord
