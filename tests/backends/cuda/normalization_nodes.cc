#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "tests/backends/cuda/named_node.h"
#include "tests/backends/cuda/special_values.h"

// Nodes of softmax.cu, layer_normalization.cu, group_normalization.cu,
// line_normalization.cu, batch_normalization.cu and lrn.cu.
namespace tensord::cuda {
namespace {

std::string Name(OpKind op, DType dtype) {
  return absl::StrCat(absl::AsciiStrToLower(OpKindName(op)), "_",
                      DTypeName(dtype));
}

// Factors of up to 2 multiply what the sums are off by.
Tolerance SumsOf(DType dtype, int64_t depth) {
  Tolerance tolerance = ToleranceFor(dtype, OpFamily::kReduction, depth);
  tolerance.absolute *= 2;
  return tolerance;
}

void AddSoftmax(std::vector<NamedNode>& nodes) {
  const auto add = [&](OpKind op, TestTensor x, SoftmaxParams params,
                       absl::string_view suffix = "") {
    const Shape shape = x.shape;
    const DType dtype = x.dtype;
    nodes.push_back(
        {absl::StrCat(
             Name(op, dtype), NameOf({shape}), "_along_",
             params.axis < 0 ? shape.rank() + params.axis : params.axis,
             params.flattens_at_axis ? "_flattened" : "", suffix),
         {.op = op,
          .inputs = {std::move(x)},
          .outputs = {{dtype, shape}},
          .params = params},
         op == OpKind::kHardmax ? Tolerance{} : SumsOf(dtype, 64)});
  };
  for (const OpKind op :
       {OpKind::kSoftmax, OpKind::kLogSoftmax, OpKind::kHardmax}) {
    for (const DType dtype : kFloatDTypes) {
      add(op, Pattern(dtype, {11, 65}), {.axis = -1});
      add(op, Pattern(dtype, {3, 1031}), {.axis = 1});  // a block a row
      add(op, Pattern(dtype, {2, 17, 33}), {.axis = 1});
      add(op, SpecialValues(dtype, {20, 6}), {.axis = 1}, "_special");
      add(op, SpecialValues(dtype, {20, 6}), {.axis = 0}, "_special");
    }
    const DType f32 = DType::kFloat32;
    add(op, Pattern(f32, {2, 3, 5}), {.axis = 1, .flattens_at_axis = true});
    add(op, Pattern(f32, {0, 4}), {.axis = 1});
    add(op, Pattern(f32, {4, 0}), {.axis = 1});
    add(op, Pattern(f32, {3, 1}), {.axis = 1});
    add(op, TensorOf(f32, {2, 2}, {1e5, 1e5 - 1, -INFINITY, 0}), {.axis = 1},
        "_large");
  }
}

struct LayerCase {
  Shape x, scale, bias;
  int64_t axis;
};

void AddLayerNormalizations(std::vector<NamedNode>& nodes) {
  const LayerCase cases[] = {{{5, 70}, {70}, {70}, -1},
                             {{3, 1300}, {1300}, {1}, 1},
                             {{2, 3, 8, 5}, {8, 5}, {8, 5}, 2},
                             {{2, 3, 8, 5}, {1, 3, 1, 1}, {8, 1}, 1},
                             {{2, 3, 4}, {2, 3, 4}, {3, 4}, 0}};
  for (const DType dtype : kFloatDTypes) {
    for (const auto& [x, scale, bias, axis] : cases) {
      const int64_t depth = x.element_count() / x[0];
      nodes.push_back({absl::StrCat(Name(OpKind::kLayerNormalization, dtype),
                                    NameOf({x, scale})),
                       {.op = OpKind::kLayerNormalization,
                        .inputs = {Pattern(dtype, x), Pattern(dtype, scale, 2),
                                   Pattern(dtype, bias, 3)},
                        .outputs = {{dtype, x}},
                        .params = NormalizationParams{.axis = axis}},
                       SumsOf(dtype, depth)});
      nodes.push_back({absl::StrCat(Name(OpKind::kRMSNormalization, dtype),
                                    NameOf({x, scale})),
                       {.op = OpKind::kRMSNormalization,
                        .inputs = {Pattern(dtype, x), Pattern(dtype, scale, 2)},
                        .outputs = {{dtype, x}},
                        .params = NormalizationParams{.axis = axis}},
                       SumsOf(dtype, depth)});
    }
    const Shape x = {6, 40};
    nodes.push_back(
        {absl::StrCat(Name(OpKind::kLayerNormalization, dtype), "_with_skip"),
         {.op = OpKind::kLayerNormalization,
          .inputs = {Pattern(dtype, x), Pattern(dtype, {40}, 2),
                     Pattern(dtype, {40}, 3), Pattern(dtype, x, 4)},
          .outputs = {{dtype, x}},
          .params = NormalizationParams{.axis = 1, .has_skip = true}},
         SumsOf(dtype, 40)});
    for (const DType statistics : {DType::kFloat32, DType::kBFloat16}) {
      nodes.push_back(
          {absl::StrCat(Name(OpKind::kLayerNormalization, dtype),
                        "_with_statistics_", DTypeName(statistics)),
           {.op = OpKind::kLayerNormalization,
            .inputs = {Pattern(dtype, x), Pattern(dtype, {40}, 2)},
            .outputs = {{dtype, x}, {statistics, {6, 1}}, {statistics, {6, 1}}},
            .params =
                NormalizationParams{.axis = 1, .statistics_dtype = statistics}},
           SumsOf(statistics == DType::kBFloat16 ? statistics : dtype, 40)});
    }
  }
  // The mean is large beside what it is taken off.
  std::vector<double> values;
  for (int i = 0; i < 3 * 64; ++i) values.push_back(1e4 + i % 7);
  nodes.push_back({"layernormalization_of_a_large_mean",
                   {.op = OpKind::kLayerNormalization,
                    .inputs = {TensorOf(DType::kFloat32, {3, 64}, values),
                               Pattern(DType::kFloat32, {64}, 2)},
                    .outputs = {{DType::kFloat32, {3, 64}}},
                    .params = NormalizationParams{}},
                   SumsOf(DType::kFloat32, 64)});
}

void AddGroupNormalizations(std::vector<NamedNode>& nodes) {
  const Shape shapes[] = {{2, 6, 5, 7}, {1, 4, 300}, {3, 6}, {0, 6, 5}};
  for (const DType dtype : kFloatDTypes) {
    for (const Shape& x : shapes) {
      const std::vector<TestTensor> inputs = {Pattern(dtype, x),
                                              Pattern(dtype, {x[1]}, 2),
                                              Pattern(dtype, {x[1]}, 3)};
      nodes.push_back(
          {absl::StrCat(Name(OpKind::kGroupNormalization, dtype), NameOf({x})),
           {.op = OpKind::kGroupNormalization,
            .inputs = inputs,
            .outputs = {{dtype, x}},
            .params = NormalizationParams{.group_count = 2}},
           SumsOf(dtype, 600)});
      if (x.rank() == 2) continue;
      nodes.push_back({absl::StrCat(Name(OpKind::kInstanceNormalization, dtype),
                                    NameOf({x})),
                       {.op = OpKind::kInstanceNormalization,
                        .inputs = inputs,
                        .outputs = {{dtype, x}},
                        .params = NormalizationParams{}},
                       SumsOf(dtype, 300)});
    }
    nodes.push_back(
        {absl::StrCat(Name(OpKind::kGroupNormalization, dtype),
                      "_scales_groups"),
         {.op = OpKind::kGroupNormalization,
          .inputs = {Pattern(dtype, {2, 6, 5}), Pattern(dtype, {3}, 2),
                     Pattern(dtype, {3}, 3)},
          .outputs = {{dtype, {2, 6, 5}}},
          .params =
              NormalizationParams{.group_count = 3, .scales_groups = true}},
         SumsOf(dtype, 10)});
  }
}

void AddLineNormalizations(std::vector<NamedNode>& nodes) {
  for (const DType dtype : kFloatDTypes) {
    for (const int64_t p : {1, 2}) {
      for (const int64_t axis : {-1, 1}) {
        nodes.push_back(
            {absl::StrCat(Name(OpKind::kLpNormalization, dtype), "_of_", p,
                          "_along_", axis < 0 ? 2 : axis),
             {.op = OpKind::kLpNormalization,
              .inputs = {Pattern(dtype, {3, 40, 7})},
              .outputs = {{dtype, {3, 40, 7}}},
              .params = LpNormalizationParams{.axis = axis, .p = p}},
             SumsOf(dtype, 40)});
      }
    }
    nodes.push_back(
        {absl::StrCat(Name(OpKind::kLpNormalization, dtype), "_of_zeros"),
         {.op = OpKind::kLpNormalization,
          .inputs = {TensorOf(dtype, {2, 2}, {0, 0, 3, 4})},
          .outputs = {{dtype, {2, 2}}},
          .params = LpNormalizationParams{}},
         SumsOf(dtype, 2)});
    for (const Dims& axes : {Dims{0, 2, 3}, Dims{1}, Dims{-1}}) {
      nodes.push_back(
          {absl::StrCat(Name(OpKind::kMeanVarianceNormalization, dtype),
                        "_over_", axes.size(), "_from_", axes[0] + 1),
           {.op = OpKind::kMeanVarianceNormalization,
            .inputs = {Pattern(dtype, {3, 4, 5, 6})},
            .outputs = {{dtype, {3, 4, 5, 6}}},
            .params = AxesParams{axes}},
           SumsOf(dtype, 90)});
    }
  }
}

void AddBatchNormalizations(std::vector<NamedNode>& nodes) {
  const auto positive = [](DType dtype, Shape shape) {
    std::vector<double> values;
    for (int64_t i = 0; i < shape.element_count(); ++i) {
      values.push_back(0.25 + static_cast<double>(i % 5) / 4);
    }
    return TensorOf(dtype, std::move(shape), values);
  };
  for (const DType dtype : kFloatDTypes) {
    for (const DType of_statistics : kFloatDTypes) {
      nodes.push_back({absl::StrCat(Name(OpKind::kBatchNormalization, dtype),
                                    "_by_", DTypeName(of_statistics)),
                       {.op = OpKind::kBatchNormalization,
                        .inputs = {Pattern(dtype, {2, 3, 5, 7}),
                                   Pattern(of_statistics, {3}, 2),
                                   Pattern(of_statistics, {3}, 3),
                                   Pattern(of_statistics, {3}, 4),
                                   positive(of_statistics, {3})},
                        .outputs = {{dtype, {2, 3, 5, 7}}},
                        .params = BatchNormalizationParams{}},
                       SumsOf(dtype, 1)});
    }
    nodes.push_back(
        {absl::StrCat(Name(OpKind::kBatchNormalization, dtype), "_of_a_line"),
         {.op = OpKind::kBatchNormalization,
          .inputs = {Pattern(dtype, {9}), Pattern(dtype, {1}, 2),
                     Pattern(dtype, {1}, 3), Pattern(dtype, {1}, 4),
                     positive(dtype, {1})},
          .outputs = {{dtype, {9}}},
          .params = BatchNormalizationParams{}},
         SumsOf(dtype, 1)});
  }
}

void AddResponseNormalizations(std::vector<NamedNode>& nodes) {
  for (const DType dtype : kFloatDTypes) {
    for (const int64_t size : {1, 3, 4, 20}) {
      nodes.push_back(
          {absl::StrCat(Name(OpKind::kLRN, dtype), "_over_", size),
           {.op = OpKind::kLRN,
            .inputs = {Pattern(dtype, {2, 7, 3, 5})},
            .outputs = {{dtype, {2, 7, 3, 5}}},
            .params = LrnParams{.alpha = 0.5f, .beta = 0.6f, .size = size}},
           SumsOf(dtype, size)});
    }
  }
}

}  // namespace

std::vector<NamedNode> NormalizationNodes() {
  std::vector<NamedNode> nodes;
  AddSoftmax(nodes);
  AddLayerNormalizations(nodes);
  AddGroupNormalizations(nodes);
  AddLineNormalizations(nodes);
  AddBatchNormalizations(nodes);
  AddResponseNormalizations(nodes);
  return nodes;
}

}  // namespace tensord::cuda
