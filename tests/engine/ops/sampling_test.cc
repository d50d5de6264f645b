#include "tests/engine/ops/infer_test.h"

// Operators that read images between their elements.
namespace tensord {
namespace {

using GridSampleTest = InferTest;
using RoiAlignTest = InferTest;

TEST_F(GridSampleTest, HasTheGridsPlacesAndTheImagesChannels) {
  const auto sample = [this](TensorType x, TensorType grid) {
    return Infer({.op = "GridSample",
                  .inputs = {std::move(x), std::move(grid)},
                  .opset = 20});
  };
  EXPECT_EQ(sample(Type({"N", 3, 8, 9}), Type({"N", 4, "W", 2})),
            "float32 [N, 3, 4, W]");
  EXPECT_EQ(sample(Type({1, 3, 8}), Type({1, 4, 1})), "float32 [1, 3, 4]");
  EXPECT_EQ(sample(Type(DType::kFloat16, {1, 3, 8, 9, 10}),
                   Type(DType::kFloat32, {1, 4, 5, 6, 3})),
            "float16 [1, 3, 4, 5, 6]");
  EXPECT_THAT(sample(Type({1, 3, 8, 9}), Type({2, 4, 5, 2})),
              IsRefusal("batches of x and of the grid: 1 vs 2"));
  EXPECT_THAT(sample(Type({1, 3, 8, 9}), Type({1, 4, 5, 3})),
              IsRefusal("coordinates in the grid: 2 vs 3"));
  EXPECT_THAT(sample(Type({1, 3, 8, 9}), Type({1, 4, 2})),
              IsRefusal("input 1 has rank 3, not 4"));
  EXPECT_THAT(sample(Type({1, 3}), Type({1, 0})),
              IsRefusal("input 0 has rank 2, not 3"));
  EXPECT_THAT(sample(Type(DType::kInt32, {1, 3, 8}), Type({1, 4, 1})),
              IsRefusal("input 0 has dtype int32"));
  EXPECT_THAT(sample(Type({1, 3, 8}), Type(DType::kInt64, {1, 4, 1})),
              IsRefusal("input 1 has dtype int64"));
  EXPECT_THAT(sample(Type({1, 1, 2, 2, 2, 2, 2}), Type({1, 1, 1, 1, 1, 1, 5})),
              IsUnsupported("x has 5 spatial dimensions, more than 4"));
}

TEST_F(GridSampleTest, TheWordsForModesChanged) {
  const auto sample = [this](const std::string& mode, int64_t opset) {
    return Infer({.op = "GridSample",
                  .inputs = {Type({1, 3, 8, 9}), Type({1, 4, 5, 2})},
                  .attributes = {{"mode", mode}},
                  .opset = opset});
  };
  for (const char* mode : {"bilinear", "bicubic", "nearest"}) {
    EXPECT_EQ(sample(mode, 16), "float32 [1, 3, 4, 5]");
  }
  for (const char* mode : {"linear", "cubic", "nearest"}) {
    EXPECT_EQ(sample(mode, 22), "float32 [1, 3, 4, 5]");
  }
  EXPECT_THAT(sample("linear", 16),
              IsRefusal("'linear', not bilinear, bicubic, nearest"));
  EXPECT_THAT(sample("bilinear", 20),
              IsRefusal("'bilinear', not linear, cubic, nearest"));
  EXPECT_THAT(Infer({.op = "GridSample",
                     .inputs = {Type({1, 3, 8, 9}), Type({1, 4, 5, 2})},
                     .attributes = {{"padding_mode", std::string("mirror")}}}),
              IsRefusal("'mirror', not zeros, border, reflection"));
  EXPECT_THAT(Infer({.op = "GridSample",
                     .inputs = {Type({1, 3, 8, 9}), Type({1, 4, 5, 2})},
                     .attributes = {{"align_corners", int64_t{2}}}}),
              IsRefusal("align_corners"));
}

TEST_F(RoiAlignTest, HasTheRegionsAndTheChannels) {
  const auto align = [this](TensorType x, TensorType rois, TensorType batches) {
    return Infer({.op = "RoiAlign",
                  .inputs = {std::move(x), std::move(rois), std::move(batches)},
                  .attributes = {{"output_height", int64_t{7}},
                                 {"output_width", int64_t{5}}}});
  };
  EXPECT_EQ(align(Type({"N", 3, "H", "W"}), Type({"R", 4}),
                  Type(DType::kInt64, {"R"})),
            "float32 [R, 3, 7, 5]");
  EXPECT_THAT(align(Type({1, 3, 8, 9}), Type({2, 5}), Type(DType::kInt64, {2})),
              IsRefusal("numbers of a region should be 4 vs 5"));
  EXPECT_THAT(align(Type({1, 3, 8, 9}), Type({2, 4}), Type(DType::kInt64, {3})),
              IsRefusal("number of regions and of batch indices: 2 vs 3"));
  EXPECT_THAT(align(Type({1, 3, 8}), Type({2, 4}), Type(DType::kInt64, {2})),
              IsRefusal("input 0 has rank 3, not 4"));
  EXPECT_THAT(align(Type({1, 3, 8, 9}), Type(DType::kFloat64, {2, 4}),
                    Type(DType::kInt64, {2})),
              IsRefusal("float32 vs float64"));
  EXPECT_THAT(align(Type({1, 3, 8, 9}), Type({2, 4}), Type(DType::kInt32, {2})),
              IsRefusal("input 2 has dtype int32"));
}

TEST_F(RoiAlignTest, RefusesAttributesWithoutASense) {
  const auto align = [this](const std::string& name, Attribute value,
                            int64_t opset = 16) {
    return Infer(
        {.op = "RoiAlign",
         .inputs = {Type({1, 3, 8, 9}), Type({2, 4}), Type(DType::kInt64, {2})},
         .attributes = {{name, std::move(value)}},
         .opset = opset});
  };
  EXPECT_EQ(align("mode", std::string("max")), "float32 [2, 3, 1, 1]");
  EXPECT_THAT(align("mode", std::string("min")),
              IsRefusal("'min', not max or avg"));
  EXPECT_THAT(align("output_height", int64_t{0}),
              IsRefusal("'output_height' is 0"));
  EXPECT_THAT(align("output_width", int64_t{-3}),
              IsRefusal("'output_width' is -3"));
  EXPECT_THAT(align("sampling_ratio", int64_t{1} << 40),
              IsRefusal("'sampling_ratio' is 1099511627776, outside [0, 64]"));
  EXPECT_THAT(align("coordinate_transformation_mode", std::string("half")),
              IsRefusal("'half', not half_pixel or output_half_pixel"));
  EXPECT_THAT(
      align("coordinate_transformation_mode", std::string("half_pixel"), 10),
      IsRefusal("coordinate_transformation_mode"));
}

using DeformConvTest = InferTest;

TEST_F(DeformConvTest, HasConvsShape) {
  EXPECT_EQ(
      Infer(
          {.op = "DeformConv",
           .inputs = {Type({"N", 4, 7, 7}), Type({6, 2, 3, 3}),
                      Type({"N", 36, 5, 5}), Type({6}), Type({"N", 18, 5, 5})},
           .attributes = {{"group", int64_t{2}}, {"offset_group", int64_t{2}}},
           .opset = 19}),
      "float32 [N, 6, 5, 5]");
}

TEST_F(DeformConvTest, OffsetsAndMaskAreThereForEachTap) {
  const auto deform = [this](TensorType offset, TensorType mask,
                             int64_t offset_group = 1) {
    return Infer({.op = "DeformConv",
                  .inputs = {Type({1, 4, 7, 7}),
                             Type({6, 4, 3, 3}),
                             std::move(offset),
                             {},
                             std::move(mask)},
                  .attributes = {{"offset_group", offset_group}},
                  .opset = 22});
  };
  const TensorType offset = Type({1, 18, 5, 5});
  EXPECT_EQ(deform(offset, Type({1, 9, 5, 5})), "float32 [1, 6, 5, 5]");
  EXPECT_THAT(deform(Type({1, 9, 5, 5}), {}),
              IsRefusal("dimension 1 of the offset should be 18 vs 9"));
  EXPECT_THAT(deform(Type({1, 18, 5, 4}), {}),
              IsRefusal("dimension 3 of the offset should be 5 vs 4"));
  EXPECT_THAT(deform(Type({2, 18, 5, 5}), {}),
              IsRefusal("dimension 0 of the offset should be 1 vs 2"));
  EXPECT_THAT(deform(Type({1, 18, 5}), {}),
              IsRefusal("input 2 has rank 3, not 4"));
  EXPECT_THAT(deform(offset, Type({1, 18, 5, 5})),
              IsRefusal("dimension 1 of the mask should be 9 vs 18"));
  EXPECT_THAT(deform(offset, Type(DType::kFloat16, {1, 9, 5, 5})),
              IsRefusal("float32 vs float16"));
  EXPECT_THAT(deform(Type({1, 54, 5, 5}), {}, 3),
              IsRefusal("4 channels do not divide into 3 offset groups"));
  EXPECT_THAT(deform(offset, {}, 0),
              IsRefusal("'offset_group' is 0, outside [1, "));
  EXPECT_THAT(deform(offset, {}, int64_t{1} << 62),
              IsRefusal("'offset_group' is 4611686018427387904"));
}

}  // namespace
}  // namespace tensord
