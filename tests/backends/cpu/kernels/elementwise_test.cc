#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

// Add and its like, Pow: elements of two inputs that broadcast.
namespace tensord {
namespace {

using ::testing::HasSubstr;

constexpr DType kIntegers[] = {DType::kInt8,   DType::kInt16, DType::kInt32,
                               DType::kInt64,  DType::kUInt8, DType::kUInt16,
                               DType::kUInt32, DType::kUInt64};

std::vector<double> MapAll(const TestTensor& x,
                           const std::function<double(double)>& f) {
  std::vector<double> y;
  for (int64_t i = 0; i < x.shape.element_count(); ++i) y.push_back(f(x.At(i)));
  return y;
}

struct Binary {
  std::string op;
  std::function<double(double, double)> f;
};

const Binary kBinaries[] = {{"Add", [](double a, double b) { return a + b; }},
                            {"Sub", [](double a, double b) { return a - b; }},
                            {"Mul", [](double a, double b) { return a * b; }},
                            {"Div", [](double a, double b) { return a / b; }}};

struct Broadcast {
  Shape a, b, y;
};

const Broadcast kBroadcasts[] = {
    {{}, {}, {}},
    {{0}, {1}, {0}},
    {{1, 0}, {3, 1}, {3, 0}},
    {{17}, {17}, {17}},
    {{17}, {}, {17}},
    {{}, {17}, {17}},
    {{2, 3}, {3}, {2, 3}},
    {{2, 1}, {3}, {2, 3}},
    {{2, 3, 4}, {3, 1}, {2, 3, 4}},
    {{3, 1}, {2, 3, 4}, {2, 3, 4}},
    {{2, 1, 4, 1}, {1, 3, 1, 5}, {2, 3, 4, 5}},
    {{2, 3, 1, 1}, {2, 3, 4, 5}, {2, 3, 4, 5}},
    {{1, 1}, {1}, {1, 1}},
    {{8, 4200}, {8, 1}, {8, 4200}},  // several ranges of work
};

// The definition of broadcasting, by indices.
std::vector<double> Reference(const Broadcast& c, const TestTensor& a,
                              const TestTensor& b, const Binary& binary) {
  const auto at = [&](const TestTensor& tensor, int64_t flat) {
    int64_t index = 0;
    int64_t stride = 1;
    for (int i = 1; i <= c.y.rank(); ++i) {
      const int64_t position = flat % c.y[c.y.rank() - i];
      flat /= c.y[c.y.rank() - i];
      if (i > tensor.shape.rank()) continue;
      const int64_t extent = tensor.shape[tensor.shape.rank() - i];
      if (extent != 1) index += position * stride;
      stride *= extent;
    }
    return tensor.At(index);
  };
  std::vector<double> y;
  for (int64_t i = 0; i < c.y.element_count(); ++i) {
    y.push_back(binary.f(at(a, i), at(b, i)));
  }
  return y;
}

TEST(BinaryTest, BroadcastsAsTheDefinitionSays) {
  for (const Binary& binary : kBinaries) {
    for (const Broadcast& c : kBroadcasts) {
      const TestTensor a = Pattern(DType::kFloat32, c.a, 1);
      TestTensor b = Pattern(DType::kFloat32, c.b, 2);
      if (binary.op == "Div") {
        b = TensorOf(DType::kFloat32, c.b,
                     MapAll(b, [](double x) { return x == 0 ? 1 : x; }));
      }
      const TestTensor y = MustRunOp({.op = binary.op, .inputs = {a, b}});
      EXPECT_THAT(
          y, IsNear(TensorOf(DType::kFloat32, c.y, Reference(c, a, b, binary)),
                    ToleranceFor(DType::kFloat32, OpFamily::kArithmetic)))
          << binary.op << " " << c.a.ToString() << " " << c.b.ToString();
    }
  }
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

}  // namespace
}  // namespace tensord
