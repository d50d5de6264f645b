#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tests/backends/cpu/kernels/broadcasting.h"
#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

// Add, Sub, Mul, Div, Pow, PRelu: element by element over two inputs.
namespace tensord {
namespace {

using ::testing::HasSubstr;

constexpr DType kFloats[] = {DType::kFloat32, DType::kFloat64, DType::kFloat16,
                             DType::kBFloat16};
constexpr DType kIntegers[] = {DType::kInt8,   DType::kInt16, DType::kInt32,
                               DType::kInt64,  DType::kUInt8, DType::kUInt16,
                               DType::kUInt32, DType::kUInt64};

struct Binary {
  std::string op;
  std::function<double(double, double)> f;
};

const Binary kBinaries[] = {{"Add", [](double a, double b) { return a + b; }},
                            {"Sub", [](double a, double b) { return a - b; }},
                            {"Mul", [](double a, double b) { return a * b; }},
                            {"Div", [](double a, double b) { return a / b; }}};

TestTensor WithoutZeros(TestTensor x) {
  std::vector<double> values;
  for (int64_t i = 0; i < x.shape.element_count(); ++i) {
    values.push_back(x.At(i) == 0 ? 1 : x.At(i));
  }
  return TensorOf(x.dtype, x.shape, values);
}

TEST(BinaryTest, BroadcastsAsTheDefinitionSays) {
  for (const Binary& binary : kBinaries) {
    for (const Broadcast& c : kBroadcasts) {
      const TestTensor a = Pattern(DType::kFloat32, c.a, 1);
      const TestTensor b = WithoutZeros(Pattern(DType::kFloat32, c.b, 2));
      EXPECT_THAT(MustRunOp({.op = binary.op, .inputs = {a, b}}),
                  IsNear(TensorOf(DType::kFloat32, c.y,
                                  MapBroadcast(a, b, c.y, binary.f)),
                         ToleranceFor(DType::kFloat32, OpFamily::kArithmetic)))
          << binary.op << " " << c.a.ToString() << " " << c.b.ToString();
    }
  }
}

// 16 bits round once: the result is the one nearest to the exact one. Of two
// such numbers the sum and the product are exact in double.
TEST(BinaryTest, SixteenBitsRoundOnce) {
  for (const Binary& binary : kBinaries) {
    for (DType dtype : {DType::kFloat16, DType::kBFloat16}) {
      const TestTensor a = Pattern(dtype, {4, 60}, 1);
      const TestTensor b = WithoutZeros(Pattern(dtype, {60}, 2));
      EXPECT_EQ(MustRunOp({.op = binary.op, .inputs = {a, b}}),
                TensorOf(dtype, {4, 60}, MapBroadcast(a, b, {4, 60}, binary.f)))
          << binary.op << " " << DTypeName(dtype);
    }
  }
}

TEST(BinaryTest, SixteenBitsOverflowToInfinity) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_THAT(
      MustRunOp({.op = "Add",
                 .inputs = {TensorOf(DType::kFloat16, {2}, {65504, 1}),
                            TensorOf(DType::kFloat16, {2}, {65504, NAN})}}),
      Near({inf, NAN}, 0));
}

TEST(BinaryTest, EveryDTypeAddsSubtractsMultipliesAndDivides) {
  const std::vector<double> as = {100, 7, 50}, bs = {3, 7, 2};
  for (const Binary& binary : kBinaries) {
    std::vector<double> expected;
    for (int i = 0; i < 3; ++i) expected.push_back(binary.f(as[i], bs[i]));
    for (DType dtype : kIntegers) {
      if (binary.op == "Mul" && BitWidth(dtype) == 8) continue;  // 300 wraps
      EXPECT_EQ(MustRunOp({.op = binary.op,
                           .inputs = {TensorOf(dtype, {3}, as),
                                      TensorOf(dtype, {3}, bs)}}),
                TensorOf(dtype, {3}, expected))  // TensorOf truncates
          << binary.op << " " << DTypeName(dtype);
    }
  }
}

TEST(BinaryTest, IntegersWrap) {
  EXPECT_EQ(MustRunOp({.op = "Add",
                       .inputs = {Tensor<int64_t>({1}, {INT64_MAX}),
                                  Tensor<int64_t>({1}, {1})}}),
            Tensor<int64_t>({1}, {INT64_MIN}));
  EXPECT_EQ(MustRunOp({.op = "Mul",
                       .inputs = {Tensor<uint16_t>({1}, {65535}),
                                  Tensor<uint16_t>({1}, {65535})}}),
            Tensor<uint16_t>({1}, {1}));
  EXPECT_EQ(MustRunOp({.op = "Sub",
                       .inputs = {Tensor<uint8_t>({1}, {0}),
                                  Tensor<uint8_t>({1}, {1})}}),
            Tensor<uint8_t>({1}, {255}));
}

TEST(BinaryTest, IntegerDivisionTruncatesAndNeverTraps) {
  EXPECT_EQ(MustRunOp({.op = "Div",
                       .inputs = {Tensor<int32_t>({3}, {-7, 7, INT32_MIN}),
                                  Tensor<int32_t>({3}, {2, -2, -1})}}),
            Tensor<int32_t>({3}, {-3, -3, INT32_MIN}));
  EXPECT_EQ(MustRunOp({.op = "Div",
                       .inputs = {Tensor<int64_t>({1}, {INT64_MIN}),
                                  Tensor<int64_t>({1}, {-1})}}),
            Tensor<int64_t>({1}, {INT64_MIN}));
  EXPECT_EQ(MustRunOp({.op = "Div",
                       .inputs = {Tensor<int8_t>({1}, {-128}),
                                  Tensor<int8_t>({1}, {-1})}}),
            Tensor<int8_t>({1}, {-128}));
}

TEST(BinaryTest, IntegerDivisionByZeroIsTheClientsError) {
  for (DType dtype : kIntegers) {
    EXPECT_THAT(RunOp({.op = "Div",
                       .inputs = {TensorOf(dtype, {2}, {1, 2}),
                                  TensorOf(dtype, {2}, {1, 0})}}),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("division by zero")));
  }
  EXPECT_THAT(
      MustRunOp({.op = "Div", .inputs = {Tensor({1}, {1}), Tensor({1}, {0})}}),
      Near({std::numeric_limits<double>::infinity()}, 0));
}

TEST(PowTest, BaseAndExponentMayDiffer) {
  const TestTensor base = Tensor({3}, {1, 2, 3});
  EXPECT_THAT(MustRunOp({.op = "Pow",
                         .inputs = {base, Tensor<int64_t>({3}, {4, 5, -1})}}),
              Near({1, 32, 1.0 / 3}, 1e-6));
  // A square is a product, of whatever sign and size.
  EXPECT_THAT(MustRunOp({.op = "Pow",
                         .inputs = {Tensor({5}, {-3, 0.5f, 0, 1e30f, -1e-3f}),
                                    Tensor({}, {2})}}),
              Near({9, 0.25f, 0, INFINITY, 1e-6f}, 1e-12));
  EXPECT_THAT(
      MustRunOp(
          {.op = "Pow", .inputs = {Tensor({2}, {-3, 4}), Tensor({1, 1}, {2})}}),
      IsNear(Tensor({1, 2}, {9, 16}), Tolerance{}));
  EXPECT_THAT(MustRunOp({.op = "Pow", .inputs = {base, Tensor({}, {0.5f})}}),
              Near({1, std::sqrt(2.0), std::sqrt(3.0)}, 1e-6));
}

TEST(PowTest, IntegersWrapAndNegativeExponentsTruncate) {
  const auto pow = [](std::vector<int64_t> a, std::vector<int64_t> b) {
    const Shape shape({static_cast<int64_t>(a.size())});
    return MustRunOp(
        {.op = "Pow",
         .inputs = {Tensor<int64_t>(shape, a), Tensor<int64_t>(shape, b)}});
  };
  EXPECT_EQ(pow({2, -3, 0, 0}, {10, 3, 0, 5}),
            Tensor<int64_t>({4}, {1024, -27, 1, 0}));
  EXPECT_EQ(pow({2}, {64}), Tensor<int64_t>({1}, {0}));
  EXPECT_EQ(pow({2, 1, -1, -1, 0}, {-1, -5, -2, -3, -1}),
            Tensor<int64_t>({5}, {0, 1, 1, -1, 0}));
}

constexpr DType kBases[] = {DType::kFloat32,  DType::kFloat64, DType::kFloat16,
                            DType::kBFloat16, DType::kInt32,   DType::kInt64};

TEST(PowTest, EveryPairOfTheStandard) {
  std::vector<DType> exponents(std::begin(kFloats), std::end(kFloats));
  exponents.insert(exponents.end(), std::begin(kIntegers), std::end(kIntegers));
  for (DType base : kBases) {
    for (DType exponent : exponents) {
      EXPECT_EQ(MustRunOp({.op = "Pow",
                           .inputs = {TensorOf(base, {2, 2}, {1, 2, 3, 5}),
                                      TensorOf(exponent, {2}, {3, 2})}}),
                TensorOf(base, {2, 2}, {1, 4, 27, 25}))
          << DTypeName(base) << " to " << DTypeName(exponent);
    }
  }
}

TEST(PowTest, RootsOf16BitsRoundOnce) {
  for (DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    std::vector<double> values, roots;
    for (int i = 0; i < 100; ++i) {
      values.push_back(i);
      roots.push_back(std::sqrt(i));
    }
    EXPECT_EQ(MustRunOp({.op = "Pow",
                         .inputs = {TensorOf(dtype, {100}, values),
                                    TensorOf(DType::kFloat64, {}, {0.5})}}),
              TensorOf(dtype, {100}, roots));
  }
}

// -1 to an odd power that no double holds.
TEST(PowTest, ALargeIntegerExponentKeepsItsParity) {
  const int64_t odd = (int64_t{1} << 53) + 1;
  EXPECT_THAT(
      MustRunOp(
          {.op = "Pow",
           .inputs = {Tensor({4}, {-1, -1, -1, -1}),
                      Tensor<int64_t>({4}, {odd, odd + 1, -odd, INT64_MIN})}}),
      Near({-1, 1, -1, 1}, 0));
  EXPECT_THAT(MustRunOp({.op = "Pow",
                         .inputs = {Tensor({2}, {-1, 2}),
                                    Tensor<uint64_t>({2}, {UINT64_MAX, 3})}}),
              Near({-1, 8}, 0));
  EXPECT_EQ(MustRunOp({.op = "Pow",
                       .inputs = {Tensor<int32_t>({2}, {-1, 3}),
                                  Tensor<uint64_t>({2}, {UINT64_MAX, 2})}}),
            Tensor<int32_t>({2}, {-1, 9}));
}

TEST(PowTest, IntegersToAFractionTruncateAndStopAtTheLimits) {
  const auto pow = [](std::vector<int64_t> a, std::vector<double> b) {
    const Shape shape({static_cast<int64_t>(a.size())});
    return MustRunOp(
        {.op = "Pow",
         .inputs = {Tensor<int64_t>(shape, a), Tensor<double>(shape, b)}});
  };
  EXPECT_EQ(pow({2, 9, -8}, {0.5, -0.5, 3}),
            Tensor<int64_t>({3}, {1, 0, -512}));
  EXPECT_EQ(
      pow({INT64_MAX, INT64_MIN, (int64_t{1} << 53) + 1}, {1, 1, 1}),
      Tensor<int64_t>({3}, {INT64_MAX, INT64_MIN, (int64_t{1} << 53) + 1}));
  EXPECT_EQ(pow({10, -10, -2}, {400, 401, 0.5}),
            Tensor<int64_t>({3}, {INT64_MAX, INT64_MIN, 0}));
  EXPECT_EQ(pow({2, 0}, {NAN, -1}), Tensor<int64_t>({2}, {0, INT64_MAX}));
}

TEST(PReluTest, SlopesAreForNegativeElements) {
  for (DType dtype : kFloats) {
    EXPECT_EQ(MustRunOp({.op = "PRelu",
                         .inputs = {TensorOf(dtype, {2, 3},
                                             {-2, -0.5, 0, 1, -1, NAN}),
                                    TensorOf(dtype, {3}, {0.5, 2, 3})}}),
              TensorOf(dtype, {2, 3}, {-1, -1, 0, 1, -2, NAN}))
        << DTypeName(dtype);
  }
  for (DType dtype : {DType::kInt32, DType::kInt64}) {
    EXPECT_EQ(MustRunOp({.op = "PRelu",
                         .inputs = {TensorOf(dtype, {3}, {-4, 0, 4}),
                                    TensorOf(dtype, {}, {3})}}),
              TensorOf(dtype, {3}, {-12, 0, 4}));
  }
  for (DType dtype : {DType::kUInt32, DType::kUInt64}) {
    const TestTensor x = TensorOf(dtype, {3}, {0, 4, 4e9});
    EXPECT_EQ(
        MustRunOp({.op = "PRelu", .inputs = {x, TensorOf(dtype, {}, {3})}}), x);
  }
  EXPECT_EQ(MustRunOp({.op = "PRelu",
                       .inputs = {Tensor<int64_t>({1}, {INT64_MIN}),
                                  Tensor<int64_t>({1}, {-1})}}),
            Tensor<int64_t>({1}, {INT64_MIN}));
}

}  // namespace
}  // namespace tensord
