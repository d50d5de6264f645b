#include <gtest/gtest.h>

#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/backends/cpu/kernels/small_codes.h"
#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

namespace tensord {
namespace {

constexpr DType kWide[] = {DType::kFloat32, DType::kFloat16, DType::kBFloat16};
constexpr DType kNarrow[] = {DType::kInt8, DType::kUInt8, DType::kInt16,
                             DType::kUInt16};

struct Limits {
  double low, high;
};
Limits LimitsOf(DType dtype) {
  switch (dtype) {
    case DType::kInt8:
      return {-128, 127};
    case DType::kUInt8:
      return {0, 255};
    case DType::kInt16:
      return {-32768, 32767};
    default:
      return {0, 65535};
  }
}

double Clamp(double x, Limits limits) {
  return std::min(std::max(x, limits.low), limits.high);
}

// Which element of the scale belongs to element i of a tensor of this shape.
int64_t ScaleIndex(const Shape& shape, const Shape& scale, int64_t i, int axis,
                   int64_t block_size) {
  if (scale.element_count() == 1) return 0;
  int64_t index = 0, stride = 1;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    const int64_t at = i % shape[d];
    i /= shape[d];
    if (block_size > 0) {
      index += (d == axis ? at / block_size : at) * stride;
      stride *= scale[d];
    } else if (d == axis) {
      index = at;
    }
  }
  return index;
}

// One way to share scales.
struct Sharing {
  Shape x;
  Shape scale;
  int64_t axis = 1;
  int64_t block_size = 0;
};
std::vector<Sharing> Sharings() {
  return {
      {.x = Shape({}), .scale = Shape({})},
      {.x = Shape({17}), .scale = Shape({1})},
      {.x = Shape({3, 5000}), .scale = Shape({})},
      {.x = Shape({2, 3, 4, 5}), .scale = Shape({3})},
      {.x = Shape({2, 3, 4, 5}), .scale = Shape({2}), .axis = -4},
      {.x = Shape({2, 3, 4, 5}), .scale = Shape({5}), .axis = 3},
      {.x = Shape({7}), .scale = Shape({7}), .axis = 0},
      {.x = Shape({0, 3}), .scale = Shape({3})},
      {.x = Shape({3, 0}), .scale = Shape({3}), .axis = 0},
      {.x = Shape({3, 7, 4}), .scale = Shape({3, 3, 4}), .block_size = 3},
      {.x = Shape({3, 7}), .scale = Shape({3, 2}), .block_size = 4},
      {.x = Shape({3, 7}), .scale = Shape({1, 7}), .axis = -2, .block_size = 9},
      {.x = Shape({2, 0}), .scale = Shape({2, 0}), .block_size = 2},
  };
}

// Positive, and different from element to element.
TestTensor Scales(DType dtype, const Shape& shape) {
  std::vector<double> values;
  for (int64_t i = 0; i < shape.element_count(); ++i) {
    values.push_back(0.125 * static_cast<double>(1 + i % 5));
  }
  return TensorOf(dtype, shape, values);
}

TestTensor ZeroPoints(DType dtype, const Shape& shape) {
  std::vector<double> values;
  for (int64_t i = 0; i < shape.element_count(); ++i) {
    values.push_back(static_cast<double>(3 + 2 * (i % 4)));
  }
  return TensorOf(dtype, shape, values);
}

TEST(QuantizeLinearTest, EveryGranularityAndDType) {
  for (const Sharing& s : Sharings()) {
    for (DType from : kWide) {
      for (DType to : kNarrow) {
        SCOPED_TRACE(absl::StrCat(DTypeName(from), " ", s.x.ToString(), " to ",
                                  DTypeName(to), " by ", s.scale.ToString()));
        const int axis =
            static_cast<int>(s.axis < 0 ? s.axis + s.x.rank() : s.axis);
        const TestTensor x = Pattern(from, s.x);
        const TestTensor scale = Scales(from, s.scale);
        const TestTensor zero = ZeroPoints(to, s.scale);
        std::vector<double> expected;
        for (int64_t i = 0; i < s.x.element_count(); ++i) {
          const int64_t at = ScaleIndex(s.x, s.scale, i, axis, s.block_size);
          // Patterns and scales have few bits, but their quotients may not.
          double quotient = x.At(i) / scale.At(at);
          quotient = TensorOf(from, {}, {quotient}).At(0);
          expected.push_back(
              Clamp(std::nearbyint(quotient) + zero.At(at), LimitsOf(to)));
        }
        EXPECT_THAT(MustRunOp({.op = "QuantizeLinear",
                               .inputs = {x, scale, zero},
                               .attributes = {{"axis", s.axis},
                                              {"block_size", s.block_size}},
                               .opset = 21}),
                    IsNear(TensorOf(to, s.x, expected), Tolerance{}));
      }
    }
  }
}

TEST(QuantizeLinearTest, HalvesGoToTheEvenNeighbourBeforeTheZeroPoint) {
  const TestTensor x =
      Tensor({8}, {-2.5f, -1.5f, -0.5f, 0.5f, 1.5f, 2.5f, 3.5f, 4.5f});
  EXPECT_THAT(
      MustRunOp({.op = "QuantizeLinear",
                 .inputs = {x, Tensor({}, {1}), Tensor<int8_t>({}, {1})}}),
      Near({-1, -1, 1, 1, 3, 3, 5, 5}, 0));
  // Division may give a half that the elements do not have.
  EXPECT_THAT(MustRunOp({.op = "QuantizeLinear",
                         .inputs = {Tensor({4}, {1, 3, 5, 7}), Tensor({}, {2}),
                                    Tensor<int16_t>({}, {0})}}),
              Near({0, 2, 2, 4}, 0));
}

TEST(QuantizeLinearTest, WhatDoesNotFitIsSaturated) {
  const float infinity = std::numeric_limits<float>::infinity();
  const TestTensor x =
      Tensor({7}, {-infinity, -3e38f, -1000, 1000, 3e38f, infinity, NAN});
  EXPECT_THAT(
      MustRunOp({.op = "QuantizeLinear",
                 .inputs = {x, Tensor({}, {1}), Tensor<uint8_t>({}, {7})}}),
      Near({0, 0, 0, 255, 255, 255, 7}, 0));
  EXPECT_THAT(
      MustRunOp({.op = "QuantizeLinear",
                 .inputs = {x, Tensor({}, {1}), Tensor<int8_t>({}, {-7})}}),
      Near({-128, -128, -128, 127, 127, 127, -7}, 0));
  // 0 / 0, and division by 0.
  EXPECT_THAT(MustRunOp({.op = "QuantizeLinear",
                         .inputs = {Tensor({3}, {-1, 0, 1}), Tensor({}, {0}),
                                    Tensor<uint16_t>({}, {9})}}),
              Near({0, 9, 65535}, 0));
}

TEST(QuantizeLinearTest, WithoutAZeroPointItIsUInt8AndZero) {
  const TestTensor y =
      MustRunOp({.op = "QuantizeLinear",
                 .inputs = {Tensor({3}, {-4, 6, 1000}), Tensor({}, {2})}});
  EXPECT_EQ(y.dtype, DType::kUInt8);
  EXPECT_THAT(y, Near({0, 3, 255}, 0));
  const TestTensor wide = MustRunOp(
      {.op = "QuantizeLinear",
       .inputs = {Tensor({3}, {-4, 6, 1000}), Tensor({}, {2})},
       .attributes = {{"output_dtype", static_cast<int64_t>(DType::kInt16)}},
       .opset = 21});
  EXPECT_EQ(wide.dtype, DType::kInt16);
  EXPECT_THAT(wide, Near({-2, 3, 500}, 0));
}

TEST(QuantizeLinearTest, TheQuotientHasTheScalesPrecision) {
  // 2049 / 2 is 1024.5: rounded to even 1024; in float16, 2049 is 2048.
  const TestTensor x = Tensor<int32_t>({2}, {2049, 2051});
  const auto run = [&](DType scale, int64_t precision) {
    OpCase test{
        .op = "QuantizeLinear",
        .inputs = {x, TensorOf(scale, {}, {0.5}), Tensor<int16_t>({}, {0})},
        .opset = 23};
    if (precision != 0) test.attributes = {{"precision", precision}};
    return MustRunOp(test);
  };
  EXPECT_THAT(run(DType::kFloat32, 0), Near({4098, 4102}, 0));
  EXPECT_THAT(run(DType::kFloat16, 0), Near({4096, 4104}, 0));
  EXPECT_THAT(run(DType::kFloat16, static_cast<int64_t>(DType::kFloat32)),
              Near({4098, 4102}, 0));
  EXPECT_THAT(run(DType::kFloat32, static_cast<int64_t>(DType::kFloat16)),
              Near({4096, 4104}, 0));
  EXPECT_THAT(run(DType::kFloat32, static_cast<int64_t>(DType::kBFloat16)),
              Near({4096, 4096}, 0));
}

TEST(DequantizeLinearTest, EveryGranularityAndDType) {
  for (const Sharing& s : Sharings()) {
    for (DType from : {DType::kInt8, DType::kUInt8, DType::kInt16,
                       DType::kUInt16, DType::kInt32}) {
      for (DType to : kWide) {
        SCOPED_TRACE(absl::StrCat(DTypeName(from), " ", s.x.ToString(), " to ",
                                  DTypeName(to), " by ", s.scale.ToString()));
        const int axis =
            static_cast<int>(s.axis < 0 ? s.axis + s.x.rank() : s.axis);
        const TestTensor x = Pattern(from, s.x);
        const TestTensor scale = Scales(to, s.scale);
        const TestTensor zero = ZeroPoints(from, s.scale);
        std::vector<double> expected;
        for (int64_t i = 0; i < s.x.element_count(); ++i) {
          const int64_t at = ScaleIndex(s.x, s.scale, i, axis, s.block_size);
          expected.push_back((x.At(i) - zero.At(at)) * scale.At(at));
        }
        EXPECT_THAT(MustRunOp({.op = "DequantizeLinear",
                               .inputs = {x, scale, zero},
                               .attributes = {{"axis", s.axis},
                                              {"block_size", s.block_size}},
                               .opset = 21}),
                    IsNear(TensorOf(to, s.x, expected), Tolerance{}));
      }
    }
  }
}

TEST(DequantizeLinearTest, DifferencesDoNotWrapAround) {
  const int32_t least = std::numeric_limits<int32_t>::min();
  const int32_t most = std::numeric_limits<int32_t>::max();
  EXPECT_THAT(
      MustRunOp({.op = "DequantizeLinear",
                 .inputs = {Tensor<int32_t>({2}, {least, most}),
                            Tensor({}, {0.5f}), Tensor<int32_t>({}, {1})}}),
      Near({-1073741824.0, 1073741824.0}, 0));
  EXPECT_THAT(
      MustRunOp({.op = "DequantizeLinear",
                 .inputs = {Tensor<int8_t>({2}, {-128, 127}), Tensor({}, {2}),
                            Tensor<int8_t>({}, {127})}}),
      Near({-510, 0}, 0));
  EXPECT_THAT(MustRunOp({.op = "DequantizeLinear",
                         .inputs = {Tensor<uint16_t>({2}, {0, 65535}),
                                    Tensor({}, {1})}}),
              Near({0, 65535}, 0));
}

TEST(DequantizeLinearTest, TheOutputsDTypeMayBeNamed) {
  const TestTensor y = MustRunOp(
      {.op = "DequantizeLinear",
       .inputs = {Tensor<uint16_t>({2}, {3, 40000}), Tensor({}, {2})},
       .attributes = {{"output_dtype", static_cast<int64_t>(DType::kFloat16)}},
       .opset = 23});
  EXPECT_EQ(y.dtype, DType::kFloat16);
  EXPECT_THAT(y, Near({6, INFINITY}, 0));
}

// The dtypes of 8 bits and less that C++ lacks.
constexpr DType kSmallFloats[] = {DType::kFloat8E4M3FN, DType::kFloat8E4M3FNUZ,
                                  DType::kFloat8E5M2, DType::kFloat8E5M2FNUZ,
                                  DType::kFloat4E2M1};

TestTensor Shaped(TestTensor tensor, const Shape& shape) {
  tensor.shape = shape;
  return tensor;
}

// 1100 elements in rows of 11, so that rows end within bytes and within blocks
// of work.
const Shape kOddRows({100, 11});

TEST(QuantizeSmallTest, IntegersArePackedAndSaturated) {
  for (DType to : kSmallIntegers) {
    const bool is_signed = to == DType::kInt4 || to == DType::kInt2;
    const int levels = 1 << BitWidth(to);
    const Limits limits = {is_signed ? -levels / 2.0 : 0.0,
                           (is_signed ? levels / 2 : levels) - 1.0};
    for (DType from : kWide) {
      const TestTensor x = Pattern(from, kOddRows);
      const TestTensor scale = Scales(from, {11});
      const TestTensor zero =
          Codes(to, {0, 1, levels - 1, 0, 1, 0, 1, levels - 1, 1, 0, 1});
      const TestTensor zero_numbers = Cast(zero, DType::kFloat32);
      const TestTensor y = MustRunOp(
          {.op = "QuantizeLinear", .inputs = {x, scale, zero}, .opset = 25});
      ASSERT_EQ(y.dtype, to);
      std::vector<int> expected;
      for (int64_t i = 0; i < 1100; ++i) {
        const double quotient =
            TensorOf(from, {}, {x.At(i) / scale.At(i % 11)}).At(0);
        const auto number = static_cast<int>(
            Clamp(std::nearbyint(quotient) + zero_numbers.At(i % 11), limits));
        expected.push_back(number & (levels - 1));
      }
      EXPECT_EQ(CodesOf(y), expected)
          << DTypeName(from) << " to " << DTypeName(to);
    }
  }
}

TEST(QuantizeSmallTest, FloatsRoundAsCastDoes) {
  for (DType to : kSmallFloats) {
    for (bool saturates : {false, true}) {
      std::vector<float> values;
      for (int i = 0; i < 1100; ++i) {
        values.push_back(static_cast<float>(i - 550) * 0.37f);
      }
      values[7] = 1e30f;
      values[8] = -INFINITY;
      values[9] = NAN;
      for (float scale : {0.001f, 0.5f, 3.0f}) {
        std::vector<float> quotients;
        for (float value : values) quotients.push_back(value / scale);
        const TestTensor expected =
            Shaped(Cast(Tensor({1100}, quotients), to, saturates), kOddRows);
        EXPECT_EQ(
            MustRunOp(
                {.op = "QuantizeLinear",
                 .inputs = {Tensor(kOddRows, values), Tensor({}, {scale})},
                 .attributes = {{"output_dtype", static_cast<int64_t>(to)},
                                {"saturate", int64_t{saturates}}},
                 .opset = 25}),
            expected)
            << DTypeName(to) << " by " << scale;
      }
    }
  }
}

TEST(QuantizeSmallTest, AFloatsZeroPointIsAdded) {
  const TestTensor x = Tensor({4}, {1, 2, 3, -1});
  const TestTensor zero = Cast(Tensor({1}, {2}), DType::kFloat8E4M3FN);
  const TestTensor y = MustRunOp({.op = "QuantizeLinear",
                                  .inputs = {x, Tensor({1}, {0.5f}), zero},
                                  .opset = 19});
  EXPECT_THAT(Cast(y, DType::kFloat32), Near({4, 6, 8, 0}, 0));
  EXPECT_THAT(MustRunOp({.op = "DequantizeLinear",
                         .inputs = {y, Tensor({1}, {0.5f}), zero},
                         .opset = 19}),
              Near({1, 2, 3, -1}, 0));
}

TEST(DequantizeSmallTest, EveryCodeOfEveryDType) {
  std::vector<DType> dtypes(std::begin(kSmallFloats), std::end(kSmallFloats));
  dtypes.insert(dtypes.end(), std::begin(kSmallIntegers),
                std::end(kSmallIntegers));
  for (DType from : dtypes) {
    std::vector<int> codes;
    for (int i = 0; i < 1100; ++i) codes.push_back(i % (1 << BitWidth(from)));
    const TestTensor x = Shaped(Codes(from, codes), kOddRows);
    const TestTensor numbers = Cast(x, DType::kFloat32);
    for (DType to : kWide) {
      // Half a block is left at the end of each column.
      const TestTensor scale = Scales(to, {7, 11});
      std::vector<double> expected;
      for (int64_t i = 0; i < 1100; ++i) {
        const double factor = scale.At(i / 11 / 16 * 11 + i % 11);
        expected.push_back(static_cast<float>(numbers.At(i)) *
                           static_cast<float>(factor));
      }
      EXPECT_THAT(MustRunOp({.op = "DequantizeLinear",
                             .inputs = {x, scale},
                             .attributes = {{"axis", int64_t{0}},
                                            {"block_size", int64_t{16}}},
                             .opset = 25}),
                  IsNear(TensorOf(to, kOddRows, expected), Tolerance{}))
          << DTypeName(from) << " to " << DTypeName(to);
    }
  }
}

TEST(DequantizeSmallTest, ZeroPointsAreTakenOff) {
  EXPECT_THAT(
      MustRunOp({.op = "DequantizeLinear",
                 .inputs = {Codes(DType::kInt4, {8, 7, 15, 0}), Tensor({}, {2}),
                            Shaped(Codes(DType::kInt4, {9}), {})},
                 .opset = 21}),
      Near({-2, 28, 12, 14}, 0));
}

TEST(QuantizeSmallTest, NothingAtAll) {
  EXPECT_EQ(MustRunOp({.op = "QuantizeLinear",
                       .inputs = {Tensor({0, 3}, std::vector<float>{}),
                                  Tensor({3}, {1, 2, 3}),
                                  Codes(DType::kInt4, {0, 0, 0})},
                       .opset = 21})
                .shape,
            Shape({0, 3}));
}

struct Dynamic {
  TestTensor y;
  double scale;
  double zero_point;
};
Dynamic RunDynamic(const TestTensor& x) {
  const absl::StatusOr<std::vector<TestTensor>> outputs =
      RunOp({.op = "DynamicQuantizeLinear", .inputs = {x}, .output_count = 3});
  if (!outputs.ok()) {
    ADD_FAILURE() << outputs.status();
    return {};
  }
  return {(*outputs)[0], (*outputs)[1].At(0), (*outputs)[2].At(0)};
}

TEST(DynamicQuantizeLinearTest, TheRangeIncludesZero) {
  // From the standard's examples.
  Dynamic run = RunDynamic(Tensor({6}, {0, 2, -3, -2.5f, 1.34f, 0.5f}));
  EXPECT_THAT(run.y, Near({153, 255, 0, 26, 221, 179}, 0));
  EXPECT_NEAR(run.scale, 0.0196078438, 1e-9);
  EXPECT_EQ(run.zero_point, 153);
  run = RunDynamic(Tensor({6}, {-1, -2.1f, -1.3f, -2.5f, -3.34f, -4}));
  EXPECT_THAT(run.y, Near({191, 121, 172, 96, 42, 0}, 0));
  EXPECT_EQ(run.zero_point, 255);
  run = RunDynamic(Tensor(
      {3, 4}, {1, 2.1f, 1.3f, 2.5f, 3.34f, 4, 1.5f, 2.6f, 3.9f, 4, 3, 2.345f}));
  EXPECT_THAT(
      run.y,
      Near({64, 134, 83, 159, 213, 255, 96, 166, 249, 255, 191, 149}, 0));
  EXPECT_EQ(run.zero_point, 0);
}

TEST(DynamicQuantizeLinearTest, FindsTheRangeOfManyPieces) {
  for (int64_t count : {1, 16384, 16385, 2000003}) {
    std::vector<float> values(count, 0.5f);
    values.back() = 3;
    values[count / 2] = count == 1 ? 3 : -1;
    const Dynamic run = RunDynamic(Tensor({count}, values));
    const float range = count == 1 ? 3.0f : 4.0f;
    EXPECT_EQ(run.scale, range / 255) << count;
    EXPECT_EQ(run.zero_point, count == 1 ? 0 : 64) << count;
    EXPECT_EQ(run.y.At(count - 1), 255) << count;
  }
}

TEST(DynamicQuantizeLinearTest, DegenerateRanges) {
  Dynamic run = RunDynamic(Tensor({2}, {0, 0}));
  EXPECT_THAT(run.y, Near({0, 0}, 0));
  EXPECT_EQ(run.scale, 1);
  run = RunDynamic(Tensor({0}, std::vector<float>{}));
  EXPECT_EQ(run.scale, 1);
  EXPECT_EQ(run.zero_point, 0);
  // NaNs are no part of the range.
  run = RunDynamic(Tensor({3}, {NAN, -1, 254}));
  EXPECT_THAT(run.y, Near({1, 0, 255}, 0));
  // Nothing is left of an infinite range, and of one that divides to 0.
  run = RunDynamic(Tensor({2}, {1, INFINITY}));
  EXPECT_THAT(run.y, Near({0, 0}, 0));
  run = RunDynamic(Tensor({2}, {1e-45f, 0}));
  EXPECT_EQ(run.zero_point, 0);
}

TEST(DynamicQuantizeLinearTest, OutputsThatNobodyAskedForAreLeftOut) {
  const absl::StatusOr<std::vector<TestTensor>> outputs =
      RunOp({.op = "DynamicQuantizeLinear",
             .inputs = {Tensor({2}, {0, 255})},
             .output_count = 2,
             .absent_outputs = {0}});
  ASSERT_THAT(outputs, IsOk());
  EXPECT_THAT((*outputs)[1], Near({1}, 0));
}

}  // namespace
}  // namespace tensord
