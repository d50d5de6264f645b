#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/backends/cpu/kernels/small_codes.h"
#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

// Casts from and to the integers of 4 and 2 bits.
namespace tensord {
namespace {

int64_t IntegerOf(DType dtype, int code) {
  const int bits = BitWidth(dtype);
  const bool is_signed = dtype == DType::kInt4 || dtype == DType::kInt2;
  return is_signed && code >= 1 << (bits - 1) ? code - (1 << bits) : code;
}

TEST(CastSmallIntegerTest, IntegersKeepTheirLowBits) {
  const std::vector<int64_t> x = {-9, -8, -3, -1, 0,   1,         2,        3,
                                  7,  8,  15, 16, 300, INT64_MIN, INT64_MAX};
  const Shape shape({static_cast<int64_t>(x.size())});
  for (DType dtype : kSmallIntegers) {
    const int mask = (1 << BitWidth(dtype)) - 1;
    std::vector<int> codes;
    std::vector<int64_t> numbers;
    for (int64_t value : x) {
      codes.push_back(static_cast<int>(value & mask));
      numbers.push_back(IntegerOf(dtype, codes.back()));
    }
    const TestTensor y = Cast(Tensor<int64_t>(shape, x), dtype);
    EXPECT_EQ(y, Codes(dtype, codes)) << DTypeName(dtype);
    EXPECT_EQ(Cast(y, DType::kInt64), Tensor<int64_t>(shape, numbers));
    // int8 to uint8 and wider keeps the low bits too.
    std::vector<double> wrapped;
    for (int64_t number : numbers) {
      wrapped.push_back(static_cast<uint8_t>(number));
    }
    EXPECT_EQ(Cast(y, DType::kUInt8), TensorOf(DType::kUInt8, shape, wrapped));
  }
}

TEST(CastSmallIntegerTest, FloatsAreTruncatedToIntegers) {
  const TestTensor x =
      Tensor({8}, {-9, -1.75f, -0.5f, 0.99f, 1.99f, 7, 8, NAN});
  EXPECT_EQ(CodesOf(Cast(x, DType::kInt4)),
            std::vector<int>({7, 15, 0, 0, 1, 7, 8, 0}));
  EXPECT_EQ(CodesOf(Cast(x, DType::kUInt2)),
            std::vector<int>({3, 3, 0, 0, 1, 3, 0, 0}));
  EXPECT_THAT(RunOp({.op = "Cast",
                     .inputs = {Tensor({2}, {1e30f, -INFINITY})},
                     .attributes = {{"to", int64_t{22}}}}),
              IsOk());
}

// Odd counts, blocks that are not full, several ranges of work.
TEST(CastSmallIntegerTest, PackedElementsOfAnyCount) {
  for (const Shape& shape :
       {Shape({}), Shape({0}), Shape({3}), Shape({257}), Shape({3, 5003})}) {
    const TestTensor x = Pattern(DType::kInt16, shape);
    for (DType dtype : kSmallIntegers) {
      std::vector<int> codes;
      for (int64_t i = 0; i < shape.element_count(); ++i) {
        codes.push_back(static_cast<int>(x.At(i)) &
                        ((1 << BitWidth(dtype)) - 1));
      }
      const TestTensor y = Cast(x, dtype);
      EXPECT_EQ(y.bytes, Codes(dtype, codes).bytes) << shape.ToString();
      EXPECT_EQ(y.shape, shape);
    }
  }
}

}  // namespace
}  // namespace tensord
