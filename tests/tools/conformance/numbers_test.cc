#include "tools/conformance/numbers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "clients/cpp/tensors.h"

namespace tensord::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Number kInfinity = std::numeric_limits<Number>::infinity();

v1::Tensor Bytes(v1::DType dtype, std::vector<int64_t> dims,
                 const std::vector<int>& bytes) {
  v1::Tensor tensor;
  tensor.set_dtype(dtype);
  for (int64_t dim : dims) tensor.add_dims(dim);
  for (int byte : bytes) {
    tensor.mutable_data()->push_back(static_cast<char>(byte));
  }
  return tensor;
}

std::vector<Number> MustDecode(const v1::Tensor& tensor) {
  const auto numbers = Numbers(tensor);
  EXPECT_TRUE(numbers.ok()) << numbers.status();
  return numbers.value_or(std::vector<Number>());
}

// One byte of an 8-bit float.
Number Eight(v1::DType dtype, int code) {
  return MustDecode(Bytes(dtype, {1}, {code})).at(0);
}

TEST(NumbersTest, LargeIntegersAreExact) {
  EXPECT_THAT(
      MustDecode(MakeTensor<uint64_t>({2}, {~uint64_t{0}, ~uint64_t{0} - 1})),
      ElementsAre(18446744073709551615.0L, 18446744073709551614.0L));
  EXPECT_THAT(MustDecode(MakeTensor<int64_t>(
                  {2}, {std::numeric_limits<int64_t>::min(),
                        std::numeric_limits<int64_t>::max()})),
              ElementsAre(-9223372036854775808.0L, 9223372036854775807.0L));
}

TEST(NumbersTest, SixteenBitFloats) {
  EXPECT_THAT(
      MustDecode(Bytes(v1::DTYPE_FLOAT16, {4},
                       {0x00, 0x3c, 0x00, 0xfc, 0x01, 0x00, 0xff, 0x7b})),
      ElementsAre(1, -kInfinity, 0x1p-24L, 65504));
  EXPECT_THAT(MustDecode(Bytes(v1::DTYPE_BFLOAT16, {3},
                               {0x80, 0x3f, 0x80, 0xff, 0x7f, 0x7f})),
              ElementsAre(1, -kInfinity, 0x1.fep127L));
}

TEST(NumbersTest, EightBitFloatsAreThoseOfTheTables) {
  EXPECT_EQ(Eight(v1::DTYPE_FLOAT8E4M3FN, 0x38), 1);
  EXPECT_EQ(Eight(v1::DTYPE_FLOAT8E4M3FN, 0x7e), 448);
  EXPECT_EQ(Eight(v1::DTYPE_FLOAT8E4M3FN, 0x01), 0x1p-9L);
  EXPECT_EQ(Eight(v1::DTYPE_FLOAT8E4M3FN, 0x88), -0x1p-6L);
  EXPECT_TRUE(std::isnan(Eight(v1::DTYPE_FLOAT8E4M3FN, 0x7f)));
  EXPECT_TRUE(std::isnan(Eight(v1::DTYPE_FLOAT8E4M3FN, 0xff)));

  EXPECT_EQ(Eight(v1::DTYPE_FLOAT8E4M3FNUZ, 0x40), 1);
  EXPECT_EQ(Eight(v1::DTYPE_FLOAT8E4M3FNUZ, 0x7f), 240);
  EXPECT_EQ(Eight(v1::DTYPE_FLOAT8E4M3FNUZ, 0x01), 0x1p-10L);
  EXPECT_TRUE(std::isnan(Eight(v1::DTYPE_FLOAT8E4M3FNUZ, 0x80)));

  EXPECT_EQ(Eight(v1::DTYPE_FLOAT8E5M2, 0x3c), 1);
  EXPECT_EQ(Eight(v1::DTYPE_FLOAT8E5M2, 0x7b), 57344);
  EXPECT_EQ(Eight(v1::DTYPE_FLOAT8E5M2, 0x01), 0x1p-16L);
  EXPECT_EQ(Eight(v1::DTYPE_FLOAT8E5M2, 0xfc), -kInfinity);
  EXPECT_TRUE(std::isnan(Eight(v1::DTYPE_FLOAT8E5M2, 0x7d)));

  EXPECT_EQ(Eight(v1::DTYPE_FLOAT8E5M2FNUZ, 0x40), 1);
  EXPECT_EQ(Eight(v1::DTYPE_FLOAT8E5M2FNUZ, 0x7f), 57344);
  EXPECT_EQ(Eight(v1::DTYPE_FLOAT8E5M2FNUZ, 0x01), 0x1p-17L);
  EXPECT_TRUE(std::isnan(Eight(v1::DTYPE_FLOAT8E5M2FNUZ, 0x80)));

  EXPECT_EQ(Eight(v1::DTYPE_FLOAT8E8M0, 127), 1);
  EXPECT_EQ(Eight(v1::DTYPE_FLOAT8E8M0, 0), 0x1p-127L);
  EXPECT_TRUE(std::isnan(Eight(v1::DTYPE_FLOAT8E8M0, 0xff)));
}

TEST(NumbersTest, PartsOfBytesStartAtTheLowBits) {
  EXPECT_THAT(MustDecode(Bytes(v1::DTYPE_INT4, {3}, {0x8f, 0x07})),
              ElementsAre(-1, -8, 7));
  EXPECT_THAT(MustDecode(Bytes(v1::DTYPE_UINT4, {3}, {0x8f, 0x07})),
              ElementsAre(15, 8, 7));
  EXPECT_THAT(MustDecode(Bytes(v1::DTYPE_INT2, {5}, {0xe4, 0x03})),
              ElementsAre(0, 1, -2, -1, -1));
  EXPECT_THAT(MustDecode(Bytes(v1::DTYPE_UINT2, {5}, {0xe4, 0x03})),
              ElementsAre(0, 1, 2, 3, 3));
  EXPECT_THAT(
      MustDecode(Bytes(v1::DTYPE_FLOAT4E2M1, {8}, {0x10, 0x32, 0x54, 0xf6})),
      ElementsAre(0, 0.5L, 1, 1.5L, 2, 3, 4, -6));
}

TEST(NumbersTest, AComplexNumberIsTwo) {
  v1::Tensor tensor = MakeTensor<float>({2}, {1, -2});
  tensor.set_dtype(v1::DTYPE_COMPLEX64);
  tensor.set_dims(0, 1);
  EXPECT_THAT(MustDecode(tensor), ElementsAre(1, -2));
}

TEST(NumbersTest, DataOfAnotherSizeAreRefused) {
  EXPECT_FALSE(Numbers(Bytes(v1::DTYPE_INT32, {1}, {1, 2, 3})).ok());
  EXPECT_FALSE(Numbers(Bytes(v1::DTYPE_INT4, {3}, {1})).ok());
  EXPECT_FALSE(Numbers(Bytes(v1::DTYPE_STRING, {0}, {})).ok());
  EXPECT_THAT(MustDecode(Bytes(v1::DTYPE_FLOAT32, {0, 3}, {})), IsEmpty());
}

TEST(NumbersTest, StringsAreRead) {
  const auto strings = Strings(Bytes(v1::DTYPE_STRING, {3},
                                     {2, 0, 0, 0, 'h', 'i', 0, 0, 0, 0,  //
                                      1, 0, 0, 0, 0}));
  ASSERT_TRUE(strings.ok()) << strings.status();
  EXPECT_THAT(*strings, ElementsAre("hi", "", std::string(1, '\0')));
  EXPECT_FALSE(Strings(Bytes(v1::DTYPE_STRING, {1}, {9, 0, 0, 0, 'x'})).ok());
  EXPECT_FALSE(Strings(Bytes(v1::DTYPE_STRING, {2}, {0, 0, 0, 0})).ok());
  EXPECT_FALSE(Strings(Bytes(v1::DTYPE_STRING, {0}, {1})).ok());
}

TEST(NumbersTest, RangesEndWhereTheDtypeDoes) {
  EXPECT_EQ(FiniteRange(v1::DTYPE_INT4).lowest, -8);
  EXPECT_EQ(FiniteRange(v1::DTYPE_INT4).highest, 7);
  EXPECT_EQ(FiniteRange(v1::DTYPE_UINT2).highest, 3);
  EXPECT_EQ(FiniteRange(v1::DTYPE_UINT64).highest, 18446744073709551615.0L);
  EXPECT_EQ(FiniteRange(v1::DTYPE_FLOAT32).lowest,
            std::numeric_limits<float>::lowest());
  EXPECT_EQ(FiniteRange(v1::DTYPE_FLOAT16).lowest, -65504);
}

}  // namespace
}  // namespace tensord::conformance
