#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

// Cast, CastLike and BitCast between the dtypes that C++ can compute with.
namespace tensord {
namespace {

using ::testing::HasSubstr;

constexpr DType kDTypes[] = {DType::kFloat32,  DType::kFloat64, DType::kFloat16,
                             DType::kBFloat16, DType::kInt8,    DType::kInt16,
                             DType::kInt32,    DType::kInt64,   DType::kUInt8,
                             DType::kUInt16,   DType::kUInt32,  DType::kUInt64,
                             DType::kBool};

TestTensor Cast(const TestTensor& x, DType to) {
  return MustRunOp({.op = "Cast",
                    .inputs = {x},
                    .attributes = {{"to", static_cast<int64_t>(to)}}});
}

TEST(CastTest, EveryPairKeepsSmallNumbers) {
  for (DType from : kDTypes) {
    for (DType to : kDTypes) {
      const TestTensor x = TensorOf(from, {3}, {0, 1, 1});
      const TestTensor y = TensorOf(to, {3}, {0, 1, 1});
      EXPECT_EQ(Cast(x, to), y) << DTypeName(from) << " to " << DTypeName(to);
      EXPECT_EQ(MustRunOp({.op = "CastLike",
                           .inputs = {x, TensorOf(to, {2, 1}, {5, 6})}}),
                y)
          << DTypeName(from) << " to " << DTypeName(to);
    }
  }
}

template <typename To, typename From>
TestTensor CastTo(const std::vector<From>& values) {
  return Cast(Tensor<From>({static_cast<int64_t>(values.size())}, values),
              kDTypeOf<To>);
}

TEST(CastTest, FloatsTruncateAndStopAtTheBounds) {
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ((CastTo<int32_t, float>({-1.9f, 1.9f, 3e9f, -3e9f, inf, NAN})),
            Tensor<int32_t>({6}, {-1, 1, INT32_MAX, INT32_MIN, INT32_MAX, 0}));
  EXPECT_EQ((CastTo<uint8_t, float>({-1, 255.5f, 256, -inf})),
            Tensor<uint8_t>({4}, {0, 255, 255, 0}));
  EXPECT_EQ((CastTo<int64_t, double>({9.3e18, -9.3e18, 9.2e18})),
            Tensor<int64_t>({3}, {INT64_MAX, INT64_MIN, 9200000000000000000}));
  EXPECT_EQ((CastTo<uint64_t, float>({1e20f, -1e-3f})),
            Tensor<uint64_t>({2}, {UINT64_MAX, 0}));
  EXPECT_EQ(
      Cast(TensorOf(DType::kFloat16, {4}, {-1.9, 300, inf, NAN}), DType::kInt8),
      Tensor<int8_t>({4}, {-1, 127, 127, 0}));
}

TEST(CastTest, IntegersKeepTheirLowBitsAndBoolIsNotZero) {
  EXPECT_EQ((CastTo<int8_t, int32_t>({300, -129})),
            Tensor<int8_t>({2}, {44, 127}));
  EXPECT_EQ((CastTo<bool, float>({0, -0.0f, 0.25f, NAN})),
            Tensor<bool>({4}, {false, false, true, true}));
  EXPECT_EQ(Cast(TensorOf(DType::kBFloat16, {4}, {0, -0.0, 1e-40, NAN}),
                 DType::kBool),
            Tensor<bool>({4}, {false, false, true, true}));
}

// The references round a double once.
TEST(CastTest, SixteenBitsRoundOnceFromEveryDType) {
  // Off the middle between two neighbours by less than a float shows.
  const std::vector<double> values = {1 + 0x1p-11 + 0x1p-40,
                                      1 + 0x1p-8,
                                      1 + 0x1p-8 + 0x1p-50,
                                      65519.999999,
                                      65520,
                                      1e-8,
                                      -2.98e-8,
                                      1e39};
  const Shape shape({static_cast<int64_t>(values.size())});
  for (DType to : {DType::kFloat16, DType::kBFloat16}) {
    EXPECT_EQ(Cast(Tensor<double>(shape, values), to),
              TensorOf(to, shape, values));
    EXPECT_EQ(Cast(Tensor<int32_t>({3}, {65519, 65520, 16777217}), to),
              TensorOf(to, {3}, {65519, 65520, 16777217}));
  }
  const int64_t middle = (int64_t{1} << 62) + (int64_t{1} << 54);
  EXPECT_EQ(Cast(Tensor<int64_t>({2}, {middle, middle + 1}), DType::kBFloat16),
            TensorOf(DType::kBFloat16, {2}, {0x1p62, 0x1.02p62}));
  EXPECT_EQ(Cast(TensorOf(DType::kFloat16, {3}, {65504, 0x1p-24, -1.5}),
                 DType::kBFloat16),
            TensorOf(DType::kBFloat16, {3}, {65504, 0x1p-24, -1.5}));
  EXPECT_EQ(Cast(TensorOf(DType::kBFloat16, {3}, {1e38, 1e-30, 3.140625}),
                 DType::kFloat16),
            TensorOf(DType::kFloat16, {3}, {1e38, 1e-30, 3.140625}));
}

TEST(CastTest, EmptyAndScalarAndManyRangesOfWork) {
  for (const Shape& shape : {Shape({}), Shape({0, 3}), Shape({3, 16385})}) {
    const TestTensor x = Pattern(DType::kFloat16, shape);
    std::vector<double> values;
    for (int64_t i = 0; i < shape.element_count(); ++i) {
      values.push_back(x.At(i));
    }
    EXPECT_EQ(Cast(x, DType::kFloat32),
              TensorOf(DType::kFloat32, shape, values));
  }
}

TestTensor BitCast(const TestTensor& x, DType to) {
  return MustRunOp({.op = "BitCast",
                    .inputs = {x},
                    .attributes = {{"to", static_cast<int64_t>(to)}},
                    .opset = 26});
}

TEST(BitCastTest, BitsStayAndTheDTypeDoesNot) {
  EXPECT_EQ(BitCast(Tensor({2, 1}, {1.0f, -0.0f}), DType::kUInt32),
            Tensor<uint32_t>({2, 1}, {0x3f800000, 0x80000000}));
  EXPECT_EQ(BitCast(Tensor<int64_t>({1}, {0x7ff8000000000001}), DType::kFloat64)
                .bytes,
            Tensor<int64_t>({1}, {0x7ff8000000000001}).bytes);
  EXPECT_EQ(BitCast(Tensor<bool>({2}, {true, false}), DType::kUInt8),
            Tensor<uint8_t>({2}, {1, 0}));
  EXPECT_EQ(BitCast(Tensor<uint16_t>({}, {0x3c00}), DType::kFloat16),
            TensorOf(DType::kFloat16, {}, {1}));
  EXPECT_EQ(BitCast(Tensor<uint8_t>({0}, {}), DType::kInt8),
            Tensor<int8_t>({0}, {}));
  const uint8_t packed[] = {0x21, 0x03};
  EXPECT_EQ(
      BitCast(TensorOfBytes(DType::kUInt4, {3}, packed, 2), DType::kInt4).bytes,
      TensorOfBytes(DType::kInt4, {3}, packed, 2).bytes);
}

TEST(BitCastTest, ABoolIsZeroOrOne) {
  EXPECT_EQ(BitCast(Tensor<uint8_t>({2}, {1, 0}), DType::kBool),
            Tensor<bool>({2}, {true, false}));
  EXPECT_THAT(RunOp({.op = "BitCast",
                     .inputs = {Tensor<uint8_t>({3}, {1, 0, 2})},
                     .attributes = {{"to", static_cast<int64_t>(DType::kBool)}},
                     .opset = 26}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("element 2 is 2")));
}

}  // namespace
}  // namespace tensord
