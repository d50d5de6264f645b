#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

namespace tensord {
namespace {

using Ints = std::vector<int64_t>;

struct Window3 {
  std::array<int64_t, 3> extent = {1, 1, 1};
  std::array<int64_t, 3> kernel = {1, 1, 1};
  std::array<int64_t, 3> stride = {1, 1, 1};
  std::array<int64_t, 3> dilation = {1, 1, 1};
  std::array<int64_t, 3> pad = {0, 0, 0};  // at both ends
};

struct ConvCase {
  int spatial_rank = 2;
  int64_t images = 1;
  int64_t channels = 1;
  int64_t outputs = 1;
  int64_t group = 1;
  Window3 window;
  bool has_bias = true;
};

Ints Last(const std::array<int64_t, 3>& all, int count) {
  return Ints(all.end() - count, all.end());
}

OpCase MakeCase(const ConvCase& c) {
  Dims x = {c.images, c.channels};
  Dims w = {c.outputs, c.channels / c.group};
  Ints pads = Last(c.window.pad, c.spatial_rank);
  pads.insert(pads.end(), pads.begin(), pads.end());
  for (int i = 3 - c.spatial_rank; i < 3; ++i) {
    x.push_back(c.window.extent[i]);
    w.push_back(c.window.kernel[i]);
  }
  OpCase test{
      .op = "Conv",
      .inputs = {Pattern(DType::kFloat32, Shape::Create(x).value(), 1),
                 Pattern(DType::kFloat32, Shape::Create(w).value(), 2)},
      .attributes = {{"strides", Last(c.window.stride, c.spatial_rank)},
                     {"dilations", Last(c.window.dilation, c.spatial_rank)},
                     {"pads", pads},
                     {"group", c.group}}};
  if (c.has_bias) {
    test.inputs.push_back(Pattern(DType::kFloat32, Shape({c.outputs}), 3));
  }
  return test;
}

// The definition, in double.
std::vector<double> Reference(const ConvCase& c, const OpCase& test) {
  const Window3& v = c.window;
  std::array<int64_t, 3> out;
  for (int i = 0; i < 3; ++i) {
    out[i] =
        (v.extent[i] + 2 * v.pad[i] - (v.kernel[i] - 1) * v.dilation[i] - 1) /
            v.stride[i] +
        1;
  }
  const int64_t group_channels = c.channels / c.group;
  std::vector<double> y;
  for (int64_t n = 0; n < c.images; ++n)
    for (int64_t m = 0; m < c.outputs; ++m)
      for (int64_t d = 0; d < out[0]; ++d)
        for (int64_t h = 0; h < out[1]; ++h)
          for (int64_t w = 0; w < out[2]; ++w) {
            double sum = c.has_bias ? test.inputs[2].At(m) : 0;
            const int64_t first = m / (c.outputs / c.group) * group_channels;
            for (int64_t k = 0; k < group_channels; ++k)
              for (int64_t i = 0; i < v.kernel[0]; ++i)
                for (int64_t j = 0; j < v.kernel[1]; ++j)
                  for (int64_t l = 0; l < v.kernel[2]; ++l) {
                    const int64_t at[3] = {
                        d * v.stride[0] - v.pad[0] + i * v.dilation[0],
                        h * v.stride[1] - v.pad[1] + j * v.dilation[1],
                        w * v.stride[2] - v.pad[2] + l * v.dilation[2]};
                    bool inside = true;
                    for (int a = 0; a < 3; ++a) {
                      inside &= at[a] >= 0 && at[a] < v.extent[a];
                    }
                    if (!inside) continue;
                    const int64_t x_index =
                        (((n * c.channels + first + k) * v.extent[0] + at[0]) *
                             v.extent[1] +
                         at[1]) *
                            v.extent[2] +
                        at[2];
                    const int64_t w_index =
                        (((m * group_channels + k) * v.kernel[0] + i) *
                             v.kernel[1] +
                         j) *
                            v.kernel[2] +
                        l;
                    sum +=
                        test.inputs[0].At(x_index) * test.inputs[1].At(w_index);
                  }
            y.push_back(sum);
          }
  return y;
}

// Every sibling, with weights that are known ahead and ones that are not.
void ExpectMatchesReference(const ConvCase& c) {
  OpCase test = MakeCase(c);
  const std::vector<double> expected = Reference(c, test);
  const int64_t depth = c.channels / c.group * c.window.kernel[0] *
                        c.window.kernel[1] * c.window.kernel[2];
  for (bool is_constant : {false, true}) {
    test.constants = is_constant ? std::vector<int>{1} : std::vector<int>{};
    const auto all = RunOpOnEveryKernel(test);
    ASSERT_THAT(all, IsOk());
    for (const auto& [kernel, outputs] : *all) {
      EXPECT_THAT(
          outputs[0],
          IsNear(TensorOf(DType::kFloat32, outputs[0].shape, expected),
                 ToleranceFor(DType::kFloat32, OpFamily::kContraction, depth)))
          << kernel << (is_constant ? ", constant weights" : "");
    }
  }
}

std::vector<std::string> KernelNames(const ConvCase& c) {
  std::vector<std::string> names;
  const auto all = RunOpOnEveryKernel(MakeCase(c));
  if (all.ok()) {
    for (const auto& run : *all) names.push_back(run.kernel);
  }
  return names;
}

TEST(ConvTest, EverySiblingMatchesTheDefinitionAtOddSizes) {
  for (int64_t channels : {1, 3, 17}) {
    for (int64_t outputs : {1, 4, 13}) {
      for (int64_t extent : {1, 5, 17}) {
        for (int64_t kernel : {1, 3}) {
          for (int64_t stride : {1, 2, 3}) {
            SCOPED_TRACE(absl::StrCat(channels, "x", extent, "^2 -> ", outputs,
                                      ", kernel ", kernel, ", stride ",
                                      stride));
            ExpectMatchesReference(
                {.channels = channels,
                 .outputs = outputs,
                 .window = {.extent = {1, extent, extent},
                            .kernel = {1, kernel, kernel},
                            .stride = {1, stride, stride},
                            .pad = {0, kernel / 2, kernel / 2}}});
          }
        }
      }
    }
  }
}

TEST(ConvTest, DepthsAndColumnsPastOneBlockAreSummedUp) {
  // 192 is the block's depth, and 192 its columns.
  for (int64_t channels : {191, 192, 193, 400}) {
    ExpectMatchesReference({.channels = channels,
                            .outputs = 49,
                            .window = {.extent = {1, 15, 13}}});
  }
  ExpectMatchesReference(
      {.channels = 24,
       .outputs = 13,
       .window = {
           .extent = {1, 14, 15}, .kernel = {1, 3, 3}, .pad = {0, 1, 1}}});
}

TEST(ConvTest, GroupsUseTheirOwnChannels) {
  ExpectMatchesReference(
      {.images = 2,
       .channels = 8,
       .outputs = 12,
       .group = 2,
       .window = {.extent = {1, 6, 7}, .kernel = {1, 3, 2}, .pad = {0, 1, 1}}});
  ExpectMatchesReference({.images = 2,
                          .channels = 5,
                          .outputs = 10,
                          .group = 5,
                          .window = {.extent = {1, 6, 7},
                                     .kernel = {1, 3, 3},
                                     .stride = {1, 2, 1},
                                     .pad = {0, 1, 1}}});
}

TEST(ConvTest, OneAndThreeSpatialDimensions) {
  ExpectMatchesReference({.spatial_rank = 1,
                          .images = 2,
                          .channels = 3,
                          .outputs = 5,
                          .window = {.extent = {1, 1, 19},
                                     .kernel = {1, 1, 4},
                                     .stride = {1, 1, 2},
                                     .dilation = {1, 1, 3},
                                     .pad = {0, 0, 5}}});
  ExpectMatchesReference({.spatial_rank = 3,
                          .images = 2,
                          .channels = 3,
                          .outputs = 5,
                          .window = {.extent = {4, 5, 6},
                                     .kernel = {2, 3, 2},
                                     .stride = {1, 2, 1},
                                     .dilation = {2, 1, 1},
                                     .pad = {1, 1, 1}},
                          .has_bias = false});
}

TEST(ConvTest, WindowsThatLieInThePaddingAloneGiveTheBias) {
  ExpectMatchesReference(
      {.channels = 2,
       .outputs = 4,
       .window = {.extent = {1, 2, 2}, .kernel = {1, 2, 2}, .pad = {0, 4, 4}}});
}

TEST(ConvTest, NoImagesAndNoChannelsAreFine) {
  ExpectMatchesReference({.images = 0,
                          .channels = 2,
                          .outputs = 4,
                          .window = {.extent = {1, 3, 3}}});
  ExpectMatchesReference({.images = 2,
                          .channels = 0,
                          .outputs = 4,
                          .window = {.extent = {1, 3, 3}}});
  ExpectMatchesReference({.images = 2,
                          .channels = 3,
                          .outputs = 0,
                          .window = {.extent = {1, 3, 3}}});
}

TEST(ConvTest, AutoPadKeepsTheExtentOverTheStride) {
  for (const char* mode : {"SAME_UPPER", "SAME_LOWER"}) {
    const TestTensor y =
        MustRunOp({.op = "Conv",
                   .inputs = {Tensor({1, 1, 1, 5}, {1, 2, 3, 4, 5}),
                              Tensor({1, 1, 1, 2}, {1, 10})},
                   .attributes = {{"auto_pad", std::string(mode)}}});
    EXPECT_EQ(y.shape, Shape({1, 1, 1, 5}));
    if (std::string(mode) == "SAME_UPPER") {
      EXPECT_THAT(y, Near({21, 32, 43, 54, 5}, 0));
    } else {
      EXPECT_THAT(y, Near({10, 21, 32, 43, 54}, 0));
    }
  }
}

TEST(ConvTest, ThePlainProductIsOnlyForWindowsOfOneElement) {
  const Window3 one = {.extent = {1, 4, 4}};
  EXPECT_THAT(KernelNames({.channels = 4, .outputs = 4, .window = one}),
              ::testing::ElementsAre("conv_f32_1x1", "conv_f32_im2col",
                                     "conv_f32_direct"));
  Window3 strided = one;
  strided.stride = {1, 1, 2};
  EXPECT_THAT(KernelNames({.channels = 4, .outputs = 4, .window = strided}),
              ::testing::ElementsAre("conv_f32_im2col", "conv_f32_direct"));
  EXPECT_THAT(
      KernelNames({.channels = 4, .outputs = 4, .group = 4, .window = one}),
      ::testing::ElementsAre("conv_f32_direct"));
}

TEST(ConvTest, SixteenBitFloatsAreSummedUpInFull) {
  const ConvCase c = {.images = 2,
                      .channels = 6,
                      .outputs = 4,
                      .group = 2,
                      .window = {.extent = {1, 5, 300},
                                 .kernel = {1, 3, 2},
                                 .stride = {1, 2, 1},
                                 .dilation = {1, 1, 3},
                                 .pad = {0, 1, 2}}};
  for (DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    OpCase test = MakeCase(c);
    for (TestTensor& input : test.inputs) {
      std::vector<double> values;
      for (int64_t i = 0; i < input.shape.element_count(); ++i) {
        values.push_back(input.At(i));
      }
      input = TensorOf(dtype, input.shape, values);
    }
    const TestTensor y = MustRunOp(test);
    EXPECT_THAT(y, IsNear(TensorOf(dtype, y.shape, Reference(c, test)),
                          ToleranceFor(dtype, OpFamily::kContraction, 18)));
  }
  // 2048 + 1 + 1 is 2050 in float32; float16 alone would stay at 2048.
  EXPECT_THAT(
      MustRunOp({.op = "Conv",
                 .inputs = {TensorOf(DType::kFloat16, {1, 3, 1}, {2048, 1, 1}),
                            TensorOf(DType::kFloat16, {1, 3, 1}, {1, 1, 1})}}),
      Near({2050}, 0));
}

TEST(ConvTest, FourSpatialDimensionsHaveNoKernel) {
  EXPECT_THAT(RunOp({.op = "Conv",
                     .inputs = {Pattern(DType::kFloat32, {1, 1, 2, 2, 2, 2}),
                                Pattern(DType::kFloat32, {1, 1, 1, 1, 1, 1})}}),
              StatusIs(absl::StatusCode::kUnimplemented, ::testing::_));
}

}  // namespace
}  // namespace tensord
