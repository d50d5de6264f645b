#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

namespace tensord {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// One dimension of a case.
struct Axis {
  int64_t input, kernel, stride, dilation, pad_begin, pad_end;

  int64_t output() const {
    return (input + pad_begin + pad_end - dilation * (kernel - 1) - 1) /
               stride +
           1;
  }
};

struct DeformCase {
  std::vector<Axis> axes;
  int64_t batch = 1, channels = 1, outputs = 1, group = 1, offset_group = 1;
  bool has_bias = false, has_mask = false;

  int64_t Product(int64_t (*of)(const Axis&)) const {
    int64_t product = 1;
    for (const Axis& axis : axes) product *= of(axis);
    return product;
  }
  int64_t taps() const {
    return Product([](const Axis& axis) { return axis.kernel; });
  }
  int64_t places() const {
    return Product([](const Axis& axis) { return axis.output(); });
  }
  int64_t rank() const { return static_cast<int64_t>(axes.size()); }
};

template <typename Of>
Shape ShapeOf(int64_t first, int64_t second, const DeformCase& c, Of of) {
  std::vector<int64_t> extents = {first, second};
  for (const Axis& axis : c.axes) extents.push_back(of(axis));
  return *Shape::Create(extents);
}

OpCase MakeCase(const DeformCase& c, DType dtype) {
  const auto output = [](const Axis& axis) { return axis.output(); };
  OpCase test = {
      .op = "DeformConv",
      .inputs = {Pattern(dtype,
                         ShapeOf(c.batch, c.channels, c,
                                 [](const Axis& axis) { return axis.input; })),
                 Pattern(dtype,
                         ShapeOf(c.outputs, c.channels / c.group, c,
                                 [](const Axis& axis) { return axis.kernel; }),
                         2),
                 Pattern(dtype,
                         ShapeOf(c.batch, c.offset_group * c.taps() * c.rank(),
                                 c, output),
                         3),
                 TestTensor(), TestTensor()},
      .attributes = {{"group", c.group}, {"offset_group", c.offset_group}},
      .opset = 22};
  if (c.has_bias) test.inputs[3] = Pattern(dtype, {c.outputs}, 4);
  if (c.has_mask) {
    test.inputs[4] = Pattern(
        dtype, ShapeOf(c.batch, c.offset_group * c.taps(), c, output), 5);
  }
  std::vector<int64_t> strides, dilations, pads;
  for (const Axis& axis : c.axes) {
    strides.push_back(axis.stride);
    dilations.push_back(axis.dilation);
    pads.push_back(axis.pad_begin);
  }
  for (const Axis& axis : c.axes) pads.push_back(axis.pad_end);
  test.attributes.emplace_back("strides", strides);
  test.attributes.emplace_back("dilations", dilations);
  test.attributes.emplace_back("pads", pads);
  return test;
}

// x at a place between its elements, 0 around it; dimensions d and up.
double Sample(const DeformCase& c, const TestTensor& x,
              const std::vector<double>& place, size_t d, int64_t first) {
  if (d == place.size()) return x.At(first);
  double sum = 0;
  for (int64_t i = 0; i < c.axes[d].input; ++i) {
    const double share = 1 - std::abs(static_cast<double>(i) - place[d]);
    if (share <= 0) continue;
    sum += share * Sample(c, x, place, d + 1, first * c.axes[d].input + i);
  }
  return sum;
}

double ReferenceAt(const DeformCase& c, const OpCase& test, int64_t n,
                   int64_t m, int64_t o) {
  double sum = c.has_bias ? test.inputs[3].At(m) : 0;
  const int64_t group_channels = c.channels / c.group;
  for (int64_t k = 0; k < group_channels; ++k) {
    const int64_t channel = m / (c.outputs / c.group) * group_channels + k;
    const int64_t g = channel / (c.channels / c.offset_group);
    for (int64_t tap = 0; tap < c.taps(); ++tap) {
      std::vector<double> place(c.rank());
      int64_t rest_o = o;
      int64_t rest_tap = tap;
      const int64_t row = (n * c.offset_group + g) * c.taps() + tap;
      for (int64_t d = c.rank() - 1; d >= 0; --d) {
        const Axis& axis = c.axes[d];
        place[d] = static_cast<double>(rest_o % axis.output() * axis.stride +
                                       rest_tap % axis.kernel * axis.dilation -
                                       axis.pad_begin) +
                   test.inputs[2].At((row * c.rank() + d) * c.places() + o);
        rest_o /= axis.output();
        rest_tap /= axis.kernel;
      }
      const double mask =
          c.has_mask ? test.inputs[4].At(row * c.places() + o) : 1;
      sum += mask *
             test.inputs[1].At((m * group_channels + k) * c.taps() + tap) *
             Sample(c, test.inputs[0], place, 0, n * c.channels + channel);
    }
  }
  return sum;
}

void ExpectTheDefinition(const DeformCase& c, DType dtype) {
  const OpCase test = MakeCase(c, dtype);
  std::vector<double> expected;
  for (int64_t n = 0; n < c.batch; ++n) {
    for (int64_t m = 0; m < c.outputs; ++m) {
      for (int64_t o = 0; o < c.places(); ++o) {
        expected.push_back(ReferenceAt(c, test, n, m, o));
      }
    }
  }
  const Shape shape = ShapeOf(c.batch, c.outputs, c,
                              [](const Axis& axis) { return axis.output(); });
  EXPECT_THAT(MustRunOp(test),
              IsNear(TensorOf(dtype, shape, expected),
                     ToleranceFor(dtype, OpFamily::kContraction,
                                  c.channels / c.group * c.taps())));
}

TEST(DeformConvTest, MatchesTheDefinition) {
  const Axis kPlain = {5, 2, 1, 1, 0, 0};
  const Axis kOdd = {7, 3, 2, 2, 1, 2};
  const std::vector<DeformCase> cases = {
      {.axes = {kPlain, kPlain}},
      {.axes = {kOdd, kPlain},
       .batch = 2,
       .channels = 4,
       .outputs = 6,
       .group = 2,
       .has_bias = true},
      {.axes = {kPlain, kOdd},
       .batch = 2,
       .channels = 6,
       .outputs = 3,
       .group = 3,
       .offset_group = 2,
       .has_mask = true},
      {.axes = {{9, 3, 1, 1, 1, 1}, {9, 3, 1, 1, 1, 1}},
       .channels = 2,
       .outputs = 2,
       .offset_group = 2,
       .has_bias = true,
       .has_mask = true},
      {.axes = {kOdd}, .batch = 3, .channels = 2, .outputs = 2},
      {.axes = {{3, 2, 1, 1, 0, 1}, kPlain, {4, 1, 1, 1, 0, 0}},
       .channels = 2,
       .outputs = 2,
       .has_mask = true}};
  for (const DeformCase& c : cases) {
    for (DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16,
                        DType::kBFloat16}) {
      ExpectTheDefinition(c, dtype);
    }
  }
}

TEST(DeformConvTest, OffsetsThatAreNoNumbersReadZeros) {
  const DeformCase c = {.axes = {{3, 1, 1, 1, 0, 0}, {3, 1, 1, 1, 0, 0}}};
  for (float offset : {kInfinity, -kInfinity, NAN, 3e38f, -3e38f, 1e10f}) {
    OpCase test = MakeCase(c, DType::kFloat32);
    test.inputs[2] = TensorOf(DType::kFloat32, {1, 2, 3, 3},
                              std::vector<double>(18, offset));
    EXPECT_THAT(MustRunOp(test), Near(std::vector<double>(9, 0), 0)) << offset;
  }
}

TEST(DeformConvTest, NothingGivesNothing) {
  DeformCase c = {.axes = {{3, 1, 1, 1, 0, 0}, {3, 1, 1, 1, 0, 0}}};
  c.batch = 0;
  EXPECT_EQ(MustRunOp(MakeCase(c, DType::kFloat32)).shape, Shape({0, 1, 3, 3}));
}

}  // namespace
}  // namespace tensord
