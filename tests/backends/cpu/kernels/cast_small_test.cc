#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/backends/cpu/kernels/small_codes.h"
#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

// Casts from and to the floating types of 8 and 4 bits, against a list of all
// numbers of each, and between all small dtypes.
namespace tensord {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

struct SmallFloat {
  DType dtype;
  int bits;
  int mantissa_bits;
  int bias;
};

constexpr SmallFloat kE4M3FN{DType::kFloat8E4M3FN, 8, 3, 7};
constexpr SmallFloat kE4M3FNUZ{DType::kFloat8E4M3FNUZ, 8, 3, 8};
constexpr SmallFloat kE5M2{DType::kFloat8E5M2, 8, 2, 15};
constexpr SmallFloat kE5M2FNUZ{DType::kFloat8E5M2FNUZ, 8, 2, 16};
constexpr SmallFloat kE2M1{DType::kFloat4E2M1, 4, 1, 1};
constexpr SmallFloat kSmallFloats[] = {kE4M3FN, kE4M3FNUZ, kE5M2, kE5M2FNUZ,
                                       kE2M1};

// The numbers by code, as the papers that define the formats list them.
double NumberOf(const SmallFloat& format, int code) {
  const int sign_bit = 1 << (format.bits - 1);
  const int size = code % sign_bit;
  const int exponent = size >> format.mantissa_bits;
  const double fraction =
      std::ldexp(size % (1 << format.mantissa_bits), -format.mantissa_bits);
  double number = exponent == 0
                      ? std::ldexp(fraction, 1 - format.bias)
                      : std::ldexp(1 + fraction, exponent - format.bias);
  switch (format.dtype) {
    case DType::kFloat8E4M3FN:
      if (size == 0x7f) number = NAN;
      break;
    case DType::kFloat8E5M2:
      if (size >= 0x7c) number = size == 0x7c ? kInf : NAN;
      break;
    case DType::kFloat8E4M3FNUZ:
    case DType::kFloat8E5M2FNUZ:
      if (code == 0x80) return NAN;
      break;
    default:
      break;
  }
  return code >= sign_bit ? -number : number;
}

double LargestOf(const SmallFloat& format) {
  double largest = 0;
  for (int code = 0; code < 1 << format.bits; ++code) {
    const double number = NumberOf(format, code);
    if (std::isfinite(number)) largest = std::max(largest, number);
  }
  return largest;
}

std::vector<int> AllCodes(int bits) {
  std::vector<int> codes;
  for (int code = 0; code < 1 << bits; ++code) codes.push_back(code);
  return codes;
}

TestTensor Doubles(const std::vector<double>& values) {
  return Tensor<double>({static_cast<int64_t>(values.size())}, values);
}

TEST(CastSmallTest, EveryCodeIsItsNumberAndComesBack) {
  for (const SmallFloat& format : kSmallFloats) {
    std::vector<double> numbers;
    for (int code : AllCodes(format.bits)) {
      numbers.push_back(NumberOf(format, code));
    }
    const TestTensor x = Codes(format.dtype, AllCodes(format.bits));
    EXPECT_THAT(Cast(x, DType::kFloat64), Near(numbers, 0));
    EXPECT_THAT(Cast(x, DType::kBFloat16), Near(numbers, 0));
    const std::vector<int> back =
        CodesOf(Cast(Doubles(numbers), format.dtype, false));
    for (int code : AllCodes(format.bits)) {
      if (std::isnan(numbers[code])) {
        EXPECT_TRUE(std::isnan(NumberOf(format, back[code])));
      } else {
        EXPECT_EQ(back[code], code) << DTypeName(format.dtype);
      }
    }
  }
}

// Between each two neighbours: the middle goes to the even code, what is off it
// by the least that a double can say to the nearer one.
TEST(CastSmallTest, NumbersRoundToNearestAndTiesToEven) {
  for (const SmallFloat& format : kSmallFloats) {
    std::vector<double> x;
    std::vector<int> expected;
    for (int code = 0; NumberOf(format, code) < LargestOf(format); ++code) {
      const double low = NumberOf(format, code);
      const double high = NumberOf(format, code + 1);
      const double middle = (low + high) / 2;
      x.insert(x.end(), {middle, std::nextafter(middle, low),
                         std::nextafter(middle, high)});
      expected.insert(expected.end(), {code + code % 2, code, code + 1});
    }
    EXPECT_EQ(CodesOf(Cast(Doubles(x), format.dtype)), expected)
        << DTypeName(format.dtype);
    for (double& value : x) value = -value;
    const int sign_bit = 1 << (format.bits - 1);
    const bool has_negative_zero = !std::isnan(NumberOf(format, sign_bit));
    for (int& code : expected) {
      if (code != 0 || has_negative_zero) code += sign_bit;
    }
    EXPECT_EQ(CodesOf(Cast(Doubles(x), format.dtype)), expected)
        << DTypeName(format.dtype);
  }
}

// The two tables of the standard's text on Cast.
TEST(CastSmallTest, WhatIsTooLargeSaturatesOrDoesNot) {
  const auto check = [](const SmallFloat& format, bool saturates,
                        double positive, double negative, double nan) {
    const double largest = LargestOf(format);
    // Halfway to where the next number would be; ties go to even.
    const double unit =
        largest -
        NumberOf(format,
                 CodesOf(Cast(Doubles({largest}), format.dtype))[0] - 1);
    const double over = largest + unit * 0.51;
    const double under = largest + unit * 0.49;
    std::vector<double> y;
    for (int code : CodesOf(Cast(Doubles({kInf, -kInf, over, -over, 1e300,
                                          -1e300, NAN, under, -under, 0}),
                                 format.dtype, saturates))) {
      y.push_back(NumberOf(format, code));
    }
    EXPECT_THAT(Doubles(y),
                Near({positive, negative, positive, negative, positive,
                      negative, nan, largest, -largest, 0},
                     0))
        << DTypeName(format.dtype) << " " << saturates;
  };
  check(kE4M3FN, true, 448, -448, NAN);
  check(kE4M3FNUZ, true, 240, -240, NAN);
  check(kE5M2, true, 57344, -57344, NAN);
  check(kE5M2FNUZ, true, 57344, -57344, NAN);
  check(kE2M1, true, 6, -6, -0.0);
  check(kE4M3FN, false, NAN, NAN, NAN);
  check(kE4M3FNUZ, false, NAN, NAN, NAN);
  check(kE5M2, false, kInf, -kInf, NAN);
  check(kE5M2FNUZ, false, NAN, NAN, NAN);
  check(kE2M1, false, 6, -6, -0.0);  // saturate is not for it
}

std::vector<int> ToPowers(const std::vector<double>& x, bool saturates,
                          const std::string& mode) {
  return CodesOf(Cast(Doubles(x), DType::kFloat8E8M0, saturates, mode));
}

TEST(CastSmallTest, PowersOfTwoRoundAsAsked) {
  std::vector<double> powers;
  for (int code = 0; code < 255; ++code) {
    powers.push_back(std::ldexp(1, code - 127));
  }
  powers.push_back(NAN);
  EXPECT_THAT(Cast(Codes(DType::kFloat8E8M0, AllCodes(8)), DType::kFloat64),
              Near(powers, 0));
  for (const char* mode : {"up", "down", "nearest"}) {
    EXPECT_EQ(ToPowers(powers, true, mode), AllCodes(8)) << mode;
    EXPECT_EQ(ToPowers(powers, false, mode), AllCodes(8)) << mode;
  }
  const std::vector<double> x = {1 + 0x1p-50, 1.5 - 0x1p-50, 1.5, 1.75};
  EXPECT_EQ(ToPowers(x, true, "up"), std::vector<int>({128, 128, 128, 128}));
  EXPECT_EQ(ToPowers(x, true, "down"), std::vector<int>({127, 127, 127, 127}));
  EXPECT_EQ(ToPowers(x, true, "nearest"),
            std::vector<int>({127, 127, 128, 128}));
}

TEST(CastSmallTest, PowersOfTwoOutOfRange) {
  const std::vector<double> x = {0,     NAN,        kInf, 0x1.8p127, 0x1p128,
                                 1e-60, 0x1.8p-128, -1.0, -kInf};
  EXPECT_EQ(ToPowers(x, true, "up"),
            std::vector<int>({0, 255, 254, 254, 254, 0, 0, 255, 255}));
  EXPECT_EQ(ToPowers(x, false, "nearest"), std::vector<int>(9, 255));
}

constexpr DType kOthers[] = {DType::kFloat32,  DType::kFloat64, DType::kFloat16,
                             DType::kBFloat16, DType::kInt8,    DType::kInt16,
                             DType::kInt32,    DType::kInt64,   DType::kUInt8,
                             DType::kUInt16,   DType::kUInt32,  DType::kUInt64,
                             DType::kBool};

// 1 and, where there is one, 0, from and to each pair of dtypes.
TEST(CastSmallTest, EveryPairKeepsOneAndZero) {
  std::vector<TestTensor> tensors;
  for (const SmallFloat& format : kSmallFloats) {
    tensors.push_back(
        Codes(format.dtype, {format.bias << format.mantissa_bits, 0}));
  }
  for (DType dtype : kSmallIntegers) tensors.push_back(Codes(dtype, {1, 0}));
  for (DType dtype : kOthers) tensors.push_back(TensorOf(dtype, {2}, {1, 0}));
  for (const TestTensor& x : tensors) {
    for (const TestTensor& y : tensors) {
      EXPECT_EQ(Cast(x, y.dtype), y)
          << DTypeName(x.dtype) << " to " << DTypeName(y.dtype);
      EXPECT_EQ(MustRunOp({.op = "CastLike", .inputs = {x, y}}), y);
    }
    const TestTensor powers = Cast(x, DType::kFloat8E8M0);
    EXPECT_EQ(CodesOf(powers), std::vector<int>({127, 0}));
    if (x.dtype == DType::kFloat16) {
      EXPECT_EQ(Cast(powers, x.dtype), x);
    }
  }
}

// A double that a float would take for the middle of two neighbours.
TEST(CastSmallTest, WideNumbersRoundOnce) {
  EXPECT_EQ(CodesOf(Cast(Doubles({1 + 0x1p-4, 1 + 0x1p-4 + 0x1p-50}),
                         DType::kFloat8E4M3FN)),
            std::vector<int>({0x38, 0x39}));
  const int64_t middle = (int64_t{1} << 62) + (int64_t{1} << 61);
  EXPECT_EQ(ToPowers({0x1p62}, true, "up"), std::vector<int>({189}));
  EXPECT_EQ(CodesOf(Cast(Tensor<int64_t>({3}, {middle - 1, middle, middle + 1}),
                         DType::kFloat8E8M0, true, "nearest")),
            std::vector<int>({189, 190, 190}));
}

}  // namespace
}  // namespace tensord
