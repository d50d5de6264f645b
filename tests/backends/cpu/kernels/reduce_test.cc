#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

namespace tensord {
namespace {

using testing::HasSubstr;
using Ints = std::vector<int64_t>;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TestTensor Axes(const Ints& axes) {
  return Tensor<int64_t>(Shape({static_cast<int64_t>(axes.size())}), axes);
}

TestTensor Reduce(const std::string& op, const TestTensor& x, const Ints& axes,
                  bool keep_dims = true) {
  return MustRunOp({.op = op,
                    .inputs = {x, Axes(axes)},
                    .attributes = {{"keepdims", int64_t{keep_dims}}},
                    .opset = 18,
                    .constants = {1}});
}

TEST(ReduceTest, EachFormulaOnOneRow) {
  const TestTensor x = Tensor({1, 3}, {-1, 2, 4});
  EXPECT_THAT(Reduce("ReduceSum", x, {1}), Near({5}, 0));
  EXPECT_THAT(Reduce("ReduceMean", x, {1}), Near({5.0 / 3}, 1e-6));
  EXPECT_THAT(Reduce("ReduceL1", x, {1}), Near({7}, 0));
  EXPECT_THAT(Reduce("ReduceL2", x, {1}), Near({std::sqrt(21.0)}, 1e-6));
  EXPECT_THAT(Reduce("ReduceSumSquare", x, {1}), Near({21}, 0));
  EXPECT_THAT(Reduce("ReduceProd", x, {1}), Near({-8}, 0));
  EXPECT_THAT(Reduce("ReduceMax", x, {1}), Near({4}, 0));
  EXPECT_THAT(Reduce("ReduceMin", x, {1}), Near({-1}, 0));
  EXPECT_THAT(Reduce("ReduceLogSum", x, {1}), Near({std::log(5.0)}, 1e-6));
  EXPECT_THAT(Reduce("ReduceLogSumExp", x, {1}),
              Near({std::log(std::exp(-1) + std::exp(2) + std::exp(4))}, 1e-6));
}

// The plainest sum that there is.
TestTensor SlowSum(const TestTensor& x, const std::vector<bool>& goes) {
  Dims extents;
  for (int d = 0; d < x.shape.rank(); ++d) {
    extents.push_back(goes[d] ? 1 : x.shape[d]);
  }
  const Shape shape = Shape::Create(extents).value();
  std::vector<double> sums(shape.element_count());
  for (int64_t i = 0; i < x.shape.element_count(); ++i) {
    int64_t rest = i;
    int64_t at = 0;
    int64_t stride = 1;
    for (int d = x.shape.rank() - 1; d >= 0; --d) {
      if (!goes[d]) {
        at += rest % x.shape[d] * stride;
        stride *= x.shape[d];
      }
      rest /= x.shape[d];
    }
    sums[at] += x.At(i);
  }
  return TensorOf(DType::kFloat32, shape, sums);
}

TEST(ReduceTest, EverySetOfAxesOfOddShapesIsThePlainSum) {
  for (const Shape& shape :
       {Shape({3, 1, 17, 5}), Shape({2, 70, 3, 9}), Shape({1, 1, 1, 130}),
        Shape({67, 2, 65, 1}), Shape({2, 0, 3, 4})}) {
    const TestTensor x = Pattern(DType::kFloat32, shape);
    for (int mask = 1; mask < 16; ++mask) {
      std::vector<bool> goes;
      Ints axes;
      for (int d = 0; d < 4; ++d) {
        goes.push_back(mask >> d & 1);
        if (goes[d]) axes.push_back(d % 2 == 0 ? d : d - 4);
      }
      EXPECT_THAT(Reduce("ReduceSum", x, axes),
                  IsNear(SlowSum(x, goes), {.relative = 1e-6}))
          << shape.ToString() << " mask " << mask;
    }
  }
}

TEST(ReduceTest, NothingToReduceGivesTheNeutralElement) {
  const TestTensor x = Tensor<float>({2, 0}, {});
  EXPECT_THAT(Reduce("ReduceSum", x, {1}), Near({0, 0}, 0));
  EXPECT_THAT(Reduce("ReduceProd", x, {1}), Near({1, 1}, 0));
  EXPECT_THAT(Reduce("ReduceMax", x, {1}), Near({-kInfinity, -kInfinity}, 0));
  EXPECT_THAT(Reduce("ReduceMin", x, {1}), Near({kInfinity, kInfinity}, 0));
  EXPECT_THAT(Reduce("ReduceLogSumExp", x, {1}),
              Near({-kInfinity, -kInfinity}, 0));
  EXPECT_THAT(Reduce("ReduceMean", x, {1}), Near({NAN, NAN}, 0));
  const TestTensor integers = Tensor<int32_t>({2, 0}, {});
  EXPECT_THAT(Reduce("ReduceMax", integers, {1}),
              Near({-2147483648.0, -2147483648.0}, 0));
  EXPECT_THAT(Reduce("ReduceMean", integers, {1}), Near({0, 0}, 0));
  EXPECT_THAT(Reduce("ReduceLogSum", integers, {1}),
              Near({-2147483648.0, -2147483648.0}, 0));
}

TEST(ReduceTest, IntegersWrapAndTheirMeanTruncates) {
  const int32_t most = std::numeric_limits<int32_t>::max();
  const int32_t least = std::numeric_limits<int32_t>::min();
  EXPECT_THAT(Reduce("ReduceSum", Tensor<int32_t>({2}, {most, 1}), {0}),
              Near({-2147483648.0}, 0));
  EXPECT_THAT(Reduce("ReduceMean", Tensor<int32_t>({2}, {most, most}), {0}),
              Near({2147483647.0}, 0));
  EXPECT_THAT(Reduce("ReduceMean", Tensor<int32_t>({2}, {-3, 0}), {0}),
              Near({-1}, 0));
  EXPECT_THAT(Reduce("ReduceL1", Tensor<int32_t>({1}, {least}), {0}),
              Near({-2147483648.0}, 0));
  EXPECT_THAT(Reduce("ReduceL2", Tensor<int32_t>({2}, {least, least}), {0}),
              Near({2147483647.0}, 0));
}

TEST(ReduceTest, HugeExponentsStayFinite) {
  EXPECT_THAT(
      Reduce("ReduceLogSumExp", Tensor({4}, {1000, 1000, -1000, 999}), {0}),
      Near({1000 + std::log(2 + std::exp(-1.0))}, 1e-3));
  EXPECT_THAT(
      Reduce("ReduceLogSumExp", Tensor({2}, {-kInfinity, -kInfinity}), {0}),
      Near({-kInfinity}, 0));
  EXPECT_THAT(Reduce("ReduceLogSumExp", Tensor({3}, {1, kInfinity, NAN}), {0}),
              Near({NAN}, 0));
}

TEST(ReduceTest, ANanIsTheExtreme) {
  const TestTensor x = Tensor({3}, {1, NAN, 2});
  EXPECT_THAT(Reduce("ReduceMax", x, {0}), Near({NAN}, 0));
  EXPECT_THAT(Reduce("ReduceMin", x, {0}), Near({NAN}, 0));
}

TEST(ReduceTest, AxesOfTheRunTellTheExtents) {
  const TestTensor x = Tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  const TestTensor kept =
      MustRunOp({.op = "ReduceSum", .inputs = {x, Axes({-1})}});
  EXPECT_EQ(kept.shape, Shape({2, 1}));
  EXPECT_THAT(kept, Near({6, 15}, 0));
  const TestTensor gone = MustRunOp({.op = "ReduceSum",
                                     .inputs = {x, Axes({0})},
                                     .attributes = {{"keepdims", int64_t{0}}}});
  EXPECT_EQ(gone.shape, Shape({3}));
  EXPECT_THAT(gone, Near({5, 7, 9}, 0));
  EXPECT_THAT(RunOp({.op = "ReduceSum", .inputs = {x, Axes({2})}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("axis 2 is outside [-2, 2)")));
  EXPECT_THAT(
      RunOp({.op = "ReduceSum", .inputs = {x, Axes({1, -1})}}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("given twice")));
}

TEST(ReduceTest, EmptyAxesReduceAllOrNothing) {
  const TestTensor x = Tensor({2, 2}, {1, 2, 3, 4});
  EXPECT_THAT(Reduce("ReduceSum", x, {}, false), Near({10}, 0));
  EXPECT_THAT(MustRunOp({.op = "ReduceSumSquare",
                         .inputs = {x},
                         .attributes = {{"noop_with_empty_axes", int64_t{1}}},
                         .opset = 18}),
              Near({1, 4, 9, 16}, 0));
}

TEST(ReduceTest, ExtremesOfBoolsAreAnyAndAll) {
  const TestTensor x = Tensor<bool>({2, 2}, {true, false, false, false});
  EXPECT_THAT(Reduce("ReduceMax", x, {1}), Near({1, 0}, 0));
  EXPECT_THAT(Reduce("ReduceMin", x, {0}), Near({0, 0}, 0));
}

TEST(ArgReduceTest, TheFirstOrTheLastOfEquals) {
  const TestTensor x = Tensor({2, 3}, {1, 5, 5, 7, 2, 7});
  EXPECT_THAT(MustRunOp({.op = "ArgMax",
                         .inputs = {x},
                         .attributes = {{"axis", int64_t{1}}}}),
              Near({1, 0}, 0));
  EXPECT_THAT(MustRunOp({.op = "ArgMax",
                         .inputs = {x},
                         .attributes = {{"axis", int64_t{-1}},
                                        {"select_last_index", int64_t{1}},
                                        {"keepdims", int64_t{0}}}}),
              Near({2, 2}, 0));
  EXPECT_THAT(MustRunOp({.op = "ArgMin", .inputs = {x}}), Near({0, 1, 0}, 0));
}

TEST(ArgReduceTest, TheFirstNanIsTheExtreme) {
  const TestTensor x = Tensor({4}, {3, NAN, 9, NAN});
  EXPECT_THAT(MustRunOp({.op = "ArgMax", .inputs = {x}}), Near({1}, 0));
  EXPECT_THAT(MustRunOp({.op = "ArgMin", .inputs = {x}}), Near({1}, 0));
}

TEST(ArgReduceTest, WideRowsAreTakenInStrips) {
  const TestTensor x = Pattern(DType::kInt32, {3, 5, 131});
  const TestTensor y = MustRunOp(
      {.op = "ArgMax", .inputs = {x}, .attributes = {{"axis", int64_t{1}}}});
  for (int64_t o = 0; o < 3; ++o) {
    for (int64_t i = 0; i < 131; ++i) {
      int64_t best = 0;
      for (int64_t c = 1; c < 5; ++c) {
        const int64_t at = o * 5 * 131 + i;
        if (x.At(at + c * 131) > x.At(at + best * 131)) best = c;
      }
      ASSERT_EQ(y.At(o * 131 + i), best) << o << ", " << i;
    }
  }
}

TEST(CumSumTest, InclusiveExclusiveAndReverse) {
  const TestTensor x = Tensor<int32_t>({3}, {1, 2, 3});
  const auto sum = [&](int64_t exclusive, int64_t reverse) {
    return MustRunOp(
        {.op = "CumSum",
         .inputs = {x, Tensor<int32_t>({}, {-1})},
         .attributes = {{"exclusive", exclusive}, {"reverse", reverse}}});
  };
  EXPECT_THAT(sum(0, 0), Near({1, 3, 6}, 0));
  EXPECT_THAT(sum(1, 0), Near({0, 1, 3}, 0));
  EXPECT_THAT(sum(0, 1), Near({6, 5, 3}, 0));
  EXPECT_THAT(sum(1, 1), Near({5, 3, 0}, 0));
}

TEST(CumProdTest, InclusiveExclusiveAndReverse) {
  for (DType dtype :
       {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16,
        DType::kInt32, DType::kInt64, DType::kUInt32, DType::kUInt64}) {
    const TestTensor x = TensorOf(dtype, {2, 3, 1}, {1, 2, 3, 0, 5, 7});
    const auto product = [&](int64_t exclusive, int64_t reverse) {
      return MustRunOp(
          {.op = "CumProd",
           .inputs = {x, Tensor<int64_t>({}, {1})},
           .attributes = {{"exclusive", exclusive}, {"reverse", reverse}},
           .opset = 26});
    };
    EXPECT_THAT(product(0, 0), Near({1, 2, 6, 0, 0, 0}, 0));
    EXPECT_THAT(product(1, 0), Near({1, 1, 2, 1, 0, 0}, 0));
    EXPECT_THAT(product(0, 1), Near({6, 6, 3, 0, 35, 7}, 0));
    EXPECT_THAT(product(1, 1), Near({6, 3, 1, 35, 7, 1}, 0));
  }
}

TEST(CumProdTest, IntegersWrap) {
  const TestTensor y =
      MustRunOp({.op = "CumProd",
                 .inputs = {Tensor<int32_t>({3}, {INT32_MIN, -1, 3}),
                            Tensor<int32_t>({}, {0})}});
  EXPECT_THAT(y, Near({INT32_MIN, INT32_MIN, INT32_MIN}, 0));
}

TEST(CumulativeTest, AnAxisOfTheRunIsChecked) {
  for (const char* op : {"CumSum", "CumProd"}) {
    EXPECT_THAT(RunOp({.op = op,
                       .inputs = {Tensor({2}, {1, 2}),
                                  Tensor<int64_t>({}, {INT64_MIN})}}),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("is outside [-1, 1)")));
  }
}

TEST(TriluTest, DiagonalsAtTheExtremes) {
  const TestTensor x = Tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto trilu = [&](int64_t upper, int64_t k) {
    return MustRunOp({.op = "Trilu",
                      .inputs = {x, Tensor<int64_t>({}, {k})},
                      .attributes = {{"upper", upper}}});
  };
  EXPECT_THAT(trilu(1, 0), Near({1, 2, 3, 0, 5, 6}, 0));
  EXPECT_THAT(trilu(1, 1), Near({0, 2, 3, 0, 0, 6}, 0));
  EXPECT_THAT(trilu(0, 0), Near({1, 0, 0, 4, 5, 0}, 0));
  EXPECT_THAT(trilu(0, -1), Near({0, 0, 0, 4, 0, 0}, 0));
  EXPECT_THAT(trilu(1, INT64_MIN), Near({1, 2, 3, 4, 5, 6}, 0));
  EXPECT_THAT(trilu(1, INT64_MAX), Near({0, 0, 0, 0, 0, 0}, 0));
  EXPECT_THAT(trilu(0, INT64_MAX), Near({1, 2, 3, 4, 5, 6}, 0));
}

}  // namespace
}  // namespace tensord
