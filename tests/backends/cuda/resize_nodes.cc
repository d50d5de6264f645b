#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/api/resize_extents.h"
#include "tests/backends/cuda/named_node.h"

// Nodes of resize.cu.
namespace tensord::cuda {
namespace {

TestTensor Floats(const std::vector<float>& values) {
  return Tensor(Shape({static_cast<int64_t>(values.size())}), values);
}

struct Case {
  std::string name;
  Shape x;
  std::vector<float> scales;
  ResizeParams params;
  std::vector<float> region = {};
};

std::vector<Case> Cases(ResizeMode mode) {
  const Shape image({2, 3, 5, 6});
  const std::vector<float> grows = {1, 1, 2.6f, 1.5f};
  const std::vector<float> shrinks = {1, 1, 0.45f, 0.7f};
  std::vector<Case> cases;
  const std::pair<ResizeCoordinates, const char*> coordinates[] = {
      {ResizeCoordinates::kHalfPixel, "half_pixel"},
      {ResizeCoordinates::kHalfPixelSymmetric, "half_pixel_symmetric"},
      {ResizeCoordinates::kPytorchHalfPixel, "pytorch_half_pixel"},
      {ResizeCoordinates::kAlignCorners, "align_corners"},
      {ResizeCoordinates::kAsymmetric, "asymmetric"},
      {ResizeCoordinates::kTfHalfPixelForNn, "tf_half_pixel"}};
  for (const auto& [coordinate, name] : coordinates) {
    ResizeParams params;
    params.mode = mode;
    params.coordinates = coordinate;
    cases.push_back({absl::StrCat(name, "_grows"), image, grows, params});
    cases.push_back({absl::StrCat(name, "_shrinks"), image, shrinks, params});
  }
  ResizeParams params;
  params.mode = mode;
  cases.push_back({"line", Shape({1, 2, 9}), {1, 1, 1.7f}, params});
  cases.push_back(
      {"volume", Shape({1, 2, 3, 4, 5}), {1, 1, 2, 0.5f, 1.4f}, params});
  cases.push_back({"every_axis", Shape({2, 3, 4}), {2, 1.5f, 0.5f}, params});
  cases.push_back({"nothing", image, {1, 1, 1, 1}, params});
  cases.push_back({"empty", Shape({0, 3, 5, 6}), grows, params});
  params.coordinates = ResizeCoordinates::kTfCropAndResize;
  params.extrapolation_value = 9;
  cases.push_back({"crop",
                   image,
                   {1, 1, 0.8f, 1.3f},
                   params,
                   {0, 0, 0.4f, -0.3f, 1, 1, 0.9f, 1.2f}});
  ResizeParams other;
  other.mode = mode;
  if (mode == ResizeMode::kNearest) {
    other.rounding = ResizeRounding::kCeil;
    cases.push_back({"ceil", image, grows, other});
    other.rounding = ResizeRounding::kRoundPreferCeil;
    cases.push_back({"prefer_ceil", image, shrinks, other});
  } else {
    other.antialias = true;
    cases.push_back({"antialias", image, shrinks, other});
    other.exclude_outside = true;
    cases.push_back({"exclude_outside", image, grows, other});
  }
  return cases;
}

void AddResizes(OpKind op, ResizeMode mode, const std::string& name,
                DType dtype, std::vector<NamedNode>& nodes) {
  for (const Case& test : Cases(mode)) {
    Dims extents;
    for (int d = 0; d < test.x.rank(); ++d) {
      extents.push_back(ResizeExtents::ByScale(test.x[d], test.scales[d]));
    }
    const bool is_movement = mode == ResizeMode::kNearest;
    nodes.push_back(
        {absl::StrCat(name, "_", test.name, "_", DTypeName(dtype)),
         {.op = op,
          .inputs = {Pattern(dtype, test.x),
                     test.region.empty() ? TestTensor() : Floats(test.region),
                     Floats(test.scales)},
          .outputs = {{dtype, Shape::Create(extents).value()}},
          .params = test.params,
          .is_constant = {false, true, true}},
         is_movement ? Tolerance()
                     : ToleranceFor(dtype, OpFamily::kContraction, 16)});
  }
}

}  // namespace

std::vector<NamedNode> ResizeNodes() {
  std::vector<NamedNode> nodes;
  for (DType dtype :
       {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16}) {
    AddResizes(OpKind::kResize, ResizeMode::kNearest, "resize_nearest", dtype,
               nodes);
  }
  for (DType dtype :
       {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16,
        DType::kInt8, DType::kUInt8, DType::kInt32}) {
    AddResizes(OpKind::kResize, ResizeMode::kLinear, "resize_linear", dtype,
               nodes);
    AddResizes(OpKind::kResize, ResizeMode::kCubic, "resize_cubic", dtype,
               nodes);
  }
  AddResizes(OpKind::kUpsample, ResizeMode::kLinear, "upsample_linear",
             DType::kFloat32, nodes);
  nodes.push_back(
      {"resize_nearest_bool",
       {.op = OpKind::kResize,
        .inputs = {Pattern(DType::kBool, Shape({2, 3})), TestTensor(),
                   TestTensor(), Tensor<int64_t>(Shape({2}), {5, 4})},
        .outputs = {{DType::kBool, Shape({5, 4})}},
        .params = ResizeParams{},
        .is_constant = {false, true, true, true}}});
  return nodes;
}

}  // namespace tensord::cuda
