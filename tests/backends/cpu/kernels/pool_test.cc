#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

namespace tensord {
namespace {

using Ints = std::vector<int64_t>;

struct PoolCase {
  Ints extents;
  Ints kernel;
  Ints strides;
  Ints dilations;
  Ints pads;
  bool ceil_mode = false;
  bool count_include_pad = false;
  int64_t p = 2;  // LpPool
};

enum class Kind { kMax, kAverage, kNorm };
const char* NameOf(Kind kind) {
  return kind == Kind::kMax       ? "MaxPool"
         : kind == Kind::kAverage ? "AveragePool"
                                  : "LpPool";
}

// The output extents and values by the definition, over any number of
// dimensions.
struct Expected {
  Dims shape;
  std::vector<double> values;
};

Expected Reference(const PoolCase& c, const TestTensor& x, Kind kind,
                   int64_t planes) {
  const size_t rank = c.extents.size();
  Expected expected{.shape = {x.shape[0], x.shape[1]}, .values = {}};
  int64_t inputs = 1, outputs = 1;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t span = (c.kernel[i] - 1) * c.dilations[i] + 1;
    const int64_t room = c.extents[i] + c.pads[i] + c.pads[rank + i] - span;
    int64_t count = room / c.strides[i] + 1;
    if (c.ceil_mode && room % c.strides[i] != 0 &&
        count * c.strides[i] < c.extents[i] + c.pads[i]) {
      ++count;
    }
    expected.shape.push_back(count);
    inputs *= c.extents[i];
    outputs *= count;
  }
  int64_t taps = 1;
  for (int64_t k : c.kernel) taps *= k;
  for (int64_t p = 0; p < planes; ++p) {
    for (int64_t o = 0; o < outputs; ++o) {
      double maximum = -INFINITY, sum = 0, powers = 0;
      int64_t inside_count = 0, padded_count = 0;
      for (int64_t t = 0; t < taps; ++t) {
        int64_t o_rest = o, t_rest = t, stride = 1, index = 0;
        bool is_inside = true, is_padded = true;
        for (size_t i = rank; i-- > 0;) {
          const int64_t out = expected.shape[2 + i];
          const int64_t at = o_rest % out * c.strides[i] +
                             t_rest % c.kernel[i] * c.dilations[i] - c.pads[i];
          o_rest /= out;
          t_rest /= c.kernel[i];
          is_inside &= at >= 0 && at < c.extents[i];
          is_padded &= at < c.extents[i] + c.pads[rank + i];
          index += at * stride;
          stride *= c.extents[i];
        }
        padded_count += is_padded;
        if (!is_inside) continue;
        ++inside_count;
        maximum = std::max(maximum, x.At(p * inputs + index));
        sum += x.At(p * inputs + index);
        powers += std::pow(std::abs(x.At(p * inputs + index)), c.p);
      }
      const int64_t divisor = c.count_include_pad ? padded_count : inside_count;
      expected.values.push_back(kind == Kind::kMax ? maximum
                                : kind == Kind::kAverage
                                    ? sum / divisor
                                    : std::pow(powers, 1.0 / c.p));
    }
  }
  return expected;
}

void ExpectMatchesReference(const PoolCase& c, Kind kind,
                            DType dtype = DType::kFloat32) {
  Dims dims = {2, 3};
  dims.insert(dims.end(), c.extents.begin(), c.extents.end());
  const TestTensor x = Pattern(dtype, Shape::Create(dims).value());
  OpCase test{.op = NameOf(kind),
              .inputs = {x},
              .attributes = {{"kernel_shape", c.kernel},
                             {"strides", c.strides},
                             {"dilations", c.dilations},
                             {"pads", c.pads},
                             {"ceil_mode", int64_t{c.ceil_mode}}},
              .opset = 22};
  if (kind == Kind::kAverage) {
    test.attributes.push_back(
        {"count_include_pad", int64_t{c.count_include_pad}});
  }
  if (kind == Kind::kNorm) test.attributes.push_back({"p", c.p});
  const Expected expected = Reference(c, x, kind, 6);
  EXPECT_THAT(MustRunOp(test),
              IsNear(TensorOf(dtype, Shape::Create(expected.shape).value(),
                              expected.values),
                     ToleranceFor(dtype, OpFamily::kReduction)))
      << test.op << " of " << testing::PrintToString(c.extents) << ", kernel "
      << testing::PrintToString(c.kernel) << ", pads "
      << testing::PrintToString(c.pads) << (c.ceil_mode ? ", ceil" : "");
}

TEST(PoolTest, MatchesTheDefinitionOverOneToThreeDimensions) {
  for (Kind kind : {Kind::kMax, Kind::kAverage, Kind::kNorm}) {
    for (bool ceil_mode : {false, true}) {
      for (bool count_include_pad : {false, true}) {
        for (int64_t extent : {3, 4, 5, 17}) {
          for (int64_t stride : {1, 2, 3}) {
            ExpectMatchesReference({.extents = {extent, 6},
                                    .kernel = {3, 2},
                                    .strides = {stride, 2},
                                    .dilations = {1, 2},
                                    .pads = {1, 0, 1, 1},
                                    .ceil_mode = ceil_mode,
                                    .count_include_pad = count_include_pad},
                                   kind);
          }
        }
        ExpectMatchesReference({.extents = {9},
                                .kernel = {2},
                                .strides = {3},
                                .dilations = {1},
                                .pads = {0, 1},
                                .ceil_mode = ceil_mode,
                                .count_include_pad = count_include_pad},
                               kind);
        ExpectMatchesReference({.extents = {4, 5, 6},
                                .kernel = {2, 3, 2},
                                .strides = {2, 1, 3},
                                .dilations = {1, 2, 1},
                                .pads = {1, 2, 0, 0, 1, 1},
                                .ceil_mode = ceil_mode,
                                .count_include_pad = count_include_pad},
                               kind);
      }
    }
  }
}

TEST(PoolTest, OtherDTypes) {
  const PoolCase c = {.extents = {5, 6},
                      .kernel = {3, 3},
                      .strides = {2, 2},
                      .dilations = {1, 1},
                      .pads = {1, 1, 1, 1}};
  for (DType dtype : {DType::kFloat64, DType::kFloat16, DType::kBFloat16}) {
    for (Kind kind : {Kind::kMax, Kind::kAverage, Kind::kNorm}) {
      ExpectMatchesReference(c, kind, dtype);
    }
  }
  ExpectMatchesReference(c, Kind::kMax, DType::kInt8);
  ExpectMatchesReference(c, Kind::kMax, DType::kUInt8);
}

TEST(PoolTest, NormsOfAnyOrder) {
  for (int64_t p : {1, 2, 3, 7}) {
    ExpectMatchesReference({.extents = {5, 6},
                            .kernel = {3, 2},
                            .strides = {1, 2},
                            .dilations = {1, 2},
                            .pads = {1, 0, 0, 1},
                            .p = p},
                           Kind::kNorm);
  }
}

TEST(PoolTest, SixteenBitFloatsAreSummedUpInFull) {
  // 2048 + 1 + 1 is 2050 in float32; float16 alone would stay at 2048.
  const TestTensor x = TensorOf(DType::kFloat16, {1, 1, 3}, {2048, 1, 1});
  const auto run = [&](const char* op) {
    return MustRunOp(
        {.op = op, .inputs = {x}, .attributes = {{"kernel_shape", Ints{3}}}});
  };
  EXPECT_THAT(run("AveragePool"), Near({683.5}, 0));
  EXPECT_THAT(MustRunOp({.op = "GlobalAveragePool", .inputs = {x}}),
              Near({683.5}, 0));
  EXPECT_THAT(MustRunOp({.op = "GlobalLpPool",
                         .inputs = {x},
                         .attributes = {{"p", int64_t{1}}}}),
              Near({2050}, 0));
}

TEST(PoolTest, AWindowOfPaddingAloneIsTheLeastValueOrZero) {
  const OpCase test{
      .op = "MaxPool",
      .inputs = {Tensor({1, 1, 1}, {7})},
      .attributes = {{"kernel_shape", Ints{2}}, {"pads", Ints{2, 0}}}};
  EXPECT_THAT(MustRunOp(test), Near({-INFINITY, 7}, 0));
  OpCase average = test;
  average.op = "AveragePool";
  EXPECT_THAT(MustRunOp(average), Near({0, 7}, 0));
  OpCase bytes = test;
  bytes.inputs = {Tensor<int8_t>({1, 1, 1}, {7})};
  EXPECT_THAT(MustRunOp(bytes), Near({-128, 7}, 0));
}

TEST(PoolTest, AutoPadKeepsTheExtentOverTheStride) {
  for (const char* op : {"MaxPool", "AveragePool"}) {
    const TestTensor y =
        MustRunOp({.op = op,
                   .inputs = {Pattern(DType::kFloat32, {1, 1, 5, 4})},
                   .attributes = {{"kernel_shape", Ints{3, 3}},
                                  {"strides", Ints{2, 2}},
                                  {"auto_pad", std::string("SAME_UPPER")}}});
    EXPECT_EQ(y.shape, Shape({1, 1, 3, 2})) << op;
  }
}

TEST(PoolTest, EmptyBatchesAndChannels) {
  for (const Shape& shape : {Shape({0, 3, 4}), Shape({2, 0, 4})}) {
    const TestTensor y = MustRunOp({.op = "MaxPool",
                                    .inputs = {Pattern(DType::kFloat32, shape)},
                                    .attributes = {{"kernel_shape", Ints{2}}}});
    EXPECT_EQ(y.shape, Shape({shape[0], shape[1], 3}));
  }
}

TEST(GlobalPoolTest, MatchesTheDefinition) {
  for (const Shape& shape :
       {Shape({2, 3, 1}), Shape({2, 3, 17}), Shape({1, 5, 7, 7}),
        Shape({0, 3, 4}), Shape({2, 3, 2, 2, 3})}) {
    for (DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16,
                        DType::kBFloat16}) {
      const TestTensor x = Pattern(dtype, shape);
      const int64_t inner = shape.ElementCount(2, shape.rank());
      std::vector<double> maxima, means, norms, cubic_norms;
      for (int64_t p = 0; p < shape[0] * shape[1]; ++p) {
        double maximum = -INFINITY, sum = 0, squares = 0, cubes = 0;
        for (int64_t i = 0; i < inner; ++i) {
          const double element = x.At(p * inner + i);
          maximum = std::max(maximum, element);
          sum += element;
          squares += element * element;
          cubes += std::abs(element * element * element);
        }
        maxima.push_back(maximum);
        means.push_back(sum / inner);
        norms.push_back(std::sqrt(squares));
        cubic_norms.push_back(std::cbrt(cubes));
      }
      const Tolerance tolerance = ToleranceFor(dtype, OpFamily::kReduction);
      Dims pooled = {shape[0], shape[1]};
      pooled.resize(shape.rank(), 1);
      const Shape y = Shape::Create(pooled).value();
      EXPECT_THAT(MustRunOp({.op = "GlobalMaxPool", .inputs = {x}}),
                  Near(maxima, 0));
      EXPECT_THAT(MustRunOp({.op = "GlobalAveragePool", .inputs = {x}}),
                  IsNear(TensorOf(dtype, y, means), tolerance));
      EXPECT_THAT(MustRunOp({.op = "GlobalLpPool", .inputs = {x}}),
                  IsNear(TensorOf(dtype, y, norms), tolerance));
      EXPECT_THAT(MustRunOp({.op = "GlobalLpPool",
                             .inputs = {x},
                             .attributes = {{"p", int64_t{3}}}}),
                  IsNear(TensorOf(dtype, y, cubic_norms), tolerance));
    }
  }
}

}  // namespace
}  // namespace tensord
