#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

namespace tensord {
namespace {

using testing::HasSubstr;
using Ints = std::vector<int64_t>;

TestTensor List(const Ints& values) {
  return Tensor<int64_t>(Shape({static_cast<int64_t>(values.size())}), values);
}

TestTensor Count(int64_t n) {
  std::vector<double> values;
  for (int64_t i = 0; i < n; ++i) values.push_back(static_cast<double>(i));
  return TensorOf(DType::kFloat32, Shape({n}), values);
}

TEST(SliceTest, CountsAsPythonDoes) {
  struct Case {
    int64_t start, end, step;
    std::vector<double> expected;
  };
  for (const Case& test : {
           Case{1, 4, 1, {1, 2, 3}},
           Case{-3, -1, 1, {2, 3}},
           Case{0, INT64_MAX, 2, {0, 2, 4}},
           Case{-1, INT64_MIN, -1, {4, 3, 2, 1, 0}},
           Case{INT64_MAX, INT64_MIN, INT64_MIN, {4}},
           Case{INT64_MIN, INT64_MAX, INT64_MAX, {0}},
           Case{3, 1, 1, {}},
           Case{9, 20, 1, {}},
           Case{4, 0, -2, {4, 2}},
       }) {
    for (bool is_known : {false, true}) {
      EXPECT_THAT(
          MustRunOp({.op = "Slice",
                     .inputs = {Count(5), List({test.start}), List({test.end}),
                                List({0}), List({test.step})},
                     .constants = is_known ? std::vector<int>{1, 2, 3, 4}
                                           : std::vector<int>{}}),
          Near(test.expected, 0))
          << test.start << ":" << test.end << ":" << test.step;
    }
  }
}

// The standard clamps it to [0, extent - 1]; in Python nothing would be left.
TEST(SliceTest, AStartBeforeTheFirstElementIsTheFirstBackwardsToo) {
  for (int64_t extent : {5, 1, 0}) {
    const TestTensor y = MustRunOp(
        {.op = "Slice",
         .inputs = {Count(extent), List({-20}), List({INT64_MIN}), List({0}),
                    List({-1})},
         .constants = {1, 2, 3, 4}});
    EXPECT_THAT(y, Near(std::vector<double>(extent > 0 ? 1 : 0, 0), 0))
        << extent;
  }
}

TEST(SliceTest, SomeAxesOfThreeForwardsAndBackwards) {
  const TestTensor x = Pattern(DType::kInt32, {4, 3, 5});
  const TestTensor y = MustRunOp(
      {.op = "Slice",
       .inputs = {x, Tensor<int32_t>({2}, {-1, 1}),
                  Tensor<int32_t>({2}, {-9, 3}), Tensor<int32_t>({2}, {-1, 0}),
                  Tensor<int32_t>({2}, {-2, 1})}});
  ASSERT_EQ(y.shape, Shape({2, 3, 3}));
  for (int64_t i = 0; i < 2; ++i) {
    for (int64_t j = 0; j < 3; ++j) {
      for (int64_t k = 0; k < 3; ++k) {
        EXPECT_EQ(y.At((i * 3 + j) * 3 + k),
                  x.At(((i + 1) * 3 + j) * 5 + 4 - 2 * k));
      }
    }
  }
}

TEST(SliceTest, AttributesOfOldVersionsDoTheSame) {
  EXPECT_THAT(
      MustRunOp({.op = "Slice",
                 .inputs = {Count(5)},
                 .attributes = {{"starts", Ints{1}}, {"ends", Ints{-1}}},
                 .opset = 9}),
      Near({1, 2, 3}, 0));
}

TEST(SliceTest, WrongArgumentsAreRefusedBeforeAndInTheRun) {
  for (bool is_known : {false, true}) {
    const auto run = [is_known](const Ints& axes, const Ints& steps) {
      return RunOp(
          {.op = "Slice",
           .inputs = {Count(5), List({0}), List({1}), List(axes), List(steps)},
           .constants =
               is_known ? std::vector<int>{1, 2, 3, 4} : std::vector<int>{}});
    };
    EXPECT_THAT(run({0}, {0}), StatusIs(absl::StatusCode::kInvalidArgument,
                                        HasSubstr("step is 0")));
    EXPECT_THAT(run({INT64_MIN}, {1}),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("outside [-1, 1)")));
  }
}

TEST(SplitTest, PartsByInputAttributeAndInEqualShares) {
  const TestTensor x = Pattern(DType::kFloat32, {2, 6});
  const auto by_input = RunOp({.op = "Split",
                               .inputs = {x, List({1, 5})},
                               .attributes = {{"axis", int64_t{1}}},
                               .output_count = 2});
  ASSERT_THAT(by_input, IsOk());
  EXPECT_EQ((*by_input)[0].shape, Shape({2, 1}));
  EXPECT_EQ((*by_input)[1].shape, Shape({2, 5}));
  EXPECT_EQ((*by_input)[1].At(5), x.At(7));
  const auto by_attribute =
      RunOp({.op = "Split",
             .inputs = {x},
             .attributes = {{"axis", int64_t{-1}}, {"split", Ints{2, 4}}},
             .opset = 11,
             .output_count = 2});
  ASSERT_THAT(by_attribute, IsOk());
  EXPECT_EQ((*by_attribute)[1].shape, Shape({2, 4}));
  const auto uneven =
      RunOp({.op = "Split",
             .inputs = {x},
             .attributes = {{"axis", int64_t{1}}, {"num_outputs", int64_t{4}}},
             .opset = 18,
             .output_count = 4});
  EXPECT_THAT(uneven, IsOk());
  EXPECT_EQ((*uneven)[3].shape, Shape({2, 0}));
}

TEST(SplitTest, PartsThatAreNotTheWholeAreRefused) {
  const TestTensor x = Pattern(DType::kFloat32, {6});
  for (const Ints& parts : {Ints{1, 4}, Ints{-1, 7}, Ints{INT64_MAX, INT64_MAX},
                            Ints{INT64_MIN, 6}}) {
    for (bool is_known : {false, true}) {
      EXPECT_THAT(
          RunOp(
              {.op = "Split",
               .inputs = {x, List(parts)},
               .constants = is_known ? std::vector<int>{1} : std::vector<int>{},
               .output_count = 2}),
          StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("part")));
    }
  }
  EXPECT_THAT(RunOp({.op = "Split", .inputs = {x}, .output_count = 4}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("does not split into 4 parts")));
}

TEST(TileTest, RepeatsEachDimension) {
  const TestTensor x = Tensor({2, 2}, {1, 2, 3, 4});
  const auto tile = [&](const Ints& repeats) {
    return MustRunOp(
        {.op = "Tile", .inputs = {x, List(repeats)}, .constants = {1}});
  };
  EXPECT_THAT(tile({2, 1}), Near({1, 2, 3, 4, 1, 2, 3, 4}, 0));
  EXPECT_THAT(tile({1, 2}), Near({1, 2, 1, 2, 3, 4, 3, 4}, 0));
  EXPECT_THAT(tile({1, 1}), Near({1, 2, 3, 4}, 0));
  EXPECT_THAT(tile({0, 3}), Near({}, 0));
  const TestTensor column = Tensor({2, 1}, {5, 6});
  EXPECT_THAT(
      MustRunOp(
          {.op = "Tile", .inputs = {column, List({2, 3})}, .constants = {1}}),
      Near({5, 5, 5, 6, 6, 6, 5, 5, 5, 6, 6, 6}, 0));
}

TEST(ExpandTest, BroadcastsBothWays) {
  EXPECT_THAT(MustRunOp({.op = "Expand",
                         .inputs = {Tensor({2, 1}, {1, 2}), List({2, 1, 3})},
                         .constants = {1}}),
              Near({1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2}, 0));
}

TEST(RangeTest, EndsBeforeTheLimitInBothDirections) {
  const auto range = [](int64_t start, int64_t limit, int64_t delta) {
    return RunOp(
        {.op = "Range",
         .inputs = {Tensor<int64_t>({}, {start}), Tensor<int64_t>({}, {limit}),
                    Tensor<int64_t>({}, {delta})},
         .constants = {0, 1, 2}});
  };
  EXPECT_THAT((*range(1, 8, 3))[0], Near({1, 4, 7}, 0));
  EXPECT_THAT((*range(5, -1, -2))[0], Near({5, 3, 1}, 0));
  EXPECT_THAT((*range(5, 1, 2))[0], Near({}, 0));
  EXPECT_THAT((*range(INT64_MIN, INT64_MAX, INT64_MAX))[0].shape.extents(),
              testing::ElementsAre(3));
  EXPECT_THAT(range(0, 1, 0), StatusIs(absl::StatusCode::kInvalidArgument,
                                       HasSubstr("delta is 0")));
  EXPECT_THAT(
      range(INT64_MIN, INT64_MAX, 1),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("more than")));
}

TEST(RangeTest, HalvesAreFloat32InBetween) {
  // Past 2048 (256) the numbers are 2 apart, and adding 1 would stay there.
  for (DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    const double start = dtype == DType::kFloat16 ? 2046 : 254;
    const std::vector<double> expected = {start,     start + 1, start + 2,
                                          start + 2, start + 4, start + 6};
    EXPECT_THAT(MustRunOp({.op = "Range",
                           .inputs = {TensorOf(dtype, {}, {start}),
                                      TensorOf(dtype, {}, {start + 6}),
                                      TensorOf(dtype, {}, {1})},
                           .attributes = {{"stash_type", int64_t{1}}},
                           .opset = 27,
                           .constants = {0, 1, 2}}),
                IsNear(TensorOf(dtype, {6}, expected), {}));
  }
  EXPECT_THAT(
      RunOp({.op = "Range",
             .inputs = {Tensor({}, {0}), Tensor({}, {1}), Tensor({}, {1})},
             .attributes = {{"stash_type", int64_t{11}}},
             .opset = 27,
             .constants = {0, 1, 2}}),
      StatusIs(absl::StatusCode::kUnimplemented,
               HasSubstr("'stash_type' is 11, not 1")));
}

TEST(RangeTest, AFloatRangeWithoutEndIsRefused) {
  const auto range = [](float start, float limit, float delta) {
    return RunOp({.op = "Range",
                  .inputs = {Tensor({}, {start}), Tensor({}, {limit}),
                             Tensor({}, {delta})},
                  .constants = {0, 1, 2}});
  };
  EXPECT_THAT((*range(1, 2, 0.25f))[0], Near({1, 1.25, 1.5, 1.75}, 0));
  EXPECT_THAT(range(0, 1, NAN), StatusIs(absl::StatusCode::kInvalidArgument,
                                         HasSubstr("has no end")));
  EXPECT_THAT(
      range(0, INFINITY, 1),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("more than")));
}

TEST(ConstantOfShapeTest, FillsWithTheValueOrZero) {
  EXPECT_THAT(
      MustRunOp(
          {.op = "ConstantOfShape", .inputs = {List({2})}, .constants = {0}}),
      Near({0, 0}, 0));
  EXPECT_THAT(RunOp({.op = "ConstantOfShape",
                     .inputs = {List({3, -1})},
                     .constants = {0}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("is -1, below 0")));
  EXPECT_THAT(RunOp({.op = "ConstantOfShape",
                     .inputs = {List({INT64_MAX, INT64_MAX})},
                     .constants = {0}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("")));
}

}  // namespace
}  // namespace tensord
