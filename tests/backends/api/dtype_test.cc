#include "backends/api/dtype.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "backends/api/shape.h"

namespace tensord {
namespace {

using ::testing::Eq;

TEST(DTypeTest, NamesAndNumbersGoRoundForEveryDType) {
  std::set<std::string> names;
  for (int number = 1; number < kDTypeCount; ++number) {
    const auto dtype = static_cast<DType>(number);
    EXPECT_TRUE(names.insert(std::string(DTypeName(dtype))).second);
    EXPECT_THAT(DTypeFromName(DTypeName(dtype)), Eq(dtype));
    EXPECT_THAT(DTypeFromNumber(number), Eq(dtype));
  }
}

TEST(DTypeTest, WhatIsUnknownHasNoDType) {
  EXPECT_THAT(DTypeFromName("undefined"), Eq(std::nullopt));
  EXPECT_THAT(DTypeFromName("float"), Eq(std::nullopt));
  EXPECT_THAT(DTypeFromName(""), Eq(std::nullopt));
  for (int64_t number :
       {int64_t{0}, int64_t{-1}, int64_t{kDTypeCount}, INT64_MAX, INT64_MIN}) {
    EXPECT_THAT(DTypeFromNumber(number), Eq(std::nullopt)) << number;
  }
  EXPECT_EQ(DTypeName(static_cast<DType>(255)), "undefined");
  EXPECT_EQ(BitWidth(static_cast<DType>(255)), 0);
}

// The numbers are a file format's, so they may never move.
TEST(DTypeTest, NumbersAreThoseOfOnnx) {
  EXPECT_THAT(DTypeFromNumber(1), Eq(DType::kFloat32));
  EXPECT_THAT(DTypeFromNumber(7), Eq(DType::kInt64));
  EXPECT_THAT(DTypeFromNumber(9), Eq(DType::kBool));
  EXPECT_THAT(DTypeFromNumber(10), Eq(DType::kFloat16));
  EXPECT_THAT(DTypeFromNumber(16), Eq(DType::kBFloat16));
  EXPECT_THAT(DTypeFromNumber(22), Eq(DType::kInt4));
}

TEST(DTypeTest, BytesOfPackedElementsAreRoundedUp) {
  EXPECT_EQ(ByteSize(DType::kFloat32, 3), 12u);
  EXPECT_EQ(ByteSize(DType::kInt4, 0), 0u);
  EXPECT_EQ(ByteSize(DType::kInt4, 1), 1u);
  EXPECT_EQ(ByteSize(DType::kInt4, 3), 2u);
  EXPECT_EQ(ByteSize(DType::kUInt2, 5), 2u);
  EXPECT_EQ(ByteSize(DType::kString, 5), 0u);
}

TEST(DTypeTest, TheLargestTensorsBytesDoNotOverflow) {
  EXPECT_EQ(ByteSize(DType::kComplex128, kMaxElementCount),
            uint64_t{kMaxElementCount} * 16);
}

TEST(DTypeTest, CppTypesHaveTheirWidth) {
  EXPECT_EQ(BitWidth(kDTypeOf<float>), 32);
  EXPECT_EQ(BitWidth(kDTypeOf<int64_t>), 64);
  EXPECT_EQ(kDTypeOf<bool>, DType::kBool);
  EXPECT_EQ(kDTypeOf<void>, DType::kUndefined);
}

}  // namespace
}  // namespace tensord
