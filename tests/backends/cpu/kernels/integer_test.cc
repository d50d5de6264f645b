#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tests/backends/cpu/kernels/broadcasting.h"
#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

// Mod, BitwiseAnd and its like, BitShift.
namespace tensord {
namespace {

using ::testing::HasSubstr;

constexpr DType kFloats[] = {DType::kFloat32, DType::kFloat64, DType::kFloat16,
                             DType::kBFloat16};
constexpr DType kSigned[] = {DType::kInt8, DType::kInt16, DType::kInt32,
                             DType::kInt64};
constexpr DType kUnsigned[] = {DType::kUInt8, DType::kUInt16, DType::kUInt32,
                               DType::kUInt64};

TestTensor Mod(TestTensor a, TestTensor b, int64_t fmod) {
  return MustRunOp({.op = "Mod",
                    .inputs = {std::move(a), std::move(b)},
                    .attributes = {{"fmod", fmod}}});
}

TEST(ModTest, TheSignIsTheDivisorsOrTheDividends) {
  const std::vector<double> a = {-4, 7, 5, 4, -7, 8, -6, 6},
                            b = {2, -3, 8, -2, 3, 5, 4, -4};
  for (DType dtype : kSigned) {
    const TestTensor x = TensorOf(dtype, {8}, a), y = TensorOf(dtype, {8}, b);
    EXPECT_EQ(Mod(x, y, 0), TensorOf(dtype, {8}, {0, -2, 5, 0, 2, 3, 2, -2}));
    EXPECT_EQ(Mod(x, y, 1), TensorOf(dtype, {8}, {0, 1, 5, 0, -1, 3, -2, 2}));
  }
  for (DType dtype : kUnsigned) {
    const TestTensor x = TensorOf(dtype, {3}, {7, 200, 5});
    const TestTensor y = TensorOf(dtype, {3}, {4, 7, 9});
    EXPECT_EQ(Mod(x, y, 0), TensorOf(dtype, {3}, {3, 4, 5}));
    EXPECT_EQ(Mod(x, y, 1), TensorOf(dtype, {3}, {3, 4, 5}));
  }
}

TEST(ModTest, FloatsAreThoseOfTheCLibrary) {
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> a = {-4.25, 7.5, 5, -7, 1, inf, 3, NAN, 1e4};
  const std::vector<double> b = {2, -3.5, inf, 3, 0, 2, NAN, 1, 0.375};
  std::vector<double> expected;
  for (size_t i = 0; i < a.size(); ++i) {
    expected.push_back(std::fmod(a[i], b[i]));
  }
  for (DType dtype : kFloats) {
    if (dtype == DType::kBFloat16) expected.back() = std::fmod(9984, 0.375);
    EXPECT_THAT(Mod(TensorOf(dtype, {9}, a), TensorOf(dtype, {9}, b), 1),
                IsNear(TensorOf(dtype, {9}, expected), {}))
        << DTypeName(dtype);
  }
}

TEST(ModTest, Broadcasts) {
  for (const Broadcast& c : kBroadcasts) {
    const TestTensor a = Pattern(DType::kInt32, c.a, 1);
    TestTensor b = Pattern(DType::kUInt8, c.b, 2);
    std::vector<double> divisors;
    for (int64_t i = 0; i < c.b.element_count(); ++i) {
      divisors.push_back(b.At(i) + 1);
    }
    b = TensorOf(DType::kInt32, c.b, divisors);
    EXPECT_EQ(Mod(a, b, 0),
              TensorOf(DType::kInt32, c.y,
                       MapBroadcast(a, b, c.y, [](double x, double y) {
                         return std::fmod(x, y);  // neither is negative
                       })));
  }
}

TEST(ModTest, NoIntegerTraps) {
  for (int64_t fmod : {0, 1}) {
    EXPECT_EQ(Mod(Tensor<int64_t>({2}, {INT64_MIN, INT64_MIN}),
                  Tensor<int64_t>({2}, {-1, INT64_MIN}), fmod),
              Tensor<int64_t>({2}, {0, 0}));
    EXPECT_EQ(Mod(Tensor<int32_t>({1}, {INT32_MIN}), Tensor<int32_t>({1}, {-1}),
                  fmod),
              Tensor<int32_t>({1}, {0}));
    EXPECT_EQ(Mod(Tensor<int8_t>({1}, {-128}), Tensor<int8_t>({1}, {-1}), fmod),
              Tensor<int8_t>({1}, {0}));
  }
  EXPECT_EQ(Mod(Tensor<int64_t>({2}, {INT64_MIN, INT64_MAX}),
                Tensor<int64_t>({2}, {INT64_MAX, INT64_MIN}), 0),
            Tensor<int64_t>({2}, {INT64_MAX - 1, -1}));
}

TEST(ModTest, AnIntegerModuloZeroIsTheClientsError) {
  for (DType dtype :
       {DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64,
        DType::kUInt8, DType::kUInt16, DType::kUInt32, DType::kUInt64}) {
    EXPECT_THAT(
        RunOp({.op = "Mod",
               .inputs = {TensorOf(dtype, {2}, {1, 2}),
                          TensorOf(dtype, {2}, {1, 0})}}),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("modulo zero")));
  }
}

struct Bitwise {
  std::string op;
  std::function<double(double, double)> f;
};

const Bitwise kBitwises[] = {
    {"BitwiseAnd", [](double a, double b) { return int64_t(a) & int64_t(b); }},
    {"BitwiseOr", [](double a, double b) { return int64_t(a) | int64_t(b); }},
    {"BitwiseXor", [](double a, double b) { return int64_t(a) ^ int64_t(b); }}};

TEST(BitwiseTest, EveryDTypeAndBroadcast) {
  for (const Bitwise& bitwise : kBitwises) {
    for (DType dtype :
         {DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64,
          DType::kUInt8, DType::kUInt16, DType::kUInt32, DType::kUInt64}) {
      for (const Broadcast& c : kBroadcasts) {
        if (IsLarge(c.y) && dtype != DType::kUInt8) continue;
        const TestTensor a = Pattern(dtype, c.a, 1);
        const TestTensor b = Pattern(dtype, c.b, 2);
        ASSERT_EQ(MustRunOp({.op = bitwise.op, .inputs = {a, b}, .opset = 18}),
                  TensorOf(dtype, c.y, MapBroadcast(a, b, c.y, bitwise.f)))
            << bitwise.op << " " << DTypeName(dtype);
      }
    }
  }
}

TEST(BitwiseTest, SignBitsAreBitsToo) {
  const TestTensor a = Tensor<int16_t>({3}, {-1, INT16_MIN, -2});
  const TestTensor b = Tensor<int16_t>({3}, {0x0ff0, -1, 3});
  EXPECT_EQ(MustRunOp({.op = "BitwiseAnd", .inputs = {a, b}}),
            Tensor<int16_t>({3}, {0x0ff0, INT16_MIN, 2}));
  EXPECT_EQ(MustRunOp({.op = "BitwiseXor", .inputs = {a, b}}),
            Tensor<int16_t>({3}, {-4081, INT16_MAX, -3}));
}

TestTensor Shift(const char* direction, TestTensor a, TestTensor b) {
  return MustRunOp({.op = "BitShift",
                    .inputs = {std::move(a), std::move(b)},
                    .attributes = {{"direction", std::string(direction)}}});
}

TEST(BitShiftTest, BothDirectionsInEveryDType) {
  for (DType dtype : kUnsigned) {
    const TestTensor a = TensorOf(dtype, {3}, {16, 4, 1});
    const TestTensor b = TensorOf(dtype, {3}, {1, 2, 3});
    EXPECT_EQ(Shift("RIGHT", a, b), TensorOf(dtype, {3}, {8, 1, 0}));
    EXPECT_EQ(Shift("LEFT", a, b), TensorOf(dtype, {3}, {32, 16, 8}));
  }
}

TEST(BitShiftTest, EverythingIsShiftedOutAtTheWidth) {
  for (DType dtype : kUnsigned) {
    const int bits = BitWidth(dtype);
    const double high = std::ldexp(1, bits - 1);
    const TestTensor a = TensorOf(dtype, {4}, {high, high, high, high});
    const TestTensor b = TensorOf(
        dtype, {4},
        {0, bits - 1.0, static_cast<double>(bits), std::ldexp(1, bits - 1)});
    EXPECT_EQ(Shift("RIGHT", a, b), TensorOf(dtype, {4}, {high, 1, 0, 0}));
    EXPECT_EQ(Shift("LEFT", a, b), TensorOf(dtype, {4}, {high, 0, 0, 0}));
  }
}

TEST(BitShiftTest, Broadcasts) {
  EXPECT_EQ(Shift("LEFT", Tensor<uint8_t>({2, 1}, {1, 3}),
                  Tensor<uint8_t>({3}, {0, 1, 7})),
            Tensor<uint8_t>({2, 3}, {1, 2, 128, 3, 6, 128}));
}

}  // namespace
}  // namespace tensord
