#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "tests/backends/cpu/kernels/broadcasting.h"
#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

// Equal and its like, And and its like, Where.
namespace tensord {
namespace {

constexpr DType kNumbers[] = {
    DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16,
    DType::kInt8,    DType::kInt16,   DType::kInt32,   DType::kInt64,
    DType::kUInt8,   DType::kUInt16,  DType::kUInt32,  DType::kUInt64};

struct Comparison {
  std::string op;
  std::function<double(double, double)> f;
};

const Comparison kComparisons[] = {
    {"Equal", [](double a, double b) { return a == b; }},
    {"Greater", [](double a, double b) { return a > b; }},
    {"GreaterOrEqual", [](double a, double b) { return a >= b; }},
    {"Less", [](double a, double b) { return a < b; }},
    {"LessOrEqual", [](double a, double b) { return a <= b; }}};

const Comparison kLogic[] = {
    {"And", [](double a, double b) { return a != 0 && b != 0; }},
    {"Or", [](double a, double b) { return a != 0 || b != 0; }},
    {"Xor", [](double a, double b) { return (a != 0) != (b != 0); }}};

// A pattern of few different values, so that many pairs are equal.
TestTensor Few(DType dtype, const Shape& shape, uint64_t seed) {
  std::vector<double> values;
  const TestTensor pattern = Pattern(DType::kInt32, shape, seed);
  for (int64_t i = 0; i < shape.element_count(); ++i) {
    values.push_back(static_cast<int>(pattern.At(i)) % 3);
  }
  return TensorOf(dtype, shape, values);
}

TEST(ComparisonTest, EveryDTypeAndBroadcast) {
  for (const Comparison& comparison : kComparisons) {
    for (DType dtype : kNumbers) {
      for (const Broadcast& c : kBroadcasts) {
        if (IsLarge(c.y) && dtype != DType::kFloat32) continue;
        const TestTensor a = Few(dtype, c.a, 1), b = Few(dtype, c.b, 2);
        ASSERT_EQ(
            MustRunOp({.op = comparison.op, .inputs = {a, b}}),
            TensorOf(DType::kBool, c.y, MapBroadcast(a, b, c.y, comparison.f)))
            << comparison.op << " " << DTypeName(dtype) << " " << c.a.ToString()
            << " " << c.b.ToString();
      }
    }
  }
}

TEST(ComparisonTest, ANaNComparesWithNothing) {
  for (DType dtype :
       {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16}) {
    const TestTensor a = TensorOf(dtype, {4}, {NAN, NAN, 1, -0.0});
    const TestTensor b = TensorOf(dtype, {4}, {NAN, 1, NAN, 0.0});
    for (const Comparison& comparison : kComparisons) {
      const bool has_equal = comparison.f(0, 0) != 0;
      EXPECT_EQ(MustRunOp({.op = comparison.op, .inputs = {a, b}}),
                Tensor<bool>({4}, {false, false, false, has_equal}))
          << comparison.op << " " << DTypeName(dtype);
    }
  }
}

TEST(ComparisonTest, SignsAndLimitsOfIntegers) {
  const auto run = [](const char* op, TestTensor a, TestTensor b) {
    return MustRunOp({.op = op, .inputs = {std::move(a), std::move(b)}}).At(0);
  };
  EXPECT_EQ(run("Less", Tensor<int8_t>({}, {-1}), Tensor<int8_t>({}, {1})), 1);
  EXPECT_EQ(run("Less", Tensor<uint8_t>({}, {255}), Tensor<uint8_t>({}, {1})),
            0);
  const TestTensor large = Tensor<int64_t>({}, {INT64_MAX});
  const TestTensor below = Tensor<int64_t>({}, {INT64_MAX - 1});
  EXPECT_EQ(run("Equal", large, below), 0);  // as doubles they are equal
  EXPECT_EQ(run("Greater", large, below), 1);
  EXPECT_EQ(run("Equal", Tensor<int16_t>({}, {-1}), Tensor<int16_t>({}, {-1})),
            1);
}

TEST(LogicTest, EveryBroadcast) {
  for (const Comparison& logic : kLogic) {
    for (const Broadcast& c : kBroadcasts) {
      const TestTensor a = Pattern(DType::kBool, c.a, 1);
      const TestTensor b = Pattern(DType::kBool, c.b, 2);
      ASSERT_EQ(MustRunOp({.op = logic.op, .inputs = {a, b}}),
                TensorOf(DType::kBool, c.y, MapBroadcast(a, b, c.y, logic.f)))
          << logic.op << " " << c.a.ToString() << " " << c.b.ToString();
    }
  }
}

TEST(LogicTest, TruthTables) {
  const TestTensor a = Tensor<bool>({4}, {false, false, true, true});
  const TestTensor b = Tensor<bool>({4}, {false, true, false, true});
  EXPECT_EQ(MustRunOp({.op = "And", .inputs = {a, b}}),
            Tensor<bool>({4}, {false, false, false, true}));
  EXPECT_EQ(MustRunOp({.op = "Or", .inputs = {a, b}}),
            Tensor<bool>({4}, {false, true, true, true}));
  EXPECT_EQ(MustRunOp({.op = "Xor", .inputs = {a, b}}),
            Tensor<bool>({4}, {false, true, true, false}));
  EXPECT_EQ(MustRunOp({.op = "Equal", .inputs = {a, b}}),
            Tensor<bool>({4}, {true, false, false, true}));
}

struct WhereCase {
  Shape condition, a, b, y;
};

const WhereCase kWheres[] = {
    {{}, {}, {}, {}},
    {{3}, {3}, {3}, {3}},
    {{3}, {}, {3}, {3}},
    {{3}, {3}, {}, {3}},
    {{}, {2, 3}, {2, 3}, {2, 3}},
    {{2, 1}, {3}, {}, {2, 3}},
    {{2, 1, 4}, {3, 1}, {1, 1, 4}, {2, 3, 4}},
    {{0}, {1}, {}, {0}},
    {{2, 40000}, {40000}, {2, 1}, {2, 40000}},
};

TEST(WhereTest, EveryDTypeAndBroadcast) {
  std::vector<DType> dtypes(std::begin(kNumbers), std::end(kNumbers));
  dtypes.push_back(DType::kBool);
  for (DType dtype : dtypes) {
    for (const WhereCase& c : kWheres) {
      if (IsLarge(c.y) && dtype != DType::kFloat32) continue;
      const TestTensor condition = Pattern(DType::kBool, c.condition, 1);
      const TestTensor a = Pattern(dtype, c.a, 2), b = Pattern(dtype, c.b, 3);
      std::vector<double> expected;
      for (int64_t i = 0; i < c.y.element_count(); ++i) {
        expected.push_back(BroadcastAt(condition, c.y, i) != 0
                               ? BroadcastAt(a, c.y, i)
                               : BroadcastAt(b, c.y, i));
      }
      ASSERT_EQ(MustRunOp({.op = "Where", .inputs = {condition, a, b}}),
                TensorOf(dtype, c.y, expected))
          << DTypeName(dtype) << " " << c.y.ToString();
    }
  }
}

TEST(WhereTest, ComplexNumbersMoveWhole) {
  const double a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8}, y[] = {1, 2, 7, 8};
  const TestTensor condition = Tensor<bool>({2}, {true, false});
  EXPECT_EQ(
      MustRunOp(
          {.op = "Where",
           .inputs = {condition, TensorOfBytes(DType::kComplex128, {2}, a, 32),
                      TensorOfBytes(DType::kComplex128, {2}, b, 32)}})
          .bytes,
      TensorOfBytes(DType::kComplex128, {2}, y, 32).bytes);
  EXPECT_EQ(
      MustRunOp(
          {.op = "Where",
           .inputs = {condition, TensorOfBytes(DType::kComplex64, {2}, a, 16),
                      TensorOfBytes(DType::kComplex64, {2}, b, 16)}})
          .bytes,
      Tensor<double>({2}, {1, 6}).bytes);
}

}  // namespace
}  // namespace tensord
