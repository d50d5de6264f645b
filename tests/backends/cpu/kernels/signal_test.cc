#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

// Windows and mel weights.
namespace tensord {
namespace {

using ::testing::HasSubstr;

constexpr double kTurn = 2 * std::numbers::pi;
// Of ONNX's DataType.
constexpr int64_t kFloatNumber = 1;
constexpr int64_t kInt32Number = 6;
constexpr int64_t kFloat16Number = 10;
constexpr int64_t kDoubleNumber = 11;
constexpr int64_t kBFloat16Number = 16;

TestTensor Window(const std::string& op, int64_t size, bool is_periodic,
                  int64_t output_dtype = kFloatNumber) {
  return MustRunOp({.op = op,
                    .inputs = {Tensor<int64_t>({}, {size})},
                    .attributes = {{"periodic", int64_t{is_periodic}},
                                   {"output_datatype", output_dtype}},
                    .constants = {0}});
}

double Formula(const std::string& op, double phase) {
  if (op == "HannWindow") return std::pow(std::sin(kTurn * phase / 2), 2);
  if (op == "HammingWindow") {
    return 25.0 / 46 - 21.0 / 46 * std::cos(kTurn * phase);
  }
  return 0.42 - 0.5 * std::cos(kTurn * phase) +
         0.08 * std::cos(2 * kTurn * phase);
}

TEST(WindowTest, MatchesTheFormulas) {
  for (const char* op : {"HannWindow", "HammingWindow", "BlackmanWindow"}) {
    for (int64_t size : {1, 2, 3, 10, 17, 5000}) {
      for (bool is_periodic : {false, true}) {
        if (size == 1 && !is_periodic) continue;
        std::vector<double> expected;
        for (int64_t n = 0; n < size; ++n) {
          expected.push_back(
              Formula(op, static_cast<double>(n) /
                              static_cast<double>(size - !is_periodic)));
        }
        for (auto [number, dtype] :
             {std::pair(kFloatNumber, DType::kFloat32),
              std::pair(kDoubleNumber, DType::kFloat64),
              std::pair(kFloat16Number, DType::kFloat16),
              std::pair(kBFloat16Number, DType::kBFloat16)}) {
          EXPECT_THAT(Window(op, size, is_periodic, number),
                      IsNear(TensorOf(dtype, {size}, expected),
                             ToleranceFor(dtype, OpFamily::kTranscendental)))
              << op << " " << size << " " << is_periodic;
        }
      }
    }
  }
}

TEST(WindowTest, SizesWithoutAPeriod) {
  for (const char* op : {"HannWindow", "HammingWindow", "BlackmanWindow"}) {
    EXPECT_THAT(Window(op, 1, false), Near({1}, 0)) << op;
    EXPECT_EQ(Window(op, 0, true).shape, Shape({0})) << op;
    EXPECT_EQ(Window(op, 0, false).shape, Shape({0})) << op;
  }
}

TEST(WindowTest, IntegersTakeTheIntegerPart) {
  EXPECT_THAT(Window("HannWindow", 4, true, kInt32Number),
              Near({0, 0, 1, 0}, 0));
}

OpCase MelCase(int64_t bands, int64_t length, int64_t rate, double lower,
               double upper) {
  return {.op = "MelWeightMatrix",
          .inputs = {Tensor<int64_t>({}, {bands}),
                     Tensor<int32_t>({}, {static_cast<int32_t>(length)}),
                     Tensor<int64_t>({}, {rate}),
                     TensorOf(DType::kFloat64, {}, {lower}),
                     TensorOf(DType::kFloat32, {}, {upper})},
          .constants = {0, 1}};
}

std::vector<double> MelReference(int64_t bands, int64_t length, double rate,
                                 double lower, double upper) {
  const auto mel = [](double f) { return 2595 * std::log10(1 + f / 700); };
  std::vector<int64_t> edges;
  for (int64_t i = 0; i < bands + 2; ++i) {
    const double at = mel(lower) + static_cast<double>(i) *
                                       (mel(upper) - mel(lower)) /
                                       static_cast<double>(bands + 2);
    const double hertz = 700 * (std::pow(10, at / 2595) - 1);
    edges.push_back(static_cast<int64_t>(
        std::floor(static_cast<double>(length + 1) * hertz / rate)));
  }
  std::vector<double> y;
  for (int64_t row = 0; row < length / 2 + 1; ++row) {
    for (int64_t i = 0; i < bands; ++i) {
      const int64_t left = edges[i], middle = edges[i + 1],
                    right = edges[i + 2];
      double weight = 0;
      if (row == middle) {
        weight = 1;
      } else if (row >= left && row < middle) {
        weight = static_cast<double>(row - left) /
                 static_cast<double>(middle - left);
      } else if (row > middle && row < right) {
        weight = static_cast<double>(right - row) /
                 static_cast<double>(right - middle);
      }
      y.push_back(weight);
    }
  }
  return y;
}

TEST(MelWeightMatrixTest, TrianglesBetweenTheEdges) {
  struct Case {
    int64_t bands, length;
    double rate, lower, upper;
  };
  for (const Case& c :
       {Case{8, 16, 8192, 0, 4096}, Case{10, 512, 16000, 20, 7600},
        // Bands above the spectrum's end, and narrow ones.
        Case{40, 101, 8000, 100, 20000}, Case{3, 1, 8000, 0, 4000},
        Case{2, 64, 8000, 440, 440}}) {
    EXPECT_THAT(
        MustRunOp(MelCase(c.bands, c.length, static_cast<int64_t>(c.rate),
                          c.lower, c.upper)),
        IsNear(
            TensorOf(DType::kFloat32, {c.length / 2 + 1, c.bands},
                     MelReference(c.bands, c.length, c.rate, c.lower, c.upper)),
            {1e-6, 1e-6}))
        << c.bands << " " << c.length;
  }
}

TEST(MelWeightMatrixTest, NumbersThatAreNoSoundAreRefused) {
  const auto refusal = [](const std::string& text) {
    return StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(text));
  };
  EXPECT_THAT(RunOp(MelCase(4, 16, 0, 0, 100)),
              refusal("sample rate 0 is below 1"));
  EXPECT_THAT(RunOp(MelCase(4, 16, -8000, 0, 100)),
              refusal("sample rate -8000"));
  EXPECT_THAT(RunOp(MelCase(4, 16, 8000, 200, 100)),
              refusal("edges at 200 and 100 hertz"));
  EXPECT_THAT(RunOp(MelCase(4, 16, 8000, -1, 100)), refusal("edges at -1"));
  EXPECT_THAT(RunOp(MelCase(4, 16, 8000, NAN, 100)), refusal("edges at nan"));
  EXPECT_THAT(RunOp(MelCase(4, 16, 8000, 0, INFINITY)),
              refusal("edges at 0 and inf"));
}

TEST(MelWeightMatrixTest, AnyFrequencyEnds) {
  OpCase test = MelCase(4, 16, 1, 0, 3e38);
  test.inputs[3] = TensorOf(DType::kFloat64, {}, {1e300});
  test.inputs[4] = TensorOf(DType::kFloat64, {}, {1.7e308});
  test.attributes = {{"output_datatype", kInt32Number}};
  EXPECT_EQ(MustRunOp(test).shape, Shape({9, 4}));
}

}  // namespace
}  // namespace tensord
