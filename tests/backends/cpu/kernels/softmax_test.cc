#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

namespace tensord {
namespace {

using ::testing::ElementsAre;

// The definition over [outer, columns, inner], in double.
std::vector<double> Reference(const TestTensor& x, int64_t outer,
                              int64_t columns, int64_t inner, bool is_log) {
  std::vector<double> y(x.shape.element_count());
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      const auto at = [&](int64_t c) { return (o * columns + c) * inner + i; };
      double maximum = -INFINITY, sum = 0;
      for (int64_t c = 0; c < columns; ++c) {
        maximum = std::max(maximum, x.At(at(c)));
      }
      for (int64_t c = 0; c < columns; ++c) {
        sum += std::exp(x.At(at(c)) - maximum);
      }
      for (int64_t c = 0; c < columns; ++c) {
        const double shifted = x.At(at(c)) - maximum;
        y[at(c)] = is_log ? shifted - std::log(sum) : std::exp(shifted) / sum;
      }
    }
  }
  return y;
}

struct SoftmaxCase {
  Shape shape;
  int64_t axis;
  int64_t opset;
  int64_t outer, columns, inner;
};

const SoftmaxCase kCases[] = {
    {{1, 7}, -1, 13, 1, 7, 1},
    {{3, 1}, -1, 13, 3, 1, 1},
    {{0, 4}, 1, 13, 0, 4, 1},
    {{4, 0}, 1, 13, 4, 0, 1},
    {{5}, 0, 13, 1, 5, 1},
    {{2, 3, 5}, 1, 13, 2, 3, 5},
    {{2, 3, 5}, 0, 13, 1, 2, 15},
    {{2, 3, 5}, -1, 13, 6, 5, 1},
    {{2, 17, 65}, 1, 13, 2, 17, 65},  // 64 columns are a strip
    {{130, 65}, 0, 13, 1, 130, 65},
    {{2, 3, 5}, 1, 12, 2, 15, 1},  // flattened
    {{2, 3, 5}, 0, 12, 1, 30, 1},
    {{2, 3, 5}, -1, 11, 6, 5, 1},
    {{2, 3}, 2, 11, 6, 1, 1},  // at the rank itself
    {{4}, 1, 9, 4, 1, 1},
};

TEST(SoftmaxTest, EverySiblingMatchesTheDefinitionInEachVersion) {
  for (const SoftmaxCase& c : kCases) {
    for (DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16,
                        DType::kBFloat16}) {
      for (bool is_log : {false, true}) {
        const TestTensor x = Pattern(dtype, c.shape);
        const auto all =
            RunOpOnEveryKernel({.op = is_log ? "LogSoftmax" : "Softmax",
                                .inputs = {x},
                                .attributes = {{"axis", c.axis}},
                                .opset = c.opset});
        ASSERT_THAT(all, IsOk());
        const TestTensor expected = TensorOf(
            dtype, c.shape, Reference(x, c.outer, c.columns, c.inner, is_log));
        for (const auto& [kernel, outputs] : *all) {
          EXPECT_THAT(outputs[0],
                      IsNear(expected, ToleranceFor(dtype, OpFamily::kReduction,
                                                    c.columns)))
              << kernel << " " << c.shape.ToString() << " axis " << c.axis
              << " opset " << c.opset;
        }
      }
    }
  }
}

TEST(SoftmaxTest, TheDefaultAxisDependsOnTheVersion) {
  const TestTensor x = Pattern(DType::kFloat32, {2, 3, 4});
  EXPECT_EQ(MustRunOp({.op = "Softmax", .inputs = {x}, .opset = 13}),
            MustRunOp({.op = "Softmax",
                       .inputs = {x},
                       .attributes = {{"axis", int64_t{2}}},
                       .opset = 13}));
  EXPECT_EQ(MustRunOp({.op = "Softmax", .inputs = {x}, .opset = 12}),
            MustRunOp({.op = "Softmax",
                       .inputs = {x},
                       .attributes = {{"axis", int64_t{1}}},
                       .opset = 12}));
}

TEST(SoftmaxTest, HugeLogitsStayFinite) {
  for (const char* op : {"Softmax", "LogSoftmax"}) {
    for (int64_t axis : {0, 1}) {
      const TestTensor y =
          MustRunOp({.op = op,
                     .inputs = {Tensor({2, 2}, {1e30f, 0, 0, -1e30f})},
                     .attributes = {{"axis", axis}}});
      for (int i = 0; i < 4; ++i) EXPECT_TRUE(std::isfinite(y.At(i))) << op;
    }
  }
  EXPECT_THAT(
      MustRunOp({.op = "Softmax", .inputs = {Tensor({1, 2}, {1000, 1001})}}),
      Near({0.2689, 0.7311}, 1e-4));
}

TEST(SoftmaxTest, RowsAreForTheInnermostAxis) {
  const auto names = [](int64_t axis, int64_t opset) {
    std::vector<std::string> names;
    const auto all =
        RunOpOnEveryKernel({.op = "Softmax",
                            .inputs = {Pattern(DType::kFloat32, {2, 3, 4})},
                            .attributes = {{"axis", axis}},
                            .opset = opset});
    for (const auto& run : *all) names.push_back(run.kernel);
    return names;
  };
  EXPECT_THAT(names(2, 13),
              ElementsAre("softmax_f32_rows", "softmax_f32_strips"));
  EXPECT_THAT(names(1, 13), ElementsAre("softmax_f32_strips"));
  EXPECT_THAT(names(1, 12),
              ElementsAre("softmax_f32_rows", "softmax_f32_strips"));
}

}  // namespace
}  // namespace tensord
