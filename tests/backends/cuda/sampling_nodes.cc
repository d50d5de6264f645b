#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/backends/cuda/named_node.h"

// Nodes of grid_sample.cu and roi_align.cu.
namespace tensord::cuda {
namespace {

const DType kFloats[] = {DType::kFloat32, DType::kFloat64, DType::kFloat16,
                         DType::kBFloat16};

void AddGridSamples(DType dtype, DType grid_dtype,
                    std::vector<NamedNode>& nodes) {
  const std::pair<GridSampleMode, const char*> modes[] = {
      {GridSampleMode::kNearest, "nearest"},
      {GridSampleMode::kLinear, "linear"},
      {GridSampleMode::kCubic, "cubic"}};
  const std::pair<GridSamplePadding, const char*> paddings[] = {
      {GridSamplePadding::kZeros, "zeros"},
      {GridSamplePadding::kBorder, "border"},
      {GridSamplePadding::kReflection, "reflection"}};
  for (const auto& [mode, mode_name] : modes) {
    for (const auto& [padding, padding_name] : paddings) {
      for (bool aligns_corners : {false, true}) {
        nodes.push_back(
            {absl::StrCat("grid_sample_", mode_name, "_", padding_name,
                          aligns_corners ? "_corners" : "", "_",
                          DTypeName(dtype), "_", DTypeName(grid_dtype)),
             {.op = OpKind::kGridSample,
              .inputs = {Pattern(dtype, Shape({2, 6, 4, 5})),
                         Pattern(grid_dtype, Shape({2, 3, 7, 2}))},
              .outputs = {{dtype, Shape({2, 6, 3, 7})}},
              .params = GridSampleParams{mode, padding, aligns_corners}},
             ToleranceFor(dtype, OpFamily::kContraction, 16)});
      }
    }
  }
}

void AddOddGrids(std::vector<NamedNode>& nodes) {
  const auto add = [&](const std::string& name, Shape x, const TestTensor& grid,
                       Shape y, GridSampleMode mode) {
    nodes.push_back(
        {absl::StrCat("grid_sample_", name),
         {.op = OpKind::kGridSample,
          .inputs = {Pattern(DType::kFloat32, std::move(x)), grid},
          .outputs = {{DType::kFloat32, std::move(y)}},
          .params = GridSampleParams{mode, GridSamplePadding::kZeros, false}},
         ToleranceFor(DType::kFloat32, OpFamily::kContraction, 64)});
  };
  add("line", Shape({1, 2, 6}), Pattern(DType::kFloat32, Shape({1, 5, 1})),
      Shape({1, 2, 5}), GridSampleMode::kLinear);
  add("volume", Shape({1, 2, 3, 4, 5}),
      Pattern(DType::kFloat32, Shape({1, 2, 3, 2, 3})), Shape({1, 2, 2, 3, 2}),
      GridSampleMode::kCubic);
  add("without_an_image", Shape({1, 2, 0, 4}),
      Pattern(DType::kFloat32, Shape({1, 2, 2, 2})), Shape({1, 2, 2, 2}),
      GridSampleMode::kLinear);
  add("infinities", Shape({1, 1, 3, 3}),
      Tensor(Shape({1, 1, 3, 2}), {INFINITY, 0, -INFINITY, NAN, 1e30f, -1e30f}),
      Shape({1, 1, 1, 3}), GridSampleMode::kLinear);
}

void AddAffineGrids(DType dtype, std::vector<NamedNode>& nodes) {
  for (bool aligns_corners : {false, true}) {
    const std::string suffix =
        absl::StrCat("_", DTypeName(dtype), aligns_corners ? "_corners" : "");
    nodes.push_back({absl::StrCat("affine_grid_2d", suffix),
                     {.op = OpKind::kAffineGrid,
                      .inputs = {Pattern(dtype, Shape({2, 2, 3})),
                                 Tensor<int64_t>(Shape({4}), {2, 3, 5, 1})},
                      .outputs = {{dtype, Shape({2, 5, 1, 2})}},
                      .params = AffineGridParams{aligns_corners}},
                     ToleranceFor(dtype, OpFamily::kArithmetic)});
    nodes.push_back({absl::StrCat("affine_grid_3d", suffix),
                     {.op = OpKind::kAffineGrid,
                      .inputs = {Pattern(dtype, Shape({1, 3, 4})),
                                 Tensor<int64_t>(Shape({5}), {1, 3, 2, 3, 4})},
                      .outputs = {{dtype, Shape({1, 2, 3, 4, 3})}},
                      .params = AffineGridParams{aligns_corners}},
                     ToleranceFor(dtype, OpFamily::kArithmetic)});
  }
}

void AddRoiAligns(DType dtype, std::vector<NamedNode>& nodes) {
  // Inside, past the borders, turned round, and wholly outside.
  const std::vector<double> rois = {1,   1, 6, 5,  -3,  -2, 9,     8,
                                    5.5, 4, 2, 10, 100, 90, 120.5, 95};
  for (bool takes_max : {false, true}) {
    for (bool is_half_pixel : {false, true}) {
      for (int64_t ratio : {0, 2}) {
        RoiAlignParams params;
        params.output_height = 2;
        params.output_width = 3;
        params.sampling_ratio = ratio;
        params.spatial_scale = 0.75f;
        params.takes_max = takes_max;
        params.is_half_pixel = is_half_pixel;
        nodes.push_back(
            {absl::StrCat("roi_align_", takes_max ? "max" : "mean", "_",
                          is_half_pixel ? "half_pixel" : "whole_pixel",
                          "_ratio_", ratio, "_", DTypeName(dtype)),
             {.op = OpKind::kRoiAlign,
              .inputs = {Pattern(dtype, Shape({2, 3, 6, 7})),
                         TensorOf(dtype, Shape({4, 4}), rois),
                         Tensor<int64_t>(Shape({4}), {1, 0, 1, 0})},
              .outputs = {{dtype, Shape({4, 3, 2, 3})}},
              .params = params},
             ToleranceFor(dtype, OpFamily::kContraction, 16)});
      }
    }
  }
}

}  // namespace

std::vector<NamedNode> SamplingNodes() {
  std::vector<NamedNode> nodes;
  for (DType dtype : kFloats) {
    AddGridSamples(dtype, dtype, nodes);
    AddAffineGrids(dtype, nodes);
    AddRoiAligns(dtype, nodes);
  }
  AddGridSamples(DType::kFloat32, DType::kFloat16, nodes);
  AddGridSamples(DType::kFloat16, DType::kFloat64, nodes);
  AddOddGrids(nodes);
  return nodes;
}

}  // namespace tensord::cuda
