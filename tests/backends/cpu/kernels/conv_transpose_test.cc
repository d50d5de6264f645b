#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

namespace tensord {
namespace {

using Ints = std::vector<int64_t>;
using Three = std::array<int64_t, 3>;

// Spatial numbers are always three, those of missing dimensions in front.
struct TransposeCase {
  int spatial_rank = 2;
  int64_t images = 1;
  int64_t channels = 1;
  int64_t outputs = 1;
  int64_t group = 1;
  Three extent = {1, 1, 1};
  Three kernel = {1, 1, 1};
  Three stride = {1, 1, 1};
  Three dilation = {1, 1, 1};
  Three pad_begin = {0, 0, 0};
  Three pad_end = {0, 0, 0};
  Three output_padding = {0, 0, 0};
  bool has_bias = true;
};

Ints Last(const Three& all, int count) {
  return Ints(all.end() - count, all.end());
}

OpCase MakeCase(const TransposeCase& c, DType dtype) {
  Dims x = {c.images, c.channels};
  Dims w = {c.channels, c.outputs / c.group};
  Ints pads = Last(c.pad_begin, c.spatial_rank);
  const Ints ends = Last(c.pad_end, c.spatial_rank);
  pads.insert(pads.end(), ends.begin(), ends.end());
  for (int i = 3 - c.spatial_rank; i < 3; ++i) {
    x.push_back(c.extent[i]);
    w.push_back(c.kernel[i]);
  }
  OpCase test{
      .op = "ConvTranspose",
      .inputs = {Pattern(dtype, Shape::Create(x).value(), 1),
                 Pattern(dtype, Shape::Create(w).value(), 2)},
      .attributes = {{"strides", Last(c.stride, c.spatial_rank)},
                     {"dilations", Last(c.dilation, c.spatial_rank)},
                     {"pads", pads},
                     {"output_padding", Last(c.output_padding, c.spatial_rank)},
                     {"group", c.group}}};
  if (c.has_bias) test.inputs.push_back(Pattern(dtype, Shape({c.outputs}), 3));
  return test;
}

// The definition, in double: every input spreads the kernel.
std::vector<double> Reference(const TransposeCase& c, const OpCase& test) {
  Three out;
  for (int i = 0; i < 3; ++i) {
    out[i] = c.stride[i] * (c.extent[i] - 1) + c.output_padding[i] +
             (c.kernel[i] - 1) * c.dilation[i] + 1 - c.pad_begin[i] -
             c.pad_end[i];
  }
  const int64_t plane = out[0] * out[1] * out[2];
  std::vector<double> y(c.images * c.outputs * plane);
  for (size_t i = 0; i < y.size(); ++i) {
    y[i] = c.has_bias ? test.inputs[2].At(i / plane % c.outputs) : 0;
  }
  const int64_t group_outputs = c.outputs / c.group;
  int64_t x_index = 0;
  for (int64_t n = 0; n < c.images; ++n)
    for (int64_t k = 0; k < c.channels; ++k)
      for (int64_t d = 0; d < c.extent[0]; ++d)
        for (int64_t h = 0; h < c.extent[1]; ++h)
          for (int64_t w = 0; w < c.extent[2]; ++w, ++x_index) {
            int64_t w_index =
                k * group_outputs * c.kernel[0] * c.kernel[1] * c.kernel[2];
            for (int64_t m = 0; m < group_outputs; ++m)
              for (int64_t i = 0; i < c.kernel[0]; ++i)
                for (int64_t j = 0; j < c.kernel[1]; ++j)
                  for (int64_t l = 0; l < c.kernel[2]; ++l, ++w_index) {
                    const Three at = {
                        d * c.stride[0] + i * c.dilation[0] - c.pad_begin[0],
                        h * c.stride[1] + j * c.dilation[1] - c.pad_begin[1],
                        w * c.stride[2] + l * c.dilation[2] - c.pad_begin[2]};
                    bool inside = true;
                    for (int a = 0; a < 3; ++a) {
                      inside &= at[a] >= 0 && at[a] < out[a];
                    }
                    if (!inside) continue;
                    const int64_t channel =
                        k / (c.channels / c.group) * group_outputs + m;
                    y[(n * c.outputs + channel) * plane +
                      (at[0] * out[1] + at[1]) * out[2] + at[2]] +=
                        test.inputs[0].At(x_index) * test.inputs[1].At(w_index);
                  }
          }
  return y;
}

// Every sibling, with weights that are known ahead and ones that are not.
void ExpectMatchesReference(const TransposeCase& c,
                            DType dtype = DType::kFloat32) {
  OpCase test = MakeCase(c, dtype);
  const std::vector<double> expected = Reference(c, test);
  const int64_t depth =
      c.channels / c.group * c.kernel[0] * c.kernel[1] * c.kernel[2];
  for (bool is_constant : {false, true}) {
    test.constants = is_constant ? std::vector<int>{1} : std::vector<int>{};
    const auto all = RunOpOnEveryKernel(test);
    ASSERT_THAT(all, IsOk());
    for (const auto& [kernel, outputs] : *all) {
      ASSERT_EQ(outputs[0].shape.element_count(),
                static_cast<int64_t>(expected.size()));
      EXPECT_THAT(outputs[0],
                  IsNear(TensorOf(dtype, outputs[0].shape, expected),
                         ToleranceFor(dtype, OpFamily::kContraction, depth)))
          << kernel << (is_constant ? ", constant weights" : "");
    }
  }
}

TEST(ConvTransposeTest, EverySiblingMatchesTheDefinitionAtOddSizes) {
  for (int64_t channels : {1, 4, 17}) {
    for (int64_t outputs : {1, 3, 13}) {
      for (int64_t extent : {1, 2, 9}) {
        for (int64_t kernel : {1, 2, 3}) {
          for (int64_t stride : {1, 2, 3}) {
            SCOPED_TRACE(absl::StrCat(channels, "x", extent, "^2 -> ", outputs,
                                      ", kernel ", kernel, ", stride ",
                                      stride));
            ExpectMatchesReference({.channels = channels,
                                    .outputs = outputs,
                                    .extent = {1, extent, extent + 1},
                                    .kernel = {1, kernel, kernel},
                                    .stride = {1, stride, stride},
                                    .pad_end = {0, 0, kernel / 2}});
          }
        }
      }
    }
  }
}

TEST(ConvTransposeTest, PadsDilationsAndOutputPadding) {
  ExpectMatchesReference({.images = 2,
                          .channels = 5,
                          .outputs = 3,
                          .extent = {1, 6, 7},
                          .kernel = {1, 3, 4},
                          .stride = {1, 3, 2},
                          .dilation = {1, 2, 3},
                          .pad_begin = {0, 1, 2},
                          .pad_end = {0, 3, 0},
                          .output_padding = {0, 2, 1}});
  // Windows whose first rows are all cut off.
  ExpectMatchesReference({.channels = 4,
                          .outputs = 2,
                          .extent = {1, 5, 5},
                          .kernel = {1, 2, 2},
                          .pad_begin = {0, 3, 2},
                          .pad_end = {0, 1, 2},
                          .has_bias = false});
}

TEST(ConvTransposeTest, GroupsUseTheirOwnChannels) {
  ExpectMatchesReference({.images = 2,
                          .channels = 8,
                          .outputs = 6,
                          .group = 2,
                          .extent = {1, 3, 4},
                          .kernel = {1, 3, 2},
                          .stride = {1, 2, 1}});
  ExpectMatchesReference({.images = 2,
                          .channels = 5,
                          .outputs = 10,
                          .group = 5,
                          .extent = {1, 3, 4},
                          .kernel = {1, 4, 4},
                          .stride = {1, 2, 2},
                          .pad_begin = {0, 1, 1},
                          .pad_end = {0, 1, 1}});
}

TEST(ConvTransposeTest, OneAndThreeSpatialDimensions) {
  ExpectMatchesReference({.spatial_rank = 1,
                          .images = 2,
                          .channels = 4,
                          .outputs = 3,
                          .extent = {1, 1, 19},
                          .kernel = {1, 1, 5},
                          .stride = {1, 1, 3},
                          .pad_begin = {0, 0, 1},
                          .output_padding = {0, 0, 2}});
  ExpectMatchesReference({.spatial_rank = 3,
                          .images = 2,
                          .channels = 4,
                          .outputs = 3,
                          .extent = {3, 2, 4},
                          .kernel = {2, 3, 2},
                          .stride = {2, 1, 3},
                          .dilation = {1, 2, 1},
                          .pad_begin = {1, 0, 1},
                          .pad_end = {0, 2, 1}});
}

TEST(ConvTransposeTest, AProductOfSeveralStretchesIsAddedUp) {
  // 1024 * 1024 elements of product are in memory at once; here it has 512
  // rows of 63 * 45 columns, and stretches end within rows of the input.
  ExpectMatchesReference({.channels = 5,
                          .outputs = 32,
                          .extent = {1, 63, 45},
                          .kernel = {1, 4, 4},
                          .stride = {1, 2, 2}});
  // Rows of the output are longer than what is gathered at once.
  ExpectMatchesReference({.channels = 2,
                          .extent = {1, 2, 600},
                          .kernel = {1, 1, 3},
                          .stride = {1, 1, 2}});
}

TEST(ConvTransposeTest, OtherDTypesRoundOnce) {
  const TransposeCase c = {.channels = 6,
                           .outputs = 3,
                           .extent = {1, 4, 5},
                           .kernel = {1, 3, 3},
                           .stride = {1, 2, 2},
                           .pad_begin = {0, 1, 1},
                           .pad_end = {0, 1, 1}};
  ExpectMatchesReference(c, DType::kFloat64);
  ExpectMatchesReference(c, DType::kFloat16);
  ExpectMatchesReference(c, DType::kBFloat16);
  // 2048 + 1 + 1 is 2050 in float32; float16 alone would stay at 2048.
  EXPECT_THAT(
      MustRunOp({.op = "ConvTranspose",
                 .inputs = {TensorOf(DType::kFloat16, {1, 3, 1}, {2048, 1, 1}),
                            TensorOf(DType::kFloat16, {3, 1, 1}, {1, 1, 1})}}),
      Near({2050}, 0));
}

TEST(ConvTransposeTest, NoImagesAndNoChannelsAreFine) {
  ExpectMatchesReference({.images = 0,
                          .channels = 4,
                          .outputs = 2,
                          .extent = {1, 3, 3},
                          .kernel = {1, 2, 2}});
  ExpectMatchesReference({.images = 2,
                          .channels = 0,
                          .outputs = 2,
                          .extent = {1, 3, 3},
                          .kernel = {1, 2, 2}});
  ExpectMatchesReference({.images = 2,
                          .channels = 4,
                          .outputs = 0,
                          .extent = {1, 3, 3},
                          .kernel = {1, 2, 2}});
  // An extent of 0 still has what the kernel reaches past its stride.
  ExpectMatchesReference(
      {.channels = 4, .outputs = 2, .extent = {1, 0, 3}, .kernel = {1, 3, 2}});
}

// x = {1, 2, 3} with a kernel of {1, 10, 100} at stride 2 covers 1, 10, 102,
// 20, 203, 30, 300.
TestTensor RunSmall(const std::string& auto_pad, const Ints& output_shape,
                    int64_t stride = 2) {
  OpCase test{
      .op = "ConvTranspose",
      .inputs = {Tensor({1, 1, 3}, {1, 2, 3}), Tensor({1, 1, 3}, {1, 10, 100})},
      .attributes = {{"strides", Ints{stride}}, {"auto_pad", auto_pad}}};
  if (!output_shape.empty()) {
    test.attributes.push_back({"output_shape", output_shape});
  }
  return MustRunOp(test);
}

TEST(ConvTransposeTest, AutoPadGivesTheExtentTimesTheStride) {
  EXPECT_THAT(RunSmall("SAME_UPPER", {}), Near({1, 10, 102, 20, 203, 30}, 0));
  EXPECT_THAT(RunSmall("SAME_LOWER", {}), Near({10, 102, 20, 203, 30, 300}, 0));
  EXPECT_THAT(RunSmall("VALID", {}), Near({1, 10, 102, 20, 203, 30, 300}, 0));
  // The kernel is shorter than the stride.
  EXPECT_THAT(RunSmall("SAME_UPPER", {}, 4),
              Near({1, 10, 100, 0, 2, 20, 200, 0, 3, 30, 300, 0}, 0));
}

TEST(ConvTransposeTest, AnOutputShapeSaysWhatIsCutOff) {
  EXPECT_THAT(RunSmall("NOTSET", {6}), Near({10, 102, 20, 203, 30, 300}, 0));
  EXPECT_THAT(RunSmall("SAME_LOWER", {6}),
              Near({10, 102, 20, 203, 30, 300}, 0));
  EXPECT_THAT(RunSmall("SAME_UPPER", {6}), Near({1, 10, 102, 20, 203, 30}, 0));
  EXPECT_THAT(RunSmall("NOTSET", {5}), Near({10, 102, 20, 203, 30}, 0));
  // What is more than the kernel covers is at the end.
  EXPECT_THAT(RunSmall("NOTSET", {8}),
              Near({1, 10, 102, 20, 203, 30, 300, 0}, 0));
}

TEST(ConvTransposeTest, ANaNStaysWhereItReaches) {
  const TestTensor y = MustRunOp(
      {.op = "ConvTranspose",
       .inputs = {Tensor({1, 1, 3}, {NAN, 2, 3}), Tensor({1, 1, 2}, {1, 10})}});
  EXPECT_THAT(y, Near({NAN, NAN, 23, 30}, 0));
}

TEST(ConvTransposeTest, FourSpatialDimensionsHaveNoKernel) {
  EXPECT_THAT(RunOp({.op = "ConvTranspose",
                     .inputs = {Pattern(DType::kFloat32, {1, 1, 2, 2, 2, 2}),
                                Pattern(DType::kFloat32, {1, 1, 1, 1, 1, 1})}}),
              StatusIs(absl::StatusCode::kUnimplemented, ::testing::_));
}

}  // namespace
}  // namespace tensord
