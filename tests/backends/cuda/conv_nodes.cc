#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/api/window.h"
#include "tests/backends/cuda/named_node.h"

// Nodes of conv.cu and its faster siblings.
namespace tensord::cuda {
namespace {

struct ConvCase {
  std::string name;
  OpKind op = OpKind::kConv;
  int64_t images = 2;
  Dims spatial;
  int64_t channels = 3;  // of x
  int64_t rows = 5;      // channels of y
  Dims kernel;
  ConvParams params = {};
  bool has_bias = true;
  bool has_epilogue = false;
};

// x or y with its channels where the parameters want them.
Shape ImageShape(const ConvCase& c, int64_t channels, const Dims& spatial) {
  Dims extents = {c.images};
  if (!c.params.channels_last) extents.push_back(channels);
  extents.insert(extents.end(), spatial.begin(), spatial.end());
  if (c.params.channels_last) extents.push_back(channels);
  return Shape::Create(extents).value();
}

Dims OutputExtents(const ConvCase& c) {
  Dims extents;
  const int rank = static_cast<int>(c.spatial.size());
  for (int i = 0; i < rank; ++i) {
    extents.push_back(
        c.op == OpKind::kConvTranspose
            ? ResolveTransposedWindowAxis(c.params, i, rank, c.kernel[i],
                                          c.spatial[i])
                  .output
            : ResolveWindowAxis(c.params, i, rank, c.kernel[i], c.spatial[i])
                  .OutputExtent(c.spatial[i], /*ceil_mode=*/false));
  }
  return extents;
}

// A clip to [0, 6] of the sum with another image.
std::shared_ptr<const Epilogue> AddAndClip() {
  return std::make_shared<const Epilogue>(Epilogue{
      3,
      {.input_count = 2,
       .steps = {{OpKind::kAdd, {0, 1}},
                 {OpKind::kClip, {2, ExpressionStep::kNoOperand}, {0, 6}}}}});
}

NamedNode NodeOf(const ConvCase& c, DType dtype) {
  const Shape x = ImageShape(c, c.channels, c.spatial);
  const Shape y = ImageShape(c, c.rows, OutputExtents(c));
  const bool is_transposed = c.op == OpKind::kConvTranspose;
  Dims w = is_transposed ? Dims{c.channels, c.rows / c.params.group}
                         : Dims{c.rows, c.channels / c.params.group};
  int64_t depth = c.channels / c.params.group;
  for (int64_t extent : c.kernel) {
    w.push_back(extent);
    depth *= extent;
  }
  TestNode node{.op = c.op,
                .inputs = {Pattern(dtype, x, 1),
                           Pattern(dtype, Shape::Create(w).value(), 2),
                           c.has_bias ? Pattern(dtype, Shape({c.rows}), 3)
                                      : TestTensor()},
                .outputs = {{dtype, y}},
                .params = c.params,
                .is_constant = {false, true, true}};
  if (c.has_epilogue) {
    node.inputs.push_back(Pattern(dtype, y, 4));
    node.params.epilogue = AddAndClip();
  }
  Tolerance tolerance = ToleranceFor(dtype, OpFamily::kContraction, depth);
  tolerance.absolute *= 4;  // factors are up to 2
  return {absl::StrCat(c.name, "_", DTypeName(dtype)), std::move(node),
          tolerance};
}

// What every form has, whatever the place of its channels.
std::vector<ConvCase> PlainCases() {
  return {
      {.name = "of_3x3",
       .spatial = {7, 11},
       .rows = 12,
       .kernel = {3, 3},
       .params = {.pads = {1, 1, 1, 1}}},
      {.name = "of_few_rows", .spatial = {7, 11}, .rows = 5, .kernel = {2, 3}},
      {.name = "of_1x1",
       .spatial = {5, 9},
       .channels = 20,
       .rows = 72,
       .kernel = {1, 1},
       .has_bias = false},
      {.name = "with_strides_and_dilations",
       .spatial = {13, 17},
       .rows = 8,
       .kernel = {3, 2},
       .params = {.strides = {2, 3},
                  .dilations = {2, 1},
                  .pads = {2, 0, 1, 3}}},
      {.name = "of_groups",
       .spatial = {6, 7},
       .channels = 6,
       .rows = 16,
       .kernel = {3, 3},
       .params = {.pads = {1, 1, 1, 1}, .group = 2}},
      {.name = "of_the_same_size",
       .spatial = {8, 9},
       .rows = 9,
       .kernel = {4, 3},
       .params = {.strides = {3, 2}, .auto_pad = AutoPad::kSameLower}},
      {.name = "along_a_line", .spatial = {40}, .rows = 9, .kernel = {5}},
      {.name = "in_three_dimensions",
       .images = 1,
       .spatial = {4, 5, 6},
       .rows = 10,
       .kernel = {2, 3, 2},
       .params = {.pads = {1, 0, 1, 0, 2, 1}}},
      {.name = "with_an_epilogue",
       .spatial = {6, 8},
       .rows = 20,
       .kernel = {3, 3},
       .has_epilogue = true},
      // What tensor cores take.
      {.name = "of_16_to_24",
       .spatial = {5, 7},
       .channels = 16,
       .rows = 24,
       .kernel = {3, 3},
       .params = {.pads = {1, 1, 1, 1}},
       .has_epilogue = true},
      {.name = "of_40_to_48_by_2",
       .spatial = {9, 12},
       .channels = 40,
       .rows = 48,
       .kernel = {1, 1},
       .params = {.strides = {2, 2}},
       .has_bias = false},
      {.name = "of_72_to_16_apart",
       .images = 1,
       .spatial = {6, 7},
       .channels = 72,
       .rows = 16,
       .kernel = {2, 3},
       .params = {.strides = {1, 2},
                  .dilations = {2, 1},
                  .pads = {1, 0, 2, 3}}},
      {.name = "of_8_to_8_along_a_line",
       .spatial = {40},
       .channels = 8,
       .rows = 8,
       .kernel = {5},
       .params = {.pads = {2, 2}}},
      {.name = "of_no_images",
       .images = 0,
       .spatial = {6, 8},
       .rows = 20,
       .kernel = {3, 3}},
  };
}

// One input channel a group.
std::vector<ConvCase> DepthwiseCases() {
  std::vector<ConvCase> cases;
  for (int64_t kernel : {3, 5, 2}) {
    for (int64_t stride : {1, 2}) {
      for (int64_t channels : {24, 5}) {
        cases.push_back({.name = absl::StrCat("depthwise_", kernel, "_by_",
                                              stride, "_of_", channels),
                         .spatial = {9, 12},
                         .channels = channels,
                         .rows = channels,
                         .kernel = {kernel, kernel},
                         .params = {.strides = {stride, stride},
                                    .pads = {1, 1, 1, 1},
                                    .group = channels},
                         .has_bias = stride == 1,
                         .has_epilogue = channels == 24});
      }
    }
  }
  cases.push_back({.name = "depthwise_twice",
                   .spatial = {9, 12},
                   .channels = 8,
                   .rows = 16,
                   .kernel = {3, 3},
                   .params = {.dilations = {2, 1}, .group = 8}});
  return cases;
}

std::vector<ConvCase> TransposedCases() {
  constexpr OpKind kOp = OpKind::kConvTranspose;
  return {
      {.name = "transposed",
       .op = kOp,
       .spatial = {5, 6},
       .rows = 3,
       .kernel = {3, 3}},
      {.name = "transposed_by_2",
       .op = kOp,
       .spatial = {5, 6},
       .channels = 6,
       .rows = 20,
       .kernel = {3, 4},
       .params = {.strides = {2, 3},
                  .dilations = {1, 2},
                  .pads = {1, 1, 0, 2},
                  .group = 2,
                  .output_padding = {1, 0}},
       .has_epilogue = true},
      {.name = "transposed_line",
       .op = kOp,
       .spatial = {9},
       .rows = 9,
       .kernel = {2},
       .params = {.strides = {2}},
       .has_bias = false},
  };
}

}  // namespace

std::vector<NamedNode> ConvNodes() {
  std::vector<NamedNode> nodes;
  for (std::vector<ConvCase> cases : {PlainCases(), DepthwiseCases()}) {
    for (ConvCase& c : cases) {
      c.name = absl::StrCat("conv_", c.name);
      for (DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16,
                          DType::kBFloat16}) {
        nodes.push_back(NodeOf(c, dtype));
      }
      c.name += "_channels_last";
      c.params.channels_last = true;
      for (DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
        // The CPU has no kernel of 16-bit floats for both at once.
        ConvCase own = c;
        own.has_epilogue = c.has_epilogue && dtype == DType::kFloat32;
        nodes.push_back(NodeOf(own, dtype));
      }
    }
  }
  for (const ConvCase& c : TransposedCases()) {
    for (DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16,
                        DType::kBFloat16}) {
      nodes.push_back(NodeOf(c, dtype));
    }
  }
  return nodes;
}

}  // namespace tensord::cuda
