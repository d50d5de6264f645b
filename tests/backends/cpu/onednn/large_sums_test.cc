#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

// Sums of 8-bit integers that float32 cannot hold keep their low bits. Factors
// are the largest; the last one, the channel's own, makes sums odd and even.
namespace tensord {
namespace {

constexpr int64_t kChannels = 16;

struct Depth {
  int64_t channels, kernel;
};
constexpr Depth kDepths[] = {
    {4608, 1}, {512, 3}, {1500, 1}, {517, 1}, {514, 1}};

// All of one number, but for the last of each line.
TestTensor Lines(DType dtype, const Shape& shape, double number,
                 double first_last, double step) {
  const int64_t lines = shape[0];
  const int64_t length = shape.element_count() / lines;
  std::vector<double> values(shape.element_count(), number);
  for (int64_t i = 0; i < lines; ++i) {
    values[(i + 1) * length - 1] = first_last + step * static_cast<double>(i);
  }
  return TensorOf(dtype, shape, values);
}

TestTensor Weights(const Depth& depth) {
  return Lines(DType::kInt8,
               {kChannels, depth.channels, depth.kernel, depth.kernel}, 127, 0,
               1);
}

void ExpectAsPortable(const OpCase& test, const std::string& what) {
  const auto all = RunOpOnEveryKernel(test);
  ASSERT_THAT(all, IsOk()) << what;
  for (const auto& [kernel, outputs] : *all) {
    EXPECT_TRUE(outputs[0] == all->back().outputs[0])
        << kernel << ", " << what << ": " << outputs[0].At(1) << " is not "
        << all->back().outputs[0].At(1);
  }
}

TEST(LargeSumsTest, OfConvInteger) {
  for (const Depth& depth : kDepths) {
    for (double zero : {0.0, 1.0}) {
      const Shape x({1, depth.channels, depth.kernel, depth.kernel});
      ExpectAsPortable(
          {.op = "ConvInteger",
           .inputs = {Lines(DType::kUInt8, x, 255, 254, 0), Weights(depth),
                      TensorOf(DType::kUInt8, {}, {zero})},
           .constants = {1}},
          std::to_string(depth.channels));
    }
  }
}

// What is left after a zero point is small; the sum before is not. Signed
// integers are made unsigned ones by the library, with a zero point of 128.
TEST(LargeSumsTest, OfQLinearConvBeforeItsZeroPoint) {
  for (const Depth& depth : kDepths) {
    for (DType dtype : {DType::kUInt8, DType::kInt8}) {
      const double zero = dtype == DType::kUInt8 ? 128 : 0;
      const Shape x({1, depth.channels, depth.kernel, depth.kernel});
      const TestTensor one = Tensor({}, {1.0f});
      ExpectAsPortable(
          {.op = "QLinearConv",
           .inputs = {Lines(dtype, x, zero, zero + 3, 0), one,
                      TensorOf(dtype, {}, {zero}), Weights(depth), one,
                      TensorOf(DType::kInt8, {}, {0}), one,
                      TensorOf(DType::kUInt8, {}, {0})},
           .constants = {1, 2, 3, 4, 5, 6, 7}},
          std::string(DTypeName(dtype)) + " " + std::to_string(depth.channels));
    }
  }
}

}  // namespace
}  // namespace tensord
