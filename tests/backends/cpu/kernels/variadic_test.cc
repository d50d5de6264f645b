#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/backends/cpu/kernels/broadcasting.h"
#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

// Max, Mean, Min, Sum of any number of inputs.
namespace tensord {
namespace {

constexpr DType kFloats[] = {DType::kFloat32, DType::kFloat64, DType::kFloat16,
                             DType::kBFloat16};
constexpr DType kIntegers[] = {DType::kInt8,   DType::kInt16, DType::kInt32,
                               DType::kInt64,  DType::kUInt8, DType::kUInt16,
                               DType::kUInt32, DType::kUInt64};

struct VariadicCase {
  std::vector<Shape> inputs;
  Shape y;
};

const VariadicCase kCases[] = {
    {{{3}}, {3}},
    {{{}}, {}},
    {{{0}, {1}}, {0}},
    {{{2, 3}, {2, 3}}, {2, 3}},
    {{{3}, {2, 1}}, {2, 3}},
    {{{2, 3, 4}, {3, 1}, {4}, {}}, {2, 3, 4}},
    {{{}, {1, 1}, {5, 1}, {1, 7}}, {5, 7}},
    {{{1025}, {1025}, {1}}, {1025}},  // one past a block
    {{{2, 20011}, {20011}, {2, 1}}, {2, 20011}},
    {std::vector<Shape>(19, Shape({4})), {4}},
};

double Reference(const std::string& op, const std::vector<double>& values) {
  if (op == "Max") return *std::max_element(values.begin(), values.end());
  if (op == "Min") return *std::min_element(values.begin(), values.end());
  double sum = 0;
  for (double value : values) sum += value;
  return op == "Sum" ? sum : sum / static_cast<double>(values.size());
}

// The patterns' values are multiples of 1/64 below 2, so that sums of up to 19
// are exact in double and in float.
void ExpectMatches(const std::string& op, DType dtype) {
  for (const VariadicCase& c : kCases) {
    if (IsLarge(c.y) && dtype != DType::kFloat32) continue;
    std::vector<TestTensor> inputs;
    for (size_t i = 0; i < c.inputs.size(); ++i) {
      inputs.push_back(Pattern(dtype, c.inputs[i], i + 1));
    }
    std::vector<double> expected;
    for (int64_t i = 0; i < c.y.element_count(); ++i) {
      std::vector<double> values;
      for (const TestTensor& x : inputs) {
        values.push_back(BroadcastAt(x, c.y, i));
      }
      expected.push_back(Reference(op, values));
    }
    const TestTensor y = TensorOf(dtype, c.y, expected);
    if (op == "Mean" &&
        (dtype == DType::kFloat32 || dtype == DType::kFloat64)) {
      ASSERT_THAT(MustRunOp({.op = op, .inputs = inputs}),
                  IsNear(y, ToleranceFor(dtype, OpFamily::kArithmetic)));
    } else {
      ASSERT_EQ(MustRunOp({.op = op, .inputs = inputs}), y)
          << op << " " << DTypeName(dtype) << " " << c.y.ToString();
    }
  }
}

TEST(VariadicTest, FloatsMatchTheDefinition) {
  for (const char* op : {"Max", "Mean", "Min", "Sum"}) {
    for (DType dtype : kFloats) ExpectMatches(op, dtype);
  }
}

TEST(VariadicTest, IntegersHaveExtremes) {
  for (const char* op : {"Max", "Min"}) {
    for (DType dtype : kIntegers) ExpectMatches(op, dtype);
  }
  EXPECT_EQ(MustRunOp({.op = "Max",
                       .inputs = {Tensor<int64_t>({2}, {INT64_MAX - 1, -1}),
                                  Tensor<int64_t>({2}, {INT64_MAX, -2})}}),
            Tensor<int64_t>({2}, {INT64_MAX, -1}));
  EXPECT_EQ(MustRunOp({.op = "Min",
                       .inputs = {Tensor<uint64_t>({1}, {UINT64_MAX}),
                                  Tensor<uint64_t>({1}, {1})}}),
            Tensor<uint64_t>({1}, {1}));
}

TEST(VariadicTest, ANaNInAnyInputStays) {
  for (const char* op : {"Max", "Mean", "Min", "Sum"}) {
    for (DType dtype : kFloats) {
      const TestTensor y =
          MustRunOp({.op = op,
                     .inputs = {TensorOf(dtype, {3}, {NAN, 1, 1}),
                                TensorOf(dtype, {3}, {1, NAN, 1}),
                                TensorOf(dtype, {3}, {1, 1, NAN})}});
      EXPECT_THAT(y, Near({NAN, NAN, NAN}, 0)) << op << " " << DTypeName(dtype);
    }
  }
}

// A sum of 16 bits that rounded after each input would stay at 2048.
TEST(VariadicTest, SumsOf16BitsRoundOnce) {
  const TestTensor one = TensorOf(DType::kFloat16, {1}, {1});
  EXPECT_EQ(MustRunOp({.op = "Sum",
                       .inputs = {TensorOf(DType::kFloat16, {1}, {2048}), one,
                                  one, one, one}}),
            TensorOf(DType::kFloat16, {1}, {2052}));
  const TestTensor large = TensorOf(DType::kFloat16, {1}, {60000});
  EXPECT_EQ(MustRunOp({.op = "Mean", .inputs = {large, large}}), large);
}

}  // namespace
}  // namespace tensord
