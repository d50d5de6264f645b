#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

namespace tensord {
namespace {

using ::testing::HasSubstr;
using Line = std::vector<std::complex<double>>;

// The definition, term by term.
Line Transform(const Line& x, bool is_inverse) {
  const auto length = static_cast<int64_t>(x.size());
  Line y(length);
  for (int64_t k = 0; k < length; ++k) {
    for (int64_t n = 0; n < length; ++n) {
      const double turns =
          static_cast<double>(k * n % length) / static_cast<double>(length);
      y[k] += x[n] *
              std::polar(1.0, (is_inverse ? 2 : -2) * std::numbers::pi * turns);
    }
    if (is_inverse) y[k] /= static_cast<double>(length);
  }
  return y;
}

// x as [outer, axis, inner] of numbers.
struct Lines {
  int64_t outer, extent, inner;
  bool is_complex;

  Lines(const Shape& shape, int axis)
      : outer(shape.ElementCount(0, axis)),
        extent(shape[axis]),
        inner(shape.ElementCount(axis + 1, shape.rank() - 1)),
        is_complex(shape[shape.rank() - 1] == 2) {}

  int64_t At(int64_t line, int64_t n) const {
    return ((line / inner * extent + n) * inner + line % inner) *
           (is_complex ? 2 : 1);
  }
};

struct DftCase {
  int64_t length = 0;  // 0: not given
  bool is_inverse = false;
  bool is_one_sided = false;
};

TestTensor Reference(const DftCase& c, const TestTensor& x, int axis) {
  const Lines from(x.shape, axis);
  const bool is_real = c.is_inverse && c.is_one_sided;
  int64_t length = is_real ? 2 * (from.extent - 1) : from.extent;
  if (c.length != 0) length = c.length;
  std::vector<int64_t> extents(x.shape.extents().begin(),
                               x.shape.extents().end());
  extents[axis] = c.is_one_sided && !c.is_inverse ? length / 2 + 1 : length;
  extents.back() = is_real ? 1 : 2;
  const Shape shape = *Shape::Create(extents);
  const Lines to(shape, axis);
  std::vector<double> y(shape.element_count());
  for (int64_t line = 0; line < from.outer * from.inner; ++line) {
    Line signal(length);
    for (int64_t n = 0; n < length; ++n) {
      const bool is_mirrored = is_real && n > length / 2;
      const int64_t at = is_mirrored ? length - n : n;
      if (at >= from.extent) continue;
      signal[n] = x.At(from.At(line, at));
      if (!from.is_complex) continue;
      const double imaginary = x.At(from.At(line, at) + 1);
      const bool has_none = is_real && (n == 0 || 2 * n == length);
      if (!has_none) signal[n].imag(is_mirrored ? -imaginary : imaginary);
    }
    const Line spectrum = Transform(signal, c.is_inverse);
    for (int64_t k = 0; k < to.extent; ++k) {
      y[to.At(line, k)] = spectrum[k].real();
      if (to.is_complex) y[to.At(line, k) + 1] = spectrum[k].imag();
    }
  }
  return TensorOf(x.dtype, shape, y);
}

// As operator set 20 has it.
OpCase MakeCase(const DftCase& c, TestTensor x, int64_t axis) {
  OpCase test = {
      .op = "DFT",
      .inputs = {std::move(x), TestTensor(), Tensor<int64_t>({}, {axis})},
      .attributes = {{"inverse", int64_t{c.is_inverse}},
                     {"onesided", int64_t{c.is_one_sided}}},
      .opset = 20,
      .constants = {2}};
  if (c.length != 0) {
    test.inputs[1] = Tensor<int64_t>({}, {c.length});
    test.constants.push_back(1);
  }
  return test;
}

void ExpectTheDefinition(const DftCase& c, const TestTensor& x, int axis) {
  // Errors are relative to the whole line, of which one number may be little.
  Tolerance tolerance = ToleranceFor(x.dtype, OpFamily::kContraction,
                                     std::max(c.length, x.shape[axis]));
  tolerance.absolute +=
      tolerance.relative * std::sqrt(static_cast<double>(x.shape[axis]));
  EXPECT_THAT(MustRunOp(MakeCase(c, x, axis)),
              IsNear(Reference(c, x, axis), tolerance))
      << "length " << c.length << " of " << x.shape.ToString() << " along "
      << axis << (c.is_inverse ? " inverse" : "")
      << (c.is_one_sided ? " one-sided" : "");
}

// Lengths of one, of every radix and their products, of primes above them.
std::vector<int64_t> Lengths() {
  std::vector<int64_t> lengths;
  for (int64_t length = 1; length <= 40; ++length) lengths.push_back(length);
  for (int64_t length :
       {64, 97, 100, 121, 169, 187, 210, 256, 289, 360, 1001}) {
    lengths.push_back(length);
  }
  return lengths;
}

TEST(DftTest, MatchesTheDefinitionAtEveryLength) {
  for (int64_t length : Lengths()) {
    for (DType dtype : {DType::kFloat32, DType::kFloat64}) {
      for (bool is_inverse : {false, true}) {
        ExpectTheDefinition({.is_inverse = is_inverse},
                            Pattern(dtype, {2, length, 2}), 1);
      }
      ExpectTheDefinition({.is_one_sided = true},
                          Pattern(dtype, {2, length, 1}), 1);
      ExpectTheDefinition(
          {.length = length, .is_inverse = true, .is_one_sided = true},
          Pattern(dtype, {2, length / 2 + 1, 2}), 1);
    }
  }
}

TEST(DftTest, EveryAxisAndDType) {
  for (DType dtype :
       {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16}) {
    for (int axis : {0, 1, 2}) {
      for (int64_t parts : {1, 2}) {
        const TestTensor x = Pattern(dtype, {3, 6, 5, parts});
        for (bool is_inverse : {false, true}) {
          ExpectTheDefinition({.is_inverse = is_inverse}, x, axis);
        }
        ExpectTheDefinition({.is_inverse = parts == 2, .is_one_sided = true}, x,
                            axis);
      }
    }
  }
}

TEST(DftTest, ALengthCutsOrAddsZeros) {
  for (int64_t length : {1, 2, 5, 8, 9, 17, 20}) {
    for (bool is_inverse : {false, true}) {
      ExpectTheDefinition({.length = length, .is_inverse = is_inverse},
                          Pattern(DType::kFloat32, {2, 8, 2}), 1);
      ExpectTheDefinition(
          {.length = length, .is_inverse = is_inverse, .is_one_sided = true},
          Pattern(DType::kFloat32, {2, 8, is_inverse ? 2 : 1}), 1);
    }
  }
}

TEST(DftTest, MoreLinesThanTasks) {
  ExpectTheDefinition({}, Pattern(DType::kFloat32, {7, 12, 11, 2}), 1);
}

TEST(DftTest, AxisWasAnAttributeWithAnotherDefault) {
  const TestTensor x = Pattern(DType::kFloat32, {3, 4, 5, 1});
  const auto old = [&](std::vector<std::pair<std::string, Attribute>> axis) {
    return MustRunOp({.op = "DFT",
                      .inputs = {x},
                      .attributes = std::move(axis),
                      .opset = 17});
  };
  EXPECT_THAT(old({}), IsNear(Reference({}, x, 1), {1e-5, 1e-5}));
  EXPECT_THAT(old({{"axis", int64_t{-4}}}),
              IsNear(Reference({}, x, 0), {1e-5, 1e-5}));
  EXPECT_THAT(MustRunOp({.op = "DFT", .inputs = {x}, .opset = 20}),
              IsNear(Reference({}, x, 2), {1e-5, 1e-5}));
}

TEST(DftTest, AHostileLengthIsNotQuadratic) {
  // A prime; term by term this would be 10^12 products.
  const int64_t length = 1000003;
  const TestTensor y =
      MustRunOp(MakeCase({.length = length}, Tensor({1, 2, 1}, {0, 1}), 1));
  ASSERT_EQ(y.shape, Shape({1, length, 2}));
  for (int64_t k : {int64_t{0}, int64_t{1}, length / 3, length - 1}) {
    const std::complex<double> expected =
        std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(k) /
                            static_cast<double>(length));
    EXPECT_NEAR(y.At(2 * k), expected.real(), 1e-4) << k;
    EXPECT_NEAR(y.At(2 * k + 1), expected.imag(), 1e-4) << k;
  }
}

TEST(DftTest, NoLinesGiveNothing) {
  EXPECT_EQ(MustRunOp(MakeCase({}, Tensor({0, 4, 1}, {}), 1)).shape,
            Shape({0, 4, 2}));
}

TEST(DftTest, NoLinesHaveNoTables) {
  const int64_t length = int64_t{1} << 40;
  EXPECT_EQ(
      MustRunOp(MakeCase({.length = length}, Tensor({0, 4, 1}, {}), 1)).shape,
      Shape({0, length, 2}));
}

TEST(DftTest, LengthsOfLargeTablesAreRefused) {
  const auto run = [](int64_t length) {
    return RunOp(MakeCase({.length = length}, Tensor({1, 2, 1}, {0, 1}), 1));
  };
  const int64_t most = int64_t{1} << 22;
  EXPECT_THAT(run(most), IsOk());
  EXPECT_THAT(run(most / 2 - 1), IsOk());  // 7 * 7 * 127 * 337
  EXPECT_THAT(run(most / 2 + 17),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("the transform's length 2097169 takes tables "
                                 "of 8388608 elements, above 4194304")));
  EXPECT_THAT(run(2 * most), StatusIs(absl::StatusCode::kResourceExhausted,
                                      HasSubstr("tables of 8388608 elements")));
}

struct StftCase {
  int64_t step;
  bool has_window;
  bool has_length;
  bool is_one_sided;
};

TEST(StftTest, FramesAreTransformedEachByItself) {
  constexpr int64_t kBatch = 2, kSignal = 50, kLength = 12;
  for (const StftCase& c : std::vector<StftCase>{{5, true, false, true},
                                                 {1, false, true, true},
                                                 {12, true, true, false},
                                                 {60, false, false, false}}) {
    for (int64_t parts : {1, 2}) {
      if (parts == 2 && c.is_one_sided) continue;
      for (DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16,
                          DType::kBFloat16}) {
        const TestTensor x = Pattern(dtype, {kBatch, kSignal, parts});
        const TestTensor window = Pattern(dtype, {kLength}, 2);
        const int64_t length = c.has_window || c.has_length ? kLength : kSignal;
        const int64_t frames = (kSignal - length) / c.step + 1;
        const int64_t bins = c.is_one_sided ? length / 2 + 1 : length;
        std::vector<double> expected;
        for (int64_t f = 0; f < kBatch * frames; ++f) {
          Line frame;
          for (int64_t n = 0; n < length; ++n) {
            const int64_t at = f / frames * kSignal + f % frames * c.step + n;
            frame.emplace_back(x.At(at * parts),
                               parts == 2 ? x.At(at * parts + 1) : 0);
            if (c.has_window) frame.back() *= window.At(n);
          }
          const Line spectrum = Transform(frame, false);
          for (int64_t k = 0; k < bins; ++k) {
            expected.push_back(spectrum[k].real());
            expected.push_back(spectrum[k].imag());
          }
        }
        OpCase test = {.op = "STFT",
                       .inputs = {x, Tensor<int64_t>({}, {c.step}),
                                  TestTensor(), TestTensor()},
                       .attributes = {{"onesided", int64_t{c.is_one_sided}}},
                       .constants = {1}};
        if (c.has_window) test.inputs[2] = window;
        if (c.has_length) {
          test.inputs[3] = Tensor<int32_t>({}, {kLength});
          test.constants.push_back(3);
        }
        Tolerance tolerance =
            ToleranceFor(dtype, OpFamily::kContraction, length);
        tolerance.absolute += 4 * tolerance.relative;
        EXPECT_THAT(MustRunOp(test),
                    IsNear(TensorOf(dtype, {kBatch, frames, bins, 2}, expected),
                           tolerance))
            << c.step << " " << parts;
      }
    }
  }
}

TEST(StftTest, NoSignalsHaveNoTables) {
  const int64_t length = int64_t{1} << 40;
  EXPECT_EQ(MustRunOp({.op = "STFT",
                       .inputs = {Tensor({0, length, 1}, {}),
                                  Tensor<int64_t>({}, {1})},
                       .constants = {1}})
                .shape,
            Shape({0, 1, length / 2 + 1, 2}));
}

}  // namespace
}  // namespace tensord
