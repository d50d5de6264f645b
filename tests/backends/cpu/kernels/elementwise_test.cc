#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

// Relu and its like, Add and its like, Clip: each element by itself.
namespace tensord {
namespace {

using ::testing::HasSubstr;

constexpr DType kFloats[] = {DType::kFloat32, DType::kFloat64};
constexpr DType kIntegers[] = {DType::kInt8,   DType::kInt16, DType::kInt32,
                               DType::kInt64,  DType::kUInt8, DType::kUInt16,
                               DType::kUInt32, DType::kUInt64};
constexpr DType kSignedIntegers[] = {DType::kInt8, DType::kInt16, DType::kInt32,
                                     DType::kInt64};

// One past the grain as well, so that the work is shared out.
const Shape kShapes[] = {{}, {0}, {1}, {17}, {3, 0, 2}, {33000}};

std::vector<double> MapAll(const TestTensor& x,
                           const std::function<double(double)>& f) {
  std::vector<double> y;
  for (int64_t i = 0; i < x.shape.element_count(); ++i) y.push_back(f(x.At(i)));
  return y;
}

struct Unary {
  std::string op;
  std::function<double(double)> f;
  OpFamily family;
};

TEST(UnaryTest, MatchesTheMathematicsInFloatingPoint) {
  const Unary unaries[] = {
      {"Abs", [](double x) { return std::abs(x); }, OpFamily::kArithmetic},
      {"Exp", [](double x) { return std::exp(x); }, OpFamily::kTranscendental},
      {"LeakyRelu", [](double x) { return x < 0 ? 0.01f * x : x; },
       OpFamily::kArithmetic},
      {"Neg", [](double x) { return -x; }, OpFamily::kArithmetic},
      {"Relu", [](double x) { return std::max(x, 0.0); },
       OpFamily::kArithmetic},
      {"Sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); },
       OpFamily::kTranscendental},
      {"Tanh", [](double x) { return std::tanh(x); },
       OpFamily::kTranscendental}};
  for (const Unary& unary : unaries) {
    for (DType dtype : kFloats) {
      for (const Shape& shape : kShapes) {
        const TestTensor x = Pattern(dtype, shape);
        EXPECT_THAT(MustRunOp({.op = unary.op, .inputs = {x}}),
                    IsNear(TensorOf(dtype, shape, MapAll(x, unary.f)),
                           ToleranceFor(dtype, unary.family)))
            << unary.op << " " << shape.ToString();
      }
    }
  }
}

TEST(UnaryTest, IntegersAreExact) {
  const auto relu = [](double x) { return std::max(x, 0.0); };
  const auto abs = [](double x) { return std::abs(x); };
  for (DType dtype : kSignedIntegers) {
    const TestTensor x = TensorOf(dtype, {5}, {-128, -1, 0, 1, 127});
    EXPECT_EQ(MustRunOp({.op = "Relu", .inputs = {x}}),
              TensorOf(dtype, {5}, MapAll(x, relu)));
    if (dtype == DType::kInt8) continue;  // |-128| is next
    EXPECT_EQ(MustRunOp({.op = "Abs", .inputs = {x}}),
              TensorOf(dtype, {5}, MapAll(x, abs)));
  }
}

TEST(UnaryTest, TheLeastIntegerIsItsOwnNegativeAndModulus) {
  const TestTensor x = Tensor<int64_t>({1}, {INT64_MIN});
  EXPECT_EQ(MustRunOp({.op = "Neg", .inputs = {x}}), x);
  EXPECT_EQ(MustRunOp({.op = "Abs", .inputs = {x}}), x);
  const TestTensor narrow = Tensor<int8_t>({1}, {-128});
  EXPECT_EQ(MustRunOp({.op = "Neg", .inputs = {narrow}}), narrow);
  EXPECT_EQ(MustRunOp({.op = "Abs", .inputs = {narrow}}), narrow);
}

TEST(UnaryTest, HugeAndStrangeInputsStayDefined) {
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_THAT(MustRunOp({.op = "Sigmoid",
                         .inputs = {Tensor({4}, {-inf, -1e4f, 1e4f, inf})}}),
              Near({0, 0, 1, 1}, 0));
  EXPECT_THAT(MustRunOp({.op = "Relu", .inputs = {Tensor({1}, {NAN})}}),
              Near({NAN}, 0));
  EXPECT_THAT(MustRunOp({.op = "Sqrt", .inputs = {Tensor({2}, {4, -1})}}),
              Near({2, NAN}, 0));
}

TEST(UnaryTest, LeakyReluTakesItsSlope) {
  EXPECT_THAT(MustRunOp({.op = "LeakyRelu",
                         .inputs = {Tensor({2}, {-2, 3})},
                         .attributes = {{"alpha", 0.5f}}}),
              Near({-1, 3}, 0));
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

TEST(ClipTest, BothBoundsOneBoundAndNone) {
  const TestTensor x = Tensor({4}, {-3, -1, 1, 3});
  const TestTensor low = Tensor({}, {-2}), high = Tensor({}, {2});
  EXPECT_THAT(MustRunOp({.op = "Clip", .inputs = {x, low, high}}),
              Near({-2, -1, 1, 2}, 0));
  EXPECT_THAT(MustRunOp({.op = "Clip", .inputs = {x, low}}),
              Near({-2, -1, 1, 3}, 0));
  EXPECT_THAT(MustRunOp({.op = "Clip", .inputs = {x, TestTensor(), high}}),
              Near({-3, -1, 1, 2}, 0));
  EXPECT_EQ(MustRunOp({.op = "Clip", .inputs = {x}}), x);
  EXPECT_THAT(MustRunOp({.op = "Clip", .inputs = {x, high, low}}),
              Near({-2, -2, -2, -2}, 0));
}

TEST(ClipTest, BoundsThatWereAttributesBecomeInputs) {
  EXPECT_THAT(MustRunOp({.op = "Clip",
                         .inputs = {Tensor({3}, {-3, 0, 9})},
                         .attributes = {{"max", 6.0f}, {"min", 0.0f}},
                         .opset = 9}),
              Near({0, 0, 6}, 0));
  EXPECT_THAT(MustRunOp({.op = "Clip",
                         .inputs = {Tensor({3}, {-3, 0, 9})},
                         .attributes = {{"max", 6.0f}},
                         .opset = 9}),
              Near({-3, 0, 6}, 0));
}

TEST(ClipTest, IntegersAndNaN) {
  EXPECT_EQ(MustRunOp({.op = "Clip",
                       .inputs = {Tensor<uint8_t>({3}, {0, 100, 255}),
                                  Tensor<uint8_t>({}, {10}),
                                  Tensor<uint8_t>({}, {200})}}),
            Tensor<uint8_t>({3}, {10, 100, 200}));
  EXPECT_THAT(MustRunOp({.op = "Clip",
                         .inputs = {Tensor({1}, {NAN}), Tensor({}, {0})}}),
              Near({NAN}, 0));
}

}  // namespace
}  // namespace tensord
