#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

namespace tensord {
namespace {

constexpr DType kDTypes[] = {DType::kFloat32,  DType::kFloat64, DType::kFloat16,
                             DType::kBFloat16, DType::kInt8,    DType::kInt16,
                             DType::kInt32,    DType::kInt64,   DType::kUInt8,
                             DType::kUInt16,   DType::kUInt32,  DType::kUInt64};

TEST(ClipTest, BothBoundsOneBoundAndNone) {
  for (DType dtype : kDTypes) {
    const auto tensor = [dtype](const std::vector<double>& values) {
      return TensorOf(dtype, {static_cast<int64_t>(values.size())}, values);
    };
    const TestTensor x = tensor({1, 3, 5, 7});
    const TestTensor low = TensorOf(dtype, {}, {2}), high = tensor({6});
    EXPECT_EQ(MustRunOp({.op = "Clip", .inputs = {x, low, high}}),
              tensor({2, 3, 5, 6}));
    EXPECT_EQ(MustRunOp({.op = "Clip", .inputs = {x, low}}),
              tensor({2, 3, 5, 7}));
    EXPECT_EQ(MustRunOp({.op = "Clip", .inputs = {x, TestTensor(), high}}),
              tensor({1, 3, 5, 6}));
    EXPECT_EQ(MustRunOp({.op = "Clip", .inputs = {x}}), x);
    EXPECT_EQ(MustRunOp({.op = "Clip", .inputs = {x, high, low}}),
              tensor({2, 2, 2, 2}));
  }
}

TEST(ClipTest, NegativeNumbersAndManyElements) {
  std::vector<double> expected;
  const TestTensor x = Pattern(DType::kFloat32, {33000});
  for (int i = 0; i < 33000; ++i) {
    expected.push_back(std::fmin(std::fmax(x.At(i), -1.5), 0.25));
  }
  EXPECT_EQ(
      MustRunOp({.op = "Clip",
                 .inputs = {x, Tensor({}, {-1.5f}), Tensor({}, {0.25f})}}),
      TensorOf(DType::kFloat32, {33000}, expected));
  EXPECT_EQ(MustRunOp({.op = "Clip",
                       .inputs = {Tensor({0}, {}), Tensor({}, {1.0f})}}),
            Tensor({0}, {}));
}

// As float32, whatever x is.
TEST(ClipTest, BoundsThatWereAttributes) {
  for (DType dtype :
       {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16}) {
    const TestTensor x = TensorOf(dtype, {3}, {-3, 0, 9});
    EXPECT_EQ(MustRunOp({.op = "Clip",
                         .inputs = {x},
                         .attributes = {{"max", 6.0f}, {"min", 0.0f}},
                         .opset = 9}),
              TensorOf(dtype, {3}, {0, 0, 6}));
    EXPECT_EQ(MustRunOp({.op = "Clip",
                         .inputs = {x},
                         .attributes = {{"max", 6.0f}},
                         .opset = 10}),
              TensorOf(dtype, {3}, {-3, 0, 6}));
    EXPECT_EQ(
        MustRunOp({.op = "Clip",
                   .inputs = {x},
                   .attributes = {{"min", -0.5f},
                                  {"consumed_inputs", std::vector<int64_t>{0}}},
                   .opset = 5}),
        TensorOf(dtype, {3}, {-0.5, 0, 9}));
    EXPECT_EQ(MustRunOp({.op = "Clip", .inputs = {x}, .opset = 7}), x);
  }
}

TEST(ClipTest, ABoundIsRoundedWithTheElements) {
  // 0.1 is no float16; x comes to its float16 neighbour.
  EXPECT_EQ(MustRunOp({.op = "Clip",
                       .inputs = {TensorOf(DType::kFloat16, {2}, {0, 1})},
                       .attributes = {{"max", 0.1f}, {"min", 0.1f}},
                       .opset = 9}),
            TensorOf(DType::kFloat16, {2}, {0.1f, 0.1f}));
}

TEST(ClipTest, InfinitiesAndNaNs) {
  const float inf = std::numeric_limits<float>::infinity();
  const TestTensor x = Tensor({3}, {NAN, -inf, inf});
  EXPECT_THAT(MustRunOp({.op = "Clip",
                         .inputs = {x, Tensor({}, {-1}), Tensor({}, {2})}}),
              Near({NAN, -1, 2}, 0));
  EXPECT_THAT(MustRunOp({.op = "Clip", .inputs = {x}}),
              Near({NAN, -inf, inf}, 0));
}

TEST(ClipTest, IntegersReachTheirLimits) {
  const TestTensor x = Tensor<int64_t>({2}, {INT64_MIN, INT64_MAX});
  EXPECT_EQ(MustRunOp({.op = "Clip", .inputs = {x}}), x);
  EXPECT_EQ(MustRunOp({.op = "Clip",
                       .inputs = {Tensor<uint8_t>({3}, {0, 100, 255}),
                                  Tensor<uint8_t>({}, {10}),
                                  Tensor<uint8_t>({}, {200})}}),
            Tensor<uint8_t>({3}, {10, 100, 200}));
}

}  // namespace
}  // namespace tensord
