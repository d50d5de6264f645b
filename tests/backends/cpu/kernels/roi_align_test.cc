#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

namespace tensord {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kBatch = 2, kChannels = 3, kHeight = 6, kWidth = 5;
constexpr int64_t kOutHeight = 3, kOutWidth = 2;
constexpr double kScale = 0.5;

struct RoiCase {
  bool takes_max;
  bool is_half_pixel;
  int64_t sampling_ratio;
};

// Inside, over each edge, far away, turned around, of no size. No sample is
// just an element away from the image, where rounding would decide.
const std::vector<double> kRois = {
    1,      2,  7,  9,  -4.125, -3,     6,      5, 4.125, 6, 16.125,
    20.125, 60, 60, 80, 90,     8.125,  10,     2, 4,     3, 3,
    3,      3,  0,  0,  10.125, 12.125, -2.125, 4, 13,    5};
const std::vector<int64_t> kBatches = {0, 1, 0, 1, 1, 0, 1, 0};
constexpr int64_t kRegions = 8;

OpCase MakeCase(const RoiCase& c, DType dtype) {
  return {.op = "RoiAlign",
          .inputs = {Pattern(dtype, {kBatch, kChannels, kHeight, kWidth}),
                     TensorOf(dtype, {kRegions, 4}, kRois),
                     Tensor<int64_t>({kRegions}, kBatches)},
          .attributes = {{"mode", std::string(c.takes_max ? "max" : "avg")},
                         {"coordinate_transformation_mode",
                          std::string(c.is_half_pixel ? "half_pixel"
                                                      : "output_half_pixel")},
                         {"output_height", kOutHeight},
                         {"output_width", kOutWidth},
                         {"sampling_ratio", c.sampling_ratio},
                         {"spatial_scale", static_cast<float>(kScale)}},
          .opset = 16};
}

// The four corners around a place times their weights; all 0 outside.
std::vector<double> Corners(const TestTensor& x, int64_t plane, double row,
                            double column) {
  if (row < -1 || row > kHeight || column < -1 || column > kWidth) {
    return {0, 0, 0, 0};
  }
  row = std::clamp<double>(row, 0, kHeight - 1);
  column = std::clamp<double>(column, 0, kWidth - 1);
  std::vector<double> corners;
  for (int64_t i : {0, 1}) {
    for (int64_t j : {0, 1}) {
      const auto r = static_cast<int64_t>(row) + i;
      const auto c = static_cast<int64_t>(column) + j;
      const double weight = (1 - std::abs(static_cast<double>(r) - row)) *
                            (1 - std::abs(static_cast<double>(c) - column));
      corners.push_back(weight == 0 ? 0
                                    : weight * x.At(plane * kHeight * kWidth +
                                                    r * kWidth + c));
    }
  }
  return corners;
}

double ReferenceBin(const RoiCase& c, const TestTensor& x, int64_t region,
                    int64_t channel, int64_t p, int64_t q) {
  const double shift = c.is_half_pixel ? 0.5 : 0;
  const double* roi = &kRois[region * 4];
  const double left = roi[0] * kScale - shift;
  const double top = roi[1] * kScale - shift;
  double width = roi[2] * kScale - shift - left;
  double height = roi[3] * kScale - shift - top;
  if (!c.is_half_pixel) {
    width = std::max(width, 1.0);
    height = std::max(height, 1.0);
  }
  width /= kOutWidth;
  height /= kOutHeight;
  const auto samples = [&](double length) {
    return c.sampling_ratio > 0
               ? c.sampling_ratio
               : std::max<int64_t>(0, static_cast<int64_t>(std::ceil(length)));
  };
  const int64_t rows = samples(height);
  const int64_t columns = samples(width);
  if (rows * columns == 0) return 0;
  const int64_t plane = kBatches[region] * kChannels + channel;
  double sum = 0;
  double most = -1e9;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      const double y =
          top + (static_cast<double>(p) +
                 (static_cast<double>(i) + 0.5) / static_cast<double>(rows)) *
                    height;
      const double at_x =
          left + (static_cast<double>(q) + (static_cast<double>(j) + 0.5) /
                                               static_cast<double>(columns)) *
                     width;
      for (double corner : Corners(x, plane, y, at_x)) {
        sum += corner;
        most = std::max(most, corner);
      }
    }
  }
  return c.takes_max ? most : sum / static_cast<double>(rows * columns);
}

std::vector<double> Reference(const RoiCase& c, const TestTensor& x) {
  std::vector<double> y;
  for (int64_t region = 0; region < kRegions; ++region) {
    for (int64_t channel = 0; channel < kChannels; ++channel) {
      for (int64_t p = 0; p < kOutHeight; ++p) {
        for (int64_t q = 0; q < kOutWidth; ++q) {
          y.push_back(ReferenceBin(c, x, region, channel, p, q));
        }
      }
    }
  }
  return y;
}

TEST(RoiAlignTest, MatchesTheDefinition) {
  for (bool takes_max : {false, true}) {
    for (bool is_half_pixel : {false, true}) {
      for (int64_t sampling_ratio : {0, 1, 2, 5}) {
        const RoiCase c = {takes_max, is_half_pixel, sampling_ratio};
        for (DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16,
                            DType::kBFloat16}) {
          const OpCase test = MakeCase(c, dtype);
          EXPECT_THAT(
              MustRunOp(test),
              IsNear(
                  TensorOf(dtype, {kRegions, kChannels, kOutHeight, kOutWidth},
                           Reference(c, test.inputs[0])),
                  ToleranceFor(dtype, OpFamily::kReduction, 25)))
              << takes_max << is_half_pixel << sampling_ratio;
        }
      }
    }
  }
}

TEST(RoiAlignTest, RegionsOfAnySizeEnd) {
  const float most = std::numeric_limits<float>::max();
  const float infinity = std::numeric_limits<float>::infinity();
  for (bool takes_max : {false, true}) {
    for (bool is_half_pixel : {false, true}) {
      for (int64_t sampling_ratio : {0, 3}) {
        OpCase test = MakeCase({takes_max, is_half_pixel, sampling_ratio},
                               DType::kFloat32);
        test.inputs[1] =
            Tensor({kRegions, 4}, {-most,     -most,  most,     most,      //
                                   0,         0,      1e15f,    1e15f,     //
                                   -1e30f,    -1e30f, 10,       10,        //
                                   infinity,  0,      1,        1,         //
                                   0,         0,      infinity, infinity,  //
                                   -infinity, 0,      infinity, 1,         //
                                   NAN,       NAN,    NAN,      NAN,       //
                                   0,         NAN,    4,        4});
        const TestTensor y = MustRunOp(test);
        for (float value : y.values<float>()) EXPECT_LE(std::abs(value), 2);
      }
    }
  }
}

TEST(RoiAlignTest, AnImageOutsideTheBatchIsRefused) {
  for (int64_t batch :
       {int64_t{-1}, kBatch, std::numeric_limits<int64_t>::min()}) {
    OpCase test = MakeCase({false, true, 0}, DType::kFloat32);
    std::vector<int64_t> batches = kBatches;
    batches[5] = batch;
    test.inputs[2] = Tensor<int64_t>({kRegions}, batches);
    EXPECT_THAT(RunOp(test), StatusIs(absl::StatusCode::kInvalidArgument,
                                      HasSubstr("at 5 is outside [0, 2)")));
  }
}

TEST(RoiAlignTest, NothingAndImagesOfNothing) {
  OpCase test = MakeCase({false, true, 0}, DType::kFloat32);
  test.inputs[0] = Tensor({kBatch, kChannels, 0, kWidth}, {});
  const TestTensor y = MustRunOp(test);
  for (float value : y.values<float>()) EXPECT_EQ(value, 0);
  test.inputs[1] = Tensor({0, 4}, {});
  test.inputs[2] = Tensor<int64_t>({0}, {});
  EXPECT_EQ(MustRunOp(test).shape,
            Shape({0, kChannels, kOutHeight, kOutWidth}));
}

}  // namespace
}  // namespace tensord
