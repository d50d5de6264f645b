#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/backends/cuda/named_node.h"

// Nodes of einsum.cu, deform_conv.cu and sequences.cu.
namespace tensord::cuda {
namespace {

const DType kFloats[] = {DType::kFloat32, DType::kFloat64, DType::kFloat16,
                         DType::kBFloat16};

void AddEinsums(DType dtype, std::vector<NamedNode>& nodes) {
  struct Case {
    std::string name;
    std::vector<Shape> inputs;
    EinsumParams params;
    Shape output;
    int64_t depth = 1;
  };
  const std::vector<Case> cases = {
      {"transpose", {Shape({3, 4})}, {{"ij"}, "ji"}, Shape({4, 3})},
      {"sum", {Shape({3, 4})}, {{"ij"}, "i"}, Shape({3}), 4},
      {"diagonal", {Shape({3, 3, 2})}, {{"iij"}, "ij"}, Shape({3, 2})},
      {"trace", {Shape({5, 5})}, {{"ii"}, ""}, Shape(), 5},
      {"product",
       {Shape({3, 4}), Shape({4, 5})},
       {{"ij", "jk"}, "ik"},
       Shape({3, 5}),
       4},
      {"long_inner",
       {Shape({2, 300}), Shape({300})},
       {{"ij", "j"}, "i"},
       Shape({2}),
       300},
      {"heads",
       {Shape({2, 3, 2, 4}), Shape({2, 5, 2, 4})},
       {{"bihd", "bjhd"}, "bhij"},
       Shape({2, 2, 3, 5}),
       4},
      {"ellipsis",
       {Shape({2, 1, 3, 4}), Shape({1, 5, 4, 2})},
       {{".ij", ".jk"}, ".ik"},
       Shape({2, 5, 3, 2}),
       4},
      {"three",
       {Shape({2, 3}), Shape({3, 4}), Shape({4})},
       {{"ij", "jk", "k"}, "i"},
       Shape({2}),
       12},
      {"outer", {Shape({3}), Shape({2})}, {{"i", "j"}, "ij"}, Shape({3, 2})},
      {"empty",
       {Shape({3, 0}), Shape({0, 2})},
       {{"ij", "jk"}, "ik"},
       Shape({3, 2})},
  };
  for (const Case& test : cases) {
    TestNode node{.op = OpKind::kEinsum,
                  .outputs = {{dtype, test.output}},
                  .params = test.params};
    uint64_t seed = 1;
    for (const Shape& shape : test.inputs) {
      node.inputs.push_back(Pattern(dtype, shape, seed++));
    }
    nodes.push_back({absl::StrCat("einsum_", test.name, "_", DTypeName(dtype)),
                     node,
                     ToleranceFor(dtype, OpFamily::kContraction, test.depth)});
  }
}

void AddDeformConvs(DType dtype, std::vector<NamedNode>& nodes) {
  const auto add = [&](const std::string& name, Shape x, Shape w, Shape offset,
                       Shape mask, Shape y, const DeformConvParams& params) {
    const int64_t depth = w.element_count() / w[0];
    const Shape bias({w[0]});
    nodes.push_back(
        {absl::StrCat("deform_conv_", name, "_", DTypeName(dtype)),
         {.op = OpKind::kDeformConv,
          .inputs = {Pattern(dtype, std::move(x), 1),
                     Pattern(dtype, std::move(w), 2),
                     Pattern(dtype, std::move(offset), 3),
                     mask.rank() == 0 ? TestTensor() : Pattern(dtype, bias, 4),
                     mask.rank() == 0 ? TestTensor()
                                      : Pattern(dtype, std::move(mask), 5)},
          .outputs = {{dtype, std::move(y)}},
          .params = params},
         ToleranceFor(dtype, OpFamily::kContraction, 8 * depth)});
  };
  DeformConvParams params;
  params.conv.kernel_shape = {2, 2};
  add("plain", Shape({2, 2, 4, 5}), Shape({3, 2, 2, 2}), Shape({2, 8, 3, 4}),
      Shape(), Shape({2, 3, 3, 4}), params);
  params.conv.pads = {1, 0, 1, 1};
  params.conv.strides = {2, 1};
  params.conv.dilations = {1, 2};
  params.conv.group = 2;
  params.offset_group = 2;
  add("grouped", Shape({1, 4, 5, 6}), Shape({4, 2, 2, 2}), Shape({1, 16, 3, 5}),
      Shape({1, 8, 3, 5}), Shape({1, 4, 3, 5}), params);
  DeformConvParams line;
  line.conv.kernel_shape = {3};
  add("line", Shape({1, 2, 7}), Shape({2, 2, 3}), Shape({1, 3, 5}), Shape(),
      Shape({1, 2, 5}), line);
}

void AddCol2Ims(DType dtype, std::vector<NamedNode>& nodes) {
  const auto add = [&](const std::string& name, Shape x,
                       const std::vector<int64_t>& image,
                       const std::vector<int64_t>& block, Shape y,
                       const Col2ImParams& params) {
    const auto rank = static_cast<int64_t>(image.size());
    nodes.push_back({absl::StrCat("col2im_", name, "_", DTypeName(dtype)),
                     {.op = OpKind::kCol2Im,
                      .inputs = {Pattern(dtype, std::move(x)),
                                 Tensor<int64_t>(Shape({rank}), image),
                                 Tensor<int64_t>(Shape({rank}), block)},
                      .outputs = {{dtype, std::move(y)}},
                      .params = params,
                      .is_constant = {false, true, true}},
                     ToleranceFor(dtype, OpFamily::kReduction, 9)});
  };
  add("plain", Shape({1, 5, 5}), {5, 5}, {1, 5}, Shape({1, 1, 5, 5}), {});
  Col2ImParams params;
  params.strides = {2, 1};
  params.pads = {1, 0, 1, 1};
  params.dilations = {1, 2};
  // Blocks down: (6 + 2 - 1 - 1) / 2 + 1; across: (5 + 1 - 2 - 1) / 1 + 1.
  add("padded", Shape({2, 8, 16}), {6, 5}, {2, 2}, Shape({2, 2, 6, 5}), params);
  add("volume", Shape({1, 8, 4}), {2, 3, 3}, {2, 2, 2}, Shape({1, 1, 2, 3, 3}),
      {});
}

void AddRotaryEmbeddings(DType dtype, std::vector<NamedNode>& nodes) {
  for (bool is_interleaved : {false, true}) {
    const std::string suffix = absl::StrCat(
        "_", DTypeName(dtype), is_interleaved ? "_interleaved" : "");
    RotaryEmbeddingParams params;
    params.is_interleaved = is_interleaved;
    nodes.push_back(
        {absl::StrCat("rotary_embedding", suffix),
         {.op = OpKind::kRotaryEmbedding,
          .inputs = {Pattern(dtype, Shape({2, 3, 4, 8})),
                     Pattern(dtype, Shape({10, 4}), 2),
                     Pattern(dtype, Shape({10, 4}), 3),
                     Tensor<int64_t>(Shape({2, 4}), {0, 9, 1, 2, 3, 3, 4, 5})},
          .outputs = {{dtype, Shape({2, 3, 4, 8})}},
          .params = params},
         ToleranceFor(dtype, OpFamily::kContraction, 2)});
    params.head_count = 2;
    params.rotary_dimensions = 4;
    nodes.push_back({absl::StrCat("rotary_embedding_of_part", suffix),
                     {.op = OpKind::kRotaryEmbedding,
                      .inputs = {Pattern(dtype, Shape({2, 3, 12})),
                                 Pattern(dtype, Shape({2, 3, 2}), 2),
                                 Pattern(dtype, Shape({2, 3, 2}), 3)},
                      .outputs = {{dtype, Shape({2, 3, 12})}},
                      .params = params},
                     ToleranceFor(dtype, OpFamily::kContraction, 2)});
  }
}

void AddCausalConvs(DType dtype, std::vector<NamedNode>& nodes) {
  for (bool has_past : {false, true}) {
    TestNode node{
        .op = OpKind::kCausalConvWithState,
        .inputs = {Pattern(dtype, Shape({2, 3, 5}), 1),
                   Pattern(dtype, Shape({3, 1, 4}), 2)},
        .outputs = {{dtype, Shape({2, 3, 5})}, {dtype, Shape({2, 3, 3})}},
        .params = CausalConvParams{has_past}};
    if (has_past) {
      node.inputs.push_back(Pattern(dtype, Shape({3}), 3));
      node.inputs.push_back(Pattern(dtype, Shape({2, 3, 3}), 4));
    }
    nodes.push_back({absl::StrCat("causal_conv_", DTypeName(dtype),
                                  has_past ? "_with_past" : ""),
                     node, ToleranceFor(dtype, OpFamily::kContraction, 4)});
  }
}

void AddTensorScatters(DType dtype, std::vector<NamedNode>& nodes) {
  for (bool is_circular : {false, true}) {
    nodes.push_back(
        {absl::StrCat("tensor_scatter_", DTypeName(dtype),
                      is_circular ? "_circular" : ""),
         {.op = OpKind::kTensorScatter,
          .inputs = {Pattern(dtype, Shape({2, 3, 5, 4}), 1),
                     Pattern(dtype, Shape({2, 3, 2, 4}), 2),
                     is_circular ? Tensor<int64_t>(Shape({2}), {4, -3})
                                 : Tensor<int64_t>(Shape({2}), {3, 0})},
          .outputs = {{dtype, Shape({2, 3, 5, 4})}},
          .params = TensorScatterParams{-2, is_circular}}});
  }
}

}  // namespace

std::vector<NamedNode> ContractionNodes() {
  std::vector<NamedNode> nodes;
  for (DType dtype : kFloats) {
    AddEinsums(dtype, nodes);
    AddDeformConvs(dtype, nodes);
    AddCol2Ims(dtype, nodes);
  }
  for (DType dtype : {DType::kInt32, DType::kInt64}) {
    AddEinsums(dtype, nodes);
  }
  for (DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
    AddRotaryEmbeddings(dtype, nodes);
    AddCausalConvs(dtype, nodes);
  }
  for (DType dtype : {DType::kInt8, DType::kFloat16, DType::kFloat64}) {
    AddTensorScatters(dtype, nodes);
  }
  return nodes;
}

}  // namespace tensord::cuda
