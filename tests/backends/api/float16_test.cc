#include "backends/api/float16.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "tests/support/half.h"

namespace tensord {
namespace {

// The two types beside their references, which are written for being seen to be
// right.
struct OfFloat16 {
  using Type = Float16;
  static double Decode(uint16_t bits) { return DecodeFloat16(bits); }
  static uint16_t Encode(double x) { return EncodeFloat16(x); }
};
struct OfBFloat16 {
  using Type = BFloat16;
  static double Decode(uint16_t bits) { return DecodeBFloat16(bits); }
  static uint16_t Encode(double x) { return EncodeBFloat16(x); }
};

template <typename Reference>
class Float16Test : public testing::Test {
 protected:
  using T = typename Reference::Type;

  static T FromBits(uint32_t bits) {
    T x;
    x.bits = static_cast<uint16_t>(bits);
    return x;
  }
  static void ExpectEncodes(double x) {
    EXPECT_EQ(T(x).bits, Reference::Encode(x)) << x;
    EXPECT_EQ(T(-x).bits, Reference::Encode(-x)) << -x;
  }
};

using References = testing::Types<OfFloat16, OfBFloat16>;
TYPED_TEST_SUITE(Float16Test, References);

TYPED_TEST(Float16Test, EveryPatternBecomesItsNumberAndComesBack) {
  for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const auto x = this->FromBits(bits);
    const auto number = static_cast<float>(x);
    const double expected = TypeParam::Decode(static_cast<uint16_t>(bits));
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(number)) << bits;
      EXPECT_TRUE(
          std::isnan(static_cast<float>(typename TypeParam::Type(number))))
          << bits;
    } else {
      ASSERT_EQ(static_cast<double>(number), expected) << bits;
      EXPECT_EQ(std::signbit(number), std::signbit(expected)) << bits;
      EXPECT_EQ(typename TypeParam::Type(number).bits, bits);
    }
  }
}

// Between each two neighbours: the middle goes to the even one, and a double
// that is hardly off it to the nearer one, which rounding to float first would
// miss.
TYPED_TEST(Float16Test, NumbersRoundOnceToNearestAndTiesToEven) {
  for (uint32_t bits = 0; bits < 0x7fff; ++bits) {
    const double low = TypeParam::Decode(static_cast<uint16_t>(bits));
    const double high = TypeParam::Decode(static_cast<uint16_t>(bits + 1));
    if (!std::isfinite(low) || !std::isfinite(high)) continue;
    const double middle = low + (high - low) / 2;
    this->ExpectEncodes(middle);
    this->ExpectEncodes(std::nextafter(middle, low));
    this->ExpectEncodes(std::nextafter(middle, high));
  }
}

TYPED_TEST(Float16Test, WhatIsTooLargeIsInfinityAndIntegersRound) {
  const double largest = TypeParam::Decode(static_cast<uint16_t>(
      TypeParam::Encode(std::numeric_limits<double>::infinity()) - 1));
  for (const double x : {largest, largest * 1.0001, largest * 2, 1e300, 1e-300,
                         std::numeric_limits<double>::infinity()}) {
    this->ExpectEncodes(x);
  }
  for (const int64_t x : {int64_t{0}, int64_t{2049}, int64_t{2051},
                          int64_t{1} << 40, (int64_t{1} << 24) + 1}) {
    EXPECT_EQ(typename TypeParam::Type(x).bits,
              TypeParam::Encode(static_cast<double>(x)));
  }
}

// A double would take them for the middle between two neighbours.
TEST(BFloat16Test, IntegersThatNoDoubleHoldsRoundOnceToo) {
  const int64_t middle = (int64_t{1} << 62) + (int64_t{1} << 54);
  const auto bits = [](auto x) { return BFloat16(x).bits; };
  EXPECT_EQ(bits(middle), EncodeBFloat16(0x1p62));
  EXPECT_EQ(bits(middle + 1), EncodeBFloat16(0x1.02p62));
  EXPECT_EQ(bits(-middle), EncodeBFloat16(-0x1p62));
  EXPECT_EQ(bits(-middle - 1), EncodeBFloat16(-0x1.02p62));
  EXPECT_EQ(bits(-middle + 1), EncodeBFloat16(-0x1p62));
  const uint64_t high = (uint64_t{1} << 63) + (uint64_t{1} << 55);
  EXPECT_EQ(bits(high), EncodeBFloat16(0x1p63));
  EXPECT_EQ(bits(high + 1), EncodeBFloat16(0x1.02p63));
  EXPECT_EQ(bits(std::numeric_limits<uint64_t>::max()), EncodeBFloat16(0x1p64));
  EXPECT_EQ(bits(std::numeric_limits<int64_t>::min()), EncodeBFloat16(-0x1p63));
}

}  // namespace
}  // namespace tensord
