#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

namespace tensord {
namespace {

using Ints = std::vector<int64_t>;

constexpr DType kBytes[] = {DType::kInt8, DType::kUInt8};

// All values of an 8-bit integer, mixed up.
TestTensor Bytes(DType dtype, const Shape& shape, uint64_t seed) {
  std::vector<double> values;
  uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  for (int64_t i = 0; i < shape.element_count(); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto byte = static_cast<uint8_t>(state >> 56);
    values.push_back(dtype == DType::kInt8 ? static_cast<int8_t>(byte) : byte);
  }
  return TensorOf(dtype, shape, values);
}

// Sums as int32 has them: wrapped around.
int32_t Wrap(int64_t sum) {
  return static_cast<int32_t>(static_cast<uint32_t>(sum));
}

int64_t ValueAt(const TestTensor& tensor, int64_t i, int64_t absent = 0) {
  return tensor.is_present() ? static_cast<int64_t>(tensor.At(i)) : absent;
}

// A zero point or scale of a line: the one, or the line's.
int64_t LineOf(const TestTensor& tensor, int64_t line) {
  return tensor.is_present() && tensor.shape.element_count() != 1 ? line : 0;
}

std::vector<int32_t> MatMulSums(const TestTensor& a, const TestTensor& b,
                                const TestTensor& a_zero,
                                const TestTensor& b_zero) {
  const int64_t m = a.shape[0], k = a.shape[1], n = b.shape[1];
  std::vector<int32_t> sums;
  for (int64_t r = 0; r < m; ++r) {
    for (int64_t c = 0; c < n; ++c) {
      int64_t sum = 0;
      for (int64_t t = 0; t < k; ++t) {
        sum += (ValueAt(a, r * k + t) - ValueAt(a_zero, LineOf(a_zero, r))) *
               (ValueAt(b, t * n + c) - ValueAt(b_zero, LineOf(b_zero, c)));
      }
      sums.push_back(Wrap(sum));
    }
  }
  return sums;
}

TEST(MatMulIntegerTest, IsExactAtOddSizes) {
  for (DType a_type : kBytes) {
    for (DType b_type : kBytes) {
      for (int64_t m : {1, 3, 4, 5, 130}) {
        for (int64_t n : {1, 7, 33, 129, 1100}) {
          for (int64_t k : {0, 1, 17, 257}) {
            if (m == 130 && n == 1100) continue;
            SCOPED_TRACE(absl::StrCat(DTypeName(a_type), " by ",
                                      DTypeName(b_type), ", ", m, "x", k, "x",
                                      n));
            const TestTensor a = Bytes(a_type, {m, k}, 1);
            const TestTensor b = Bytes(b_type, {k, n}, 2);
            const TestTensor a_zero = Bytes(a_type, {}, 3);
            const TestTensor b_zero = Bytes(b_type, {1}, 5);
            EXPECT_EQ(
                MustRunOp(
                    {.op = "MatMulInteger", .inputs = {a, b, a_zero, b_zero}}),
                Tensor<int32_t>({m, n}, MatMulSums(a, b, a_zero, b_zero)));
          }
        }
      }
    }
  }
}

TEST(MatMulIntegerTest, ExtremesOfZeroPointsAndElements) {
  // -128 - 127 and 255 - 0, the largest differences; 2000 of their products
  // fit, 40000 wrap around.
  for (int64_t m : {1, 6}) {
    for (int64_t k : {2000, 40000}) {
      const TestTensor a =
          TensorOf(DType::kInt8, {m, k}, std::vector<double>(m * k, -128));
      const TestTensor b =
          TensorOf(DType::kUInt8, {k, 1}, std::vector<double>(k, 255));
      const TestTensor a_zero = Tensor<int8_t>({}, {127});
      const TestTensor b_zero = Tensor<uint8_t>({}, {0});
      EXPECT_EQ(
          MustRunOp({.op = "MatMulInteger", .inputs = {a, b, a_zero, b_zero}}),
          Tensor<int32_t>(
              {m, 1}, std::vector<int32_t>(m, Wrap(int64_t{-255} * 255 * k))));
    }
  }
}

TEST(MatMulIntegerTest, ZeroPointsOfRowsAndColumns) {
  for (int64_t m : {3, 9}) {
    const TestTensor a = Bytes(DType::kUInt8, {m, 20}, 1);
    const TestTensor b = Bytes(DType::kInt8, {20, 40}, 2);
    for (const auto& [a_shape, b_shape] :
         {std::pair{Shape({m}), Shape({40})},
          std::pair{Shape({m, 1}), Shape({1, 40})},
          std::pair{Shape({m}), Shape({})}}) {
      const TestTensor a_zero = Bytes(DType::kUInt8, a_shape, 3);
      const TestTensor b_zero = Bytes(DType::kInt8, b_shape, 4);
      EXPECT_EQ(
          MustRunOp({.op = "MatMulInteger", .inputs = {a, b, a_zero, b_zero}}),
          Tensor<int32_t>({m, 40}, MatMulSums(a, b, a_zero, b_zero)));
    }
    EXPECT_EQ(MustRunOp({.op = "MatMulInteger", .inputs = {a, b}}),
              Tensor<int32_t>({m, 40}, MatMulSums(a, b, {}, {})));
    const TestTensor b_zero = Bytes(DType::kInt8, {40}, 4);
    EXPECT_EQ(MustRunOp({.op = "MatMulInteger",
                         .inputs = {a, b, TestTensor(), b_zero}}),
              Tensor<int32_t>({m, 40}, MatMulSums(a, b, {}, b_zero)));
  }
}

// Matrix `index` of a tensor as a tensor.
TestTensor MatrixOf(const TestTensor& tensor, int64_t index) {
  const int rank = tensor.shape.rank();
  const Shape shape({tensor.shape[rank - 2], tensor.shape[rank - 1]});
  std::vector<double> values;
  for (int64_t i = 0; i < shape.element_count(); ++i) {
    values.push_back(tensor.At(index * shape.element_count() + i));
  }
  return TensorOf(tensor.dtype, shape, values);
}

TEST(MatMulIntegerTest, BatchesAreBroadcastAndHaveTheirOwnZeroPoints) {
  for (int64_t m : {2, 8}) {
    const TestTensor a = Bytes(DType::kInt8, {2, 1, m, 5}, 1);
    const TestTensor b = Bytes(DType::kUInt8, {3, 5, 6}, 2);
    const TestTensor a_zero = Bytes(DType::kInt8, {2, 1, m, 1}, 3);
    const TestTensor b_zero = Bytes(DType::kUInt8, {3, 1, 6}, 4);
    std::vector<int32_t> expected;
    for (int64_t i = 0; i < 2; ++i) {
      for (int64_t j = 0; j < 3; ++j) {
        const std::vector<int32_t> sums =
            MatMulSums(MatrixOf(a, i), MatrixOf(b, j), MatrixOf(a_zero, i),
                       MatrixOf(b_zero, j));
        expected.insert(expected.end(), sums.begin(), sums.end());
      }
    }
    EXPECT_EQ(
        MustRunOp({.op = "MatMulInteger", .inputs = {a, b, a_zero, b_zero}}),
        Tensor<int32_t>({2, 3, m, 6}, expected));
  }
  // A row and a column.
  EXPECT_EQ(MustRunOp({.op = "MatMulInteger",
                       .inputs = {Tensor<uint8_t>({3}, {1, 2, 3}),
                                  Tensor<uint8_t>({3}, {4, 5, 6}),
                                  Tensor<uint8_t>({}, {1})}}),
            Tensor<int32_t>({}, {17}));
}

double Requantize(int64_t sum, float multiplier, int64_t zero, DType dtype) {
  const double y = std::nearbyint(static_cast<double>(sum) * multiplier) +
                   static_cast<double>(zero);
  return dtype == DType::kInt8 ? std::min(std::max(y, -128.0), 127.0)
                               : std::min(std::max(y, 0.0), 255.0);
}

TEST(QLinearMatMulTest, IsExactForEveryKindOfScale) {
  for (DType a_type : kBytes) {
    for (DType b_type : kBytes) {
      for (DType y_type : kBytes) {
        for (DType scale :
             {DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
          for (int64_t m : {2, 11}) {
            const int64_t k = 30, n = 21;
            const TestTensor a = Bytes(a_type, {m, k}, 1);
            const TestTensor b = Bytes(b_type, {k, n}, 2);
            const TestTensor a_zero = Bytes(a_type, {m}, 3);
            const TestTensor b_zero = Bytes(b_type, {1, n}, 4);
            const TestTensor y_zero = Bytes(y_type, {}, 5);
            std::vector<double> scales;
            for (int64_t i = 0; i < n; ++i) scales.push_back(0.01 + 0.003 * i);
            const TestTensor b_scale = TensorOf(scale, {1, n}, scales);
            scales.resize(m);
            const TestTensor a_scale = TensorOf(scale, {m}, scales);
            const TestTensor y_scale = TensorOf(scale, {1}, {0.7});
            const std::vector<int32_t> sums = MatMulSums(a, b, a_zero, b_zero);
            std::vector<double> expected;
            for (int64_t i = 0; i < m * n; ++i) {
              const float multiplier = static_cast<float>(a_scale.At(i / n)) *
                                       static_cast<float>(b_scale.At(i % n)) /
                                       static_cast<float>(y_scale.At(0));
              expected.push_back(
                  Requantize(sums[i], multiplier, ValueAt(y_zero, 0), y_type));
            }
            EXPECT_THAT(
                MustRunOp({.op = "QLinearMatMul",
                           .inputs = {a, a_scale, a_zero, b, b_scale, b_zero,
                                      y_scale, y_zero},
                           .opset = 21}),
                IsNear(TensorOf(y_type, {m, n}, expected), Tolerance{}));
          }
        }
      }
    }
  }
}

TEST(QLinearMatMulTest, HalvesGoToTheEvenNeighbourBeforeTheZeroPoint) {
  const auto run = [](uint8_t zero) {
    return MustRunOp(
        {.op = "QLinearMatMul",
         .inputs = {Tensor<uint8_t>({4, 1}, {1, 3, 5, 7}), Tensor({}, {1}),
                    Tensor<uint8_t>({}, {0}), Tensor<uint8_t>({1, 1}, {1}),
                    Tensor({}, {1}), Tensor<uint8_t>({}, {0}), Tensor({}, {2}),
                    Tensor<uint8_t>({}, {zero})}});
  };
  EXPECT_THAT(run(0), Near({0, 2, 2, 4}, 0));
  EXPECT_THAT(run(1), Near({1, 3, 3, 5}, 0));
}

TEST(QLinearMatMulTest, ScalesThatMakeNoSenseAreHarmless) {
  const auto run = [](float a_scale, float y_scale) {
    return MustRunOp(
        {.op = "QLinearMatMul",
         .inputs = {Tensor<uint8_t>({1, 1}, {1}), Tensor({}, {a_scale}),
                    Tensor<uint8_t>({}, {0}), Tensor<uint8_t>({1, 1}, {1}),
                    Tensor({}, {1}), Tensor<uint8_t>({}, {0}),
                    Tensor({}, {y_scale}), Tensor<uint8_t>({}, {9})}});
  };
  EXPECT_THAT(run(1, 0), Near({255}, 0));
  EXPECT_THAT(run(0, 0), Near({9}, 0));
  EXPECT_THAT(run(NAN, 1), Near({9}, 0));
  EXPECT_THAT(run(-INFINITY, 1), Near({0}, 0));
}

using Three = std::array<int64_t, 3>;

struct ConvCase {
  int spatial_rank = 2;
  int64_t images = 1;
  int64_t channels = 3;
  int64_t outputs = 5;
  int64_t group = 1;
  Three extent = {1, 6, 7};
  Three kernel = {1, 3, 3};
  Three stride = {1, 1, 1};
  Three dilation = {1, 1, 1};
  Three pad = {0, 0, 0};  // at both ends

  Three output() const {
    Three out;
    for (int i = 0; i < 3; ++i) {
      out[i] = (extent[i] + 2 * pad[i] - (kernel[i] - 1) * dilation[i] - 1) /
                   stride[i] +
               1;
    }
    return out;
  }
};

Shape ShapeOf(int64_t first, int64_t second, const Three& spatial, int rank) {
  Dims dims = {first, second};
  dims.insert(dims.end(), spatial.end() - rank, spatial.end());
  return Shape::Create(dims).value();
}

std::vector<std::pair<std::string, Attribute>> AttributesOf(const ConvCase& c) {
  const auto last = [&](const Three& all) {
    return Ints(all.end() - c.spatial_rank, all.end());
  };
  Ints pads = last(c.pad);
  pads.insert(pads.end(), pads.begin(), pads.end());
  return {{"strides", last(c.stride)},
          {"dilations", last(c.dilation)},
          {"pads", pads},
          {"group", c.group}};
}

std::vector<int64_t> ConvSums(const ConvCase& c, const TestTensor& x,
                              const TestTensor& w, const TestTensor& x_zero,
                              const TestTensor& w_zero) {
  const Three out = c.output();
  const int64_t group_channels = c.channels / c.group;
  std::vector<int64_t> sums;
  for (int64_t n = 0; n < c.images; ++n)
    for (int64_t m = 0; m < c.outputs; ++m)
      for (int64_t d = 0; d < out[0]; ++d)
        for (int64_t h = 0; h < out[1]; ++h)
          for (int64_t o = 0; o < out[2]; ++o) {
            int64_t sum = 0;
            int64_t w_index =
                m * group_channels * c.kernel[0] * c.kernel[1] * c.kernel[2];
            for (int64_t k = 0; k < group_channels; ++k)
              for (int64_t i = 0; i < c.kernel[0]; ++i)
                for (int64_t j = 0; j < c.kernel[1]; ++j)
                  for (int64_t l = 0; l < c.kernel[2]; ++l, ++w_index) {
                    const Three at = {
                        d * c.stride[0] - c.pad[0] + i * c.dilation[0],
                        h * c.stride[1] - c.pad[1] + j * c.dilation[1],
                        o * c.stride[2] - c.pad[2] + l * c.dilation[2]};
                    bool inside = true;
                    for (int a = 0; a < 3; ++a) {
                      inside &= at[a] >= 0 && at[a] < c.extent[a];
                    }
                    if (!inside) continue;
                    const int64_t channel =
                        m / (c.outputs / c.group) * group_channels + k;
                    const int64_t x_index =
                        (((n * c.channels + channel) * c.extent[0] + at[0]) *
                             c.extent[1] +
                         at[1]) *
                            c.extent[2] +
                        at[2];
                    sum += (ValueAt(x, x_index) - ValueAt(x_zero, 0)) *
                           (ValueAt(w, w_index) -
                            ValueAt(w_zero, LineOf(w_zero, m)));
                  }
            sums.push_back(sum);
          }
  return sums;
}

std::vector<ConvCase> ConvCases() {
  return {
      {},
      {.images = 2, .pad = {0, 2, 1}},
      {.outputs = 3, .stride = {1, 2, 3}, .pad = {0, 1, 1}},
      {.channels = 1, .outputs = 1, .kernel = {1, 1, 1}},
      {.channels = 40, .outputs = 17, .pad = {0, 1, 1}},
      {.images = 2, .channels = 6, .outputs = 10, .group = 2},
      {.channels = 4, .outputs = 4, .group = 4, .pad = {0, 1, 1}},
      {.extent = {1, 12, 13},
       .stride = {1, 2, 1},
       .dilation = {1, 2, 3},
       .pad = {0, 3, 4}},
      {.spatial_rank = 1, .extent = {1, 1, 300}, .kernel = {1, 1, 4}},
      {.spatial_rank = 3,
       .extent = {3, 4, 5},
       .kernel = {2, 2, 3},
       .pad = {1, 0, 1}},
      {.channels = 0},
      {.images = 0},
      {.outputs = 0},
  };
}

TEST(ConvIntegerTest, IsExact) {
  for (const ConvCase& c : ConvCases()) {
    for (DType x_type : kBytes) {
      for (DType w_type : kBytes) {
        const TestTensor x = Bytes(
            x_type, ShapeOf(c.images, c.channels, c.extent, c.spatial_rank), 1);
        const TestTensor w = Bytes(
            w_type,
            ShapeOf(c.outputs, c.channels / c.group, c.kernel, c.spatial_rank),
            2);
        const Shape y =
            ShapeOf(c.images, c.outputs, c.output(), c.spatial_rank);
        const TestTensor x_zero = Bytes(x_type, {}, 3);
        for (const TestTensor& w_zero : {Bytes(w_type, {c.outputs}, 4),
                                         Bytes(w_type, {1}, 5), TestTensor()}) {
          std::vector<int32_t> expected;
          for (int64_t sum : ConvSums(c, x, w, x_zero, w_zero)) {
            expected.push_back(Wrap(sum));
          }
          EXPECT_EQ(MustRunOp({.op = "ConvInteger",
                               .inputs = {x, w, x_zero, w_zero},
                               .attributes = AttributesOf(c)}),
                    Tensor<int32_t>(y, expected));
        }
        std::vector<int32_t> expected;
        for (int64_t sum : ConvSums(c, x, w, {}, {})) {
          expected.push_back(Wrap(sum));
        }
        EXPECT_EQ(MustRunOp({.op = "ConvInteger",
                             .inputs = {x, w},
                             .attributes = AttributesOf(c)}),
                  Tensor<int32_t>(y, expected));
      }
    }
  }
}

TEST(QLinearConvTest, IsExact) {
  for (const ConvCase& c : ConvCases()) {
    for (DType x_type : kBytes) {
      for (DType w_type : kBytes) {
        for (DType y_type : kBytes) {
          for (bool is_per_channel : {false, true}) {
            const Shape per = is_per_channel ? Shape({c.outputs}) : Shape({});
            const TestTensor x = Bytes(
                x_type, ShapeOf(c.images, c.channels, c.extent, c.spatial_rank),
                1);
            const TestTensor w = Bytes(w_type,
                                       ShapeOf(c.outputs, c.channels / c.group,
                                               c.kernel, c.spatial_rank),
                                       2);
            const TestTensor x_zero = Bytes(x_type, {}, 3);
            const TestTensor w_zero = Bytes(w_type, per, 4);
            const TestTensor y_zero = Bytes(y_type, {}, 5);
            std::vector<double> scales, biases;
            for (int64_t i = 0; i < c.outputs; ++i) {
              biases.push_back(1000.0 * (i - 2));
            }
            for (int64_t i = 0; i < per.element_count(); ++i) {
              scales.push_back(0.02 + 0.01 * i);
            }
            const TestTensor w_scale = TensorOf(DType::kFloat32, per, scales);
            const TestTensor bias =
                is_per_channel ? TensorOf(DType::kInt32, {c.outputs}, biases)
                               : TestTensor();
            const float x_scale = 0.3f, y_scale = 2.7f;
            const std::vector<int64_t> sums = ConvSums(c, x, w, x_zero, w_zero);
            const Three out = c.output();
            const int64_t plane = out[0] * out[1] * out[2];
            std::vector<double> expected;
            for (size_t i = 0; i < sums.size(); ++i) {
              const int64_t m = i / plane % c.outputs;
              const float multiplier =
                  x_scale *
                  static_cast<float>(w_scale.At(is_per_channel ? m : 0)) /
                  y_scale;
              expected.push_back(Requantize(sums[i] + ValueAt(bias, m),
                                            multiplier, ValueAt(y_zero, 0),
                                            y_type));
            }
            EXPECT_THAT(
                MustRunOp(
                    {.op = "QLinearConv",
                     .inputs = {x, Tensor({}, {x_scale}), x_zero, w, w_scale,
                                w_zero, Tensor({1}, {y_scale}), y_zero, bias},
                     .attributes = AttributesOf(c)}),
                IsNear(
                    TensorOf(y_type,
                             ShapeOf(c.images, c.outputs, out, c.spatial_rank),
                             expected),
                    Tolerance{}));
          }
        }
      }
    }
  }
}

TEST(QLinearConvTest, SumsWithTheBiasWrapAround) {
  const TestTensor y = MustRunOp(
      {.op = "QLinearConv",
       .inputs = {Tensor<uint8_t>({1, 1, 1}, {1}), Tensor({}, {1}),
                  Tensor<uint8_t>({}, {0}), Tensor<uint8_t>({1, 1, 1}, {1}),
                  Tensor({}, {1}), Tensor<uint8_t>({}, {0}),
                  Tensor({}, {0x1p24f}), Tensor<uint8_t>({}, {128}),
                  Tensor<int32_t>({1}, {2147483647})}});
  EXPECT_THAT(y, Near({0}, 0));
}

}  // namespace
}  // namespace tensord
