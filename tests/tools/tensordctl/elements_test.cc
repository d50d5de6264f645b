#include "tools/tensordctl/elements.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace tensord::ctl {
namespace {

TEST(Float16, SurvivesTheWayToFloat32AndBackForAllBits) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    Float16 half;
    half.bits = static_cast<uint16_t>(bits);
    const float value = static_cast<float>(half);
    const Float16 again(value);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(again)));
    } else {
      EXPECT_EQ(again.bits, half.bits) << value;
    }
  }
}

// The compiler's own conversion, in both roundings, is the reference.
TEST(Float16, RoundsAsTheCompilerDoes) {
  for (uint64_t i = 0; i < (1u << 20); ++i) {
    const uint32_t bits = static_cast<uint32_t>(i * 4099);
    const float value = std::bit_cast<float>(bits);
    if (std::isnan(value)) continue;
    const _Float16 reference = static_cast<_Float16>(value);
    ASSERT_EQ(Float16(value).bits, std::bit_cast<uint16_t>(reference)) << value;
  }
}

TEST(Float16, RoundsTiesToEvenAndOverflowsToInfinity) {
  EXPECT_EQ(Float16(65519.996f).bits, 0x7bff);
  EXPECT_EQ(Float16(65520.f).bits, 0x7c00);
  EXPECT_EQ(Float16(2049.f).bits, Float16(2048.f).bits);
  EXPECT_EQ(Float16(2051.f).bits, Float16(2052.f).bits);
  EXPECT_EQ(Float16(0x1p-25f).bits, 0);
  EXPECT_EQ(Float16(0x1.8p-25f).bits, 1);
  EXPECT_EQ(Float16(-0.f).bits, 0x8000);
}

TEST(BFloat16, RoundsTiesToEven) {
  EXPECT_EQ(BFloat16(1.f).bits, 0x3f80);
  EXPECT_EQ(BFloat16(std::bit_cast<float>(0x3f808000u)).bits, 0x3f80);
  EXPECT_EQ(BFloat16(std::bit_cast<float>(0x3f818000u)).bits, 0x3f82);
  EXPECT_EQ(BFloat16(std::numeric_limits<float>::infinity()).bits, 0x7f80);
  EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(std::nanf("")))));
}

TEST(ElementCount, IsTheProductOfTheExtents) {
  EXPECT_EQ(*ElementCount({}), 1);
  EXPECT_EQ(*ElementCount({2, 3, 4}), 24);
  // Empty, whatever the others are.
  EXPECT_EQ(*ElementCount({1ll << 40, 1ll << 40, 0}), 0);
  EXPECT_FALSE(ElementCount({1ll << 40, 1ll << 40}).ok());
  EXPECT_FALSE(ElementCount({0, -1}).ok());
}

TEST(DataBytes, PacksSmallElements) {
  EXPECT_EQ(*DataBytes(v1::DTYPE_INT4, {3}), 2);
  EXPECT_EQ(*DataBytes(v1::DTYPE_UINT2, {5}), 2);
  EXPECT_EQ(*DataBytes(v1::DTYPE_COMPLEX128, {2}), 32);
  EXPECT_FALSE(DataBytes(v1::DTYPE_STRING, {2}).ok());
  EXPECT_FALSE(DataBytes(v1::DTYPE_FLOAT64, {1ll << 60}).ok());
}

TEST(EveryDType, HasASizeOrIsAString) {
  for (int number = v1::DType_MIN + 1; number <= v1::DType_MAX; ++number) {
    const v1::DType dtype = static_cast<v1::DType>(number);
    EXPECT_EQ(ElementBits(dtype) == 0, dtype == v1::DTYPE_STRING)
        << v1::DType_Name(dtype);
    bool visited_size = true;
    VisitDType(dtype, [&]<typename T>(T) {
      visited_size = sizeof(T) * 8 == static_cast<size_t>(ElementBits(dtype));
    });
    EXPECT_TRUE(visited_size) << v1::DType_Name(dtype);
  }
}

}  // namespace
}  // namespace tensord::ctl
