#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

namespace tensord {
namespace {

constexpr DType kFloats[] = {DType::kFloat32, DType::kFloat64, DType::kFloat16,
                             DType::kBFloat16};

Tolerance ToleranceOf(DType dtype) {
  return ToleranceFor(dtype, OpFamily::kReduction);
}

struct Statistics {
  double mean = 0;
  double variance = 0;
  double mean_square = 0;
};

// Of the elements [begin, begin + count).
Statistics StatisticsOf(const TestTensor& x, int64_t begin, int64_t count) {
  Statistics result;
  const auto n = static_cast<double>(count);
  for (int64_t i = begin; i < begin + count; ++i) result.mean += x.At(i) / n;
  for (int64_t i = begin; i < begin + count; ++i) {
    result.variance += std::pow(x.At(i) - result.mean, 2) / n;
    result.mean_square += x.At(i) * x.At(i) / n;
  }
  return result;
}

// Element i of y as an element of what broadcasts to it.
double Broadcast(const TestTensor& from, const Shape& y, int64_t i) {
  int64_t at = 0, stride = 1;
  for (int d = 1; d <= y.rank(); ++d) {
    const int64_t index = i % y[y.rank() - d];
    i /= y[y.rank() - d];
    if (d > from.shape.rank()) continue;
    const int64_t extent = from.shape[from.shape.rank() - d];
    if (extent != 1) at += index * stride;
    stride *= extent;
  }
  return from.At(at);
}

struct LayerCase {
  Shape x;
  int64_t axis;
  Shape scale;
  Shape bias;
};

const LayerCase kLayerCases[] = {
    {{2, 3, 5}, -1, {5}, {5}},
    {{2, 3, 5}, 1, {3, 5}, {3, 5}},
    {{2, 3, 5}, 0, {2, 3, 5}, {2, 3, 5}},
    {{2, 3, 5}, -1, {}, {1}},
    {{2, 3, 5}, -1, {3, 1}, {2, 1, 5}},  // not of the normalised dimensions
    {{2, 3, 5}, 1, {5}, {3, 1}},
    {{17}, 0, {17}, {17}},
    {{3, 1}, -1, {1}, {1}},
    {{3, 8193}, 1, {8193}, {8193}},  // one past the grain
    {{0, 4}, -1, {4}, {4}},
};

TEST(LayerNormalizationTest, MatchesTheDefinition) {
  for (const LayerCase& c : kLayerCases) {
    for (DType dtype : kFloats) {
      if (c.x.element_count() > 10000 && dtype != DType::kFloat32) continue;
      const TestTensor x = Pattern(dtype, c.x, 1);
      const TestTensor scale = Pattern(dtype, c.scale, 2);
      const TestTensor bias = Pattern(dtype, c.bias, 3);
      const int64_t axis = c.axis < 0 ? c.axis + c.x.rank() : c.axis;
      const int64_t columns =
          c.x.ElementCount(static_cast<int>(axis), c.x.rank());
      std::vector<double> y, means, inverses;
      for (int64_t row = 0; row * columns < c.x.element_count(); ++row) {
        const Statistics s = StatisticsOf(x, row * columns, columns);
        means.push_back(s.mean);
        inverses.push_back(1 / std::sqrt(s.variance + 0.125));
        for (int64_t i = row * columns; i < (row + 1) * columns; ++i) {
          y.push_back((x.At(i) - s.mean) * inverses.back() *
                          Broadcast(scale, c.x, i) +
                      Broadcast(bias, c.x, i));
        }
      }
      const auto outputs =
          RunOp({.op = "LayerNormalization",
                 .inputs = {x, scale, bias},
                 .attributes = {{"axis", c.axis}, {"epsilon", 0.125f}},
                 .output_count = 3});
      ASSERT_THAT(outputs, IsOk());
      const std::string what =
          absl::StrCat(DTypeName(dtype), c.x.ToString(), " axis ", c.axis);
      EXPECT_THAT((*outputs)[0],
                  IsNear(TensorOf(dtype, c.x, y), ToleranceOf(dtype)))
          << what;
      Dims extents(c.x.extents().begin(), c.x.extents().end());
      std::fill(extents.begin() + axis, extents.end(), 1);
      const Shape reduced = Shape::Create(extents).value();
      EXPECT_THAT((*outputs)[1],
                  IsNear(TensorOf(DType::kFloat32, reduced, means),
                         ToleranceOf(DType::kFloat32)))
          << what;
      EXPECT_THAT((*outputs)[2],
                  IsNear(TensorOf(DType::kFloat32, reduced, inverses),
                         ToleranceOf(DType::kFloat32)))
          << what;
    }
  }
}

TEST(LayerNormalizationTest, WithoutABiasNothingIsAdded) {
  const TestTensor y =
      MustRunOp({.op = "LayerNormalization",
                 .inputs = {Tensor({1, 2}, {1, 3}), Tensor({2}, {2, 4})},
                 .attributes = {{"epsilon", 0.0f}}});
  EXPECT_THAT(y, Near({-2, 4}, 1e-6));
}

TEST(LayerNormalizationTest, StatisticsMayBeBFloat16) {
  const auto outputs =
      RunOp({.op = "LayerNormalization",
             .inputs = {Tensor({1, 2}, {1, 3.0625f}), Tensor({2}, {1, 1})},
             .attributes = {{"stash_type", int64_t{16}}, {"epsilon", 0.0f}},
             .output_count = 3});
  ASSERT_THAT(outputs, IsOk());
  EXPECT_EQ((*outputs)[1].dtype, DType::kBFloat16);
  EXPECT_THAT((*outputs)[1], Near({2.03125}, 0));
  EXPECT_EQ((*outputs)[2].dtype, DType::kBFloat16);
  EXPECT_THAT((*outputs)[2], Near({0.96875}, 0));  // 0.9697, in 8 bits
}

// A million elements far from 0, which differ by a thousandth of themselves.
TEST(LayerNormalizationTest, ALongRowKeepsThePrecisionOfItsElements) {
  const Shape shape({1, 1 << 20});
  const TestTensor pattern = Pattern(DType::kFloat32, shape);
  std::vector<double> values;
  for (int64_t i = 0; i < shape.element_count(); ++i) {
    values.push_back(1000 + pattern.At(i));
  }
  const TestTensor x = TensorOf(DType::kFloat32, shape, values);
  const Statistics s = StatisticsOf(x, 0, shape.element_count());
  std::vector<double> expected;
  for (int64_t i = 0; i < shape.element_count(); ++i) {
    expected.push_back((x.At(i) - s.mean) / std::sqrt(s.variance + 1e-5f));
  }
  EXPECT_THAT(
      MustRunOp({.op = "LayerNormalization", .inputs = {x, Tensor({1}, {1})}}),
      IsNear(TensorOf(DType::kFloat32, shape, expected),
             ToleranceFor(DType::kFloat32, OpFamily::kArithmetic)));
}

TEST(LayerNormalizationTest, RowsOfNoElementHaveNoMean) {
  const auto outputs = RunOp({.op = "LayerNormalization",
                              .inputs = {Tensor({2, 0}, {}), Tensor({0}, {})},
                              .output_count = 3});
  ASSERT_THAT(outputs, IsOk());
  EXPECT_THAT((*outputs)[1], Near({NAN, NAN}, 0));
  EXPECT_THAT((*outputs)[2], Near({NAN, NAN}, 0));
}

TEST(LayerNormalizationTest, ANaNStaysInItsRow) {
  EXPECT_THAT(MustRunOp({.op = "LayerNormalization",
                         .inputs = {Tensor({2, 2}, {NAN, 1, 1, 3}),
                                    Tensor({2}, {1, 1})},
                         .attributes = {{"epsilon", 0.0f}}}),
              Near({NAN, NAN, -1, 1}, 1e-6));
}

TEST(RMSNormalizationTest, MatchesTheDefinition) {
  for (const LayerCase& c : kLayerCases) {
    for (DType dtype : kFloats) {
      for (DType scale_dtype : kFloats) {
        if (c.x.element_count() > 10000 && dtype != scale_dtype) continue;
        const TestTensor x = Pattern(dtype, c.x, 1);
        const TestTensor scale = Pattern(scale_dtype, c.scale, 2);
        const int64_t axis = c.axis < 0 ? c.axis + c.x.rank() : c.axis;
        const int64_t columns =
            c.x.ElementCount(static_cast<int>(axis), c.x.rank());
        std::vector<double> y;
        for (int64_t row = 0; row * columns < c.x.element_count(); ++row) {
          const Statistics s = StatisticsOf(x, row * columns, columns);
          for (int64_t i = row * columns; i < (row + 1) * columns; ++i) {
            y.push_back(x.At(i) / std::sqrt(s.mean_square + 0.125) *
                        Broadcast(scale, c.x, i));
          }
        }
        EXPECT_THAT(
            MustRunOp({.op = "RMSNormalization",
                       .inputs = {x, scale},
                       .attributes = {{"axis", c.axis}, {"epsilon", 0.125f}},
                       .opset = 23}),
            IsNear(TensorOf(scale_dtype, c.x, y), ToleranceOf(scale_dtype)))
            << DTypeName(dtype) << " by " << DTypeName(scale_dtype) << " "
            << c.x.ToString() << " axis " << c.axis;
      }
    }
  }
}

// y for groups of neighbouring channels; `own` is the entry of scale and bias
// for a group and a channel of it.
std::vector<double> Grouped(
    const TestTensor& x, int64_t groups, const TestTensor& scale,
    const TestTensor& bias,
    const std::function<int64_t(int64_t, int64_t)>& own) {
  const int64_t inner = x.shape.ElementCount(2, x.shape.rank());
  const int64_t group_channels = x.shape[1] / groups;
  std::vector<double> y;
  for (int64_t task = 0; task < x.shape[0] * groups; ++task) {
    const int64_t count = group_channels * inner;
    const Statistics s = StatisticsOf(x, task * count, count);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t at = own(task % groups, i / inner);
      y.push_back((x.At(task * count + i) - s.mean) /
                      std::sqrt(s.variance + 0.125) * scale.At(at) +
                  bias.At(at));
    }
  }
  return y;
}

const Shape kGroupedShapes[] = {
    {2, 6, 3, 2}, {1, 6, 5000}, {3, 6}, {0, 6, 2}, {2, 6, 0}};

TEST(GroupNormalizationTest, ScalesGroupsAtFirstAndChannelsFrom21On) {
  for (const Shape& shape : kGroupedShapes) {
    for (DType dtype : kFloats) {
      for (int64_t groups : {1, 2, 6}) {
        const int64_t group_channels = 6 / groups;
        const TestTensor x = Pattern(dtype, shape, 1);
        OpCase test{.op = "GroupNormalization",
                    .inputs = {x, Pattern(dtype, {groups}, 2),
                               Pattern(dtype, {groups}, 3)},
                    .attributes = {{"num_groups", groups}, {"epsilon", 0.125f}},
                    .opset = 18};
        EXPECT_THAT(
            MustRunOp(test),
            IsNear(TensorOf(dtype, shape,
                            Grouped(x, groups, test.inputs[1], test.inputs[2],
                                    [](int64_t g, int64_t) { return g; })),
                   ToleranceOf(dtype)))
            << shape.ToString() << " in " << groups;
        test.opset = 21;
        test.inputs[1] = Pattern(dtype, {6}, 2);
        test.inputs[2] = Pattern(dtype, {6}, 3);
        EXPECT_THAT(
            MustRunOp(test),
            IsNear(TensorOf(dtype, shape,
                            Grouped(x, groups, test.inputs[1], test.inputs[2],
                                    [&](int64_t g, int64_t c) {
                                      return g * group_channels + c;
                                    })),
                   ToleranceOf(dtype)))
            << shape.ToString() << " in " << groups;
      }
    }
  }
}

TEST(InstanceNormalizationTest, MatchesTheDefinition) {
  for (const Shape& shape : kGroupedShapes) {
    for (DType dtype : kFloats) {
      const TestTensor x = Pattern(dtype, shape, 1);
      const TestTensor scale = Pattern(dtype, {6}, 2);
      const TestTensor bias = Pattern(dtype, {6}, 3);
      EXPECT_THAT(
          MustRunOp({.op = "InstanceNormalization",
                     .inputs = {x, scale, bias},
                     .attributes = {{"epsilon", 0.125f}}}),
          IsNear(TensorOf(dtype, shape,
                          Grouped(x, 6, scale, bias,
                                  [](int64_t g, int64_t) { return g; })),
                 ToleranceOf(dtype)))
          << shape.ToString();
    }
  }
}

struct LpCase {
  Shape shape;
  int64_t axis;
  int64_t outer, extent, inner;
};

TEST(LpNormalizationTest, MatchesTheDefinition) {
  const LpCase kCases[] = {
      {{2, 3, 5}, -1, 6, 5, 1},     {{2, 3, 5}, 1, 2, 3, 5},
      {{2, 3, 5}, 0, 1, 2, 15},     {{4}, 0, 1, 4, 1},
      {{2, 17, 65}, 1, 2, 17, 65},  // 64 lines are a strip
      {{1, 20000}, 1, 1, 20000, 1}, {{0, 4}, 1, 0, 4, 1},
      {{4, 0}, 1, 4, 0, 1},         {{0, 4}, 0, 1, 0, 4},
  };
  for (const LpCase& c : kCases) {
    for (DType dtype : kFloats) {
      for (int64_t p : {1, 2}) {
        const TestTensor x = Pattern(dtype, c.shape);
        std::vector<double> y(c.shape.element_count());
        for (int64_t line = 0; line < c.outer * c.inner; ++line) {
          const auto at = [&](int64_t k) {
            return (line / c.inner * c.extent + k) * c.inner + line % c.inner;
          };
          double sum = 0;
          for (int64_t k = 0; k < c.extent; ++k) {
            sum += std::pow(std::abs(x.At(at(k))), static_cast<double>(p));
          }
          const double norm = std::pow(sum, 1.0 / static_cast<double>(p));
          for (int64_t k = 0; k < c.extent; ++k) {
            y[at(k)] = x.At(at(k)) / norm;
          }
        }
        EXPECT_THAT(MustRunOp({.op = "LpNormalization",
                               .inputs = {x},
                               .attributes = {{"axis", c.axis}, {"p", p}}}),
                    IsNear(TensorOf(dtype, c.shape, y), ToleranceOf(dtype)))
            << c.shape.ToString() << " axis " << c.axis << " p " << p;
      }
    }
  }
}

TEST(LpNormalizationTest, WhereTheNormIsZeroSoIsTheResult) {
  for (int64_t axis : {0, 1}) {
    EXPECT_THAT(MustRunOp({.op = "LpNormalization",
                           .inputs = {Tensor({2, 2}, {0, 0, 0, 0})},
                           .attributes = {{"axis", axis}}}),
                Near({0, 0, 0, 0}, 0));
  }
}

// The sum of squares is 1e40, past float32.
TEST(LpNormalizationTest, LargeElementsHaveANorm) {
  EXPECT_THAT(MustRunOp({.op = "LpNormalization",
                         .inputs = {Tensor({2}, {6e20f, 8e20f})}}),
              Near({0.6, 0.8}, 1e-6));
}

}  // namespace
}  // namespace tensord
