#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

// Operators of one input on integers and booleans, and those whose results are
// whole numbers or booleans: all of them exact.
namespace tensord {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The standard's own examples.
TEST(RoundTest, TiesGoToTheEvenNeighbour) {
  EXPECT_THAT(
      MustRunOp({.op = "Round",
                 .inputs = {Tensor(
                     {15}, {0.1f, 0.5f, 0.9f, 1.2f, 1.5f, 1.8f, 2.3f, 2.5f,
                            2.7f, -1.1f, -1.5f, -1.9f, -2.2f, -2.5f, -2.8f})}}),
      Near({0, 0, 1, 1, 2, 2, 2, 2, 3, -1, -2, -2, -2, -2, -3}, 0));
}

TEST(IntegerMapTest, AbsReluAndSignAreExact) {
  for (DType dtype :
       {DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64}) {
    const TestTensor x = TensorOf(dtype, {5}, {-127, -1, 0, 1, 127});
    EXPECT_EQ(MustRunOp({.op = "Abs", .inputs = {x}}),
              TensorOf(dtype, {5}, {127, 1, 0, 1, 127}));
    EXPECT_EQ(MustRunOp({.op = "Neg", .inputs = {x}}),
              TensorOf(dtype, {5}, {127, 1, 0, -1, -127}));
    EXPECT_EQ(MustRunOp({.op = "Relu", .inputs = {x}}),
              TensorOf(dtype, {5}, {0, 0, 0, 1, 127}));
    EXPECT_EQ(MustRunOp({.op = "Sign", .inputs = {x}}),
              TensorOf(dtype, {5}, {-1, -1, 0, 1, 1}));
    EXPECT_EQ(MustRunOp({.op = "BitwiseNot", .inputs = {x}}),
              TensorOf(dtype, {5}, {126, 0, -1, -2, -128}));
  }
  for (DType dtype :
       {DType::kUInt8, DType::kUInt16, DType::kUInt32, DType::kUInt64}) {
    const TestTensor x = TensorOf(dtype, {3}, {0, 1, 255});
    EXPECT_EQ(MustRunOp({.op = "Abs", .inputs = {x}}), x);
    EXPECT_EQ(MustRunOp({.op = "Sign", .inputs = {x}}),
              TensorOf(dtype, {3}, {0, 1, 1}));
  }
}

TEST(IntegerMapTest, BitwiseNotTurnsEveryBit) {
  EXPECT_EQ(MustRunOp({.op = "BitwiseNot",
                       .inputs = {Tensor<uint8_t>({2}, {0, 0xa5})}}),
            Tensor<uint8_t>({2}, {0xff, 0x5a}));
  EXPECT_EQ(MustRunOp({.op = "BitwiseNot",
                       .inputs = {Tensor<uint16_t>({1}, {0x00ff})}}),
            Tensor<uint16_t>({1}, {0xff00}));
  EXPECT_EQ(MustRunOp({.op = "BitwiseNot",
                       .inputs = {Tensor<uint64_t>({1}, {uint64_t{1} << 63})}}),
            Tensor<uint64_t>({1}, {(uint64_t{1} << 63) - 1}));
  EXPECT_EQ(MustRunOp({.op = "BitwiseNot",
                       .inputs = {Tensor<uint32_t>({1}, {0x0f0f0f0f})}}),
            Tensor<uint32_t>({1}, {0xf0f0f0f0}));
  EXPECT_EQ(MustRunOp({.op = "BitwiseNot",
                       .inputs = {Tensor<int64_t>({1}, {INT64_MIN})}}),
            Tensor<int64_t>({1}, {INT64_MAX}));
}

TEST(IntegerMapTest, TheLeastIntegerIsItsOwnNegativeAndModulus) {
  for (const TestTensor& x :
       {Tensor<int64_t>({1}, {INT64_MIN}), Tensor<int32_t>({1}, {INT32_MIN}),
        Tensor<int16_t>({1}, {INT16_MIN}), Tensor<int8_t>({1}, {INT8_MIN})}) {
    EXPECT_EQ(MustRunOp({.op = "Neg", .inputs = {x}}), x);
    EXPECT_EQ(MustRunOp({.op = "Abs", .inputs = {x}}), x);
  }
}

TEST(NotTest, TurnsBooleans) {
  EXPECT_EQ(MustRunOp({.op = "Not",
                       .inputs = {Tensor<bool>({3}, {true, false, true})}}),
            Tensor<bool>({3}, {false, true, false}));
  EXPECT_EQ(MustRunOp({.op = "Not", .inputs = {Tensor<bool>({0}, {})}}),
            Tensor<bool>({0}, {}));
}

TEST(ClassificationTest, FindsNaNsAndInfinitiesInEveryFloatingType) {
  const Shape shape({7});
  const auto is_inf = [](const TestTensor& x, int64_t negative,
                         int64_t positive) {
    return MustRunOp({.op = "IsInf",
                      .inputs = {x},
                      .attributes = {{"detect_negative", negative},
                                     {"detect_positive", positive}},
                      .opset = 20});
  };
  for (DType dtype :
       {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16}) {
    const TestTensor x = TensorOf(
        dtype, shape, {NAN, -NAN, kInfinity, -kInfinity, 0, -0.0, 60000});
    EXPECT_EQ(MustRunOp({.op = "IsNaN", .inputs = {x}}),
              TensorOf(DType::kBool, shape, {1, 1, 0, 0, 0, 0, 0}));
    EXPECT_EQ(MustRunOp({.op = "IsInf", .inputs = {x}}),
              TensorOf(DType::kBool, shape, {0, 0, 1, 1, 0, 0, 0}));
    EXPECT_EQ(is_inf(x, 1, 0),
              TensorOf(DType::kBool, shape, {0, 0, 0, 1, 0, 0, 0}));
    EXPECT_EQ(is_inf(x, 0, 1),
              TensorOf(DType::kBool, shape, {0, 0, 1, 0, 0, 0, 0}));
    EXPECT_EQ(is_inf(x, 0, 0),
              TensorOf(DType::kBool, shape, {0, 0, 0, 0, 0, 0, 0}));
  }
}

// Every code, by the tables of the formats.
TEST(ClassificationTest, FindsNaNsAndInfinitiesOf8Bits) {
  struct Format {
    DType dtype;
    std::vector<int> nans;
    std::vector<int> infinities;  // positive, negative
  };
  const Format formats[] = {
      {DType::kFloat8E4M3FN, {0x7f, 0xff}, {}},
      {DType::kFloat8E4M3FNUZ, {0x80}, {}},
      {DType::kFloat8E5M2, {0x7d, 0x7e, 0x7f, 0xfd, 0xfe, 0xff}, {0x7c, 0xfc}},
      {DType::kFloat8E5M2FNUZ, {0x80}, {}}};
  std::vector<uint8_t> codes(256);
  for (int i = 0; i < 256; ++i) codes[i] = static_cast<uint8_t>(i);
  const auto only = [](const std::vector<int>& found) {
    std::vector<double> flags(256);
    for (int code : found) flags[code] = 1;
    return TensorOf(DType::kBool, {256}, flags);
  };
  for (const Format& format : formats) {
    SCOPED_TRACE(std::string(DTypeName(format.dtype)));
    const TestTensor x =
        TensorOfBytes(format.dtype, {256}, codes.data(), codes.size());
    EXPECT_EQ(MustRunOp({.op = "IsNaN", .inputs = {x}, .opset = 20}),
              only(format.nans));
    EXPECT_EQ(MustRunOp({.op = "IsInf", .inputs = {x}, .opset = 20}),
              only(format.infinities));
    const bool has_infinities = !format.infinities.empty();
    EXPECT_EQ(
        MustRunOp({.op = "IsInf",
                   .inputs = {x},
                   .attributes = {{"detect_negative", int64_t{0}}},
                   .opset = 20}),
        only(has_infinities ? std::vector<int>{0x7c} : std::vector<int>{}));
    EXPECT_EQ(
        MustRunOp({.op = "IsInf",
                   .inputs = {x},
                   .attributes = {{"detect_positive", int64_t{0}}},
                   .opset = 20}),
        only(has_infinities ? std::vector<int>{0xfc} : std::vector<int>{}));
  }
}

}  // namespace
}  // namespace tensord
