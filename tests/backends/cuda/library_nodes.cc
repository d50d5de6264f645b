#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/backends/cuda/named_node.h"

// Nodes of the forms that libraries take: products and convolutions with what
// comes behind them, channels last with weights that are known, and chains
// whose operands broadcast. Other kernels compute them as well.
namespace tensord::cuda {
namespace {

constexpr int32_t kNone = ExpressionStep::kNoOperand;

// What stands behind a product: a bias, a residual, then `activation`.
struct Behind {
  std::string name;
  bool has_bias = false;
  bool has_residual = false;
  OpKind activation = OpKind::kIdentity;  // none
  std::array<double, 2> parameters = {};
};

const std::vector<Behind>& AllBehind() {
  static const auto* const all = new std::vector<Behind>{
      {.name = "bias", .has_bias = true},
      {.name = "relu", .activation = OpKind::kRelu},
      {.name = "bias_relu", .has_bias = true, .activation = OpKind::kRelu},
      {.name = "residual", .has_residual = true},
      {.name = "bias_residual_relu",
       .has_bias = true,
       .has_residual = true,
       .activation = OpKind::kRelu},
      {.name = "bias_relu6",
       .has_bias = true,
       .activation = OpKind::kClip,
       .parameters = {0, 6}},
      {.name = "bias_gelu", .has_bias = true, .activation = OpKind::kGelu},
      {.name = "bias_gelu_tanh",
       .has_bias = true,
       .activation = OpKind::kGelu,
       .parameters = {1, 0}}};
  return *all;
}

// Adds the epilogue to a node that has its own inputs alone.
void Append(const Behind& behind, Shape bias, int own_inputs, TestNode& node) {
  const DType dtype = node.outputs[0].dtype;
  node.inputs.resize(own_inputs);
  auto epilogue = std::make_shared<Epilogue>();
  epilogue->own_input_count = own_inputs;
  Expression& expression = epilogue->expression;
  expression.input_count = 1 + behind.has_bias + behind.has_residual;
  int32_t current = 0;
  const auto step = [&](OpKind op, int32_t other) {
    expression.steps.push_back({.op = op,
                                .operands = {current, other},
                                .parameters = behind.parameters});
    current = expression.ValueCount() - 1;
  };
  if (behind.has_bias) {
    node.inputs.push_back(Pattern(dtype, std::move(bias), 7));
    step(OpKind::kAdd, 1);
  }
  if (behind.has_residual) {
    node.inputs.push_back(Pattern(dtype, node.outputs[0].shape, 8));
    step(OpKind::kAdd, behind.has_bias ? 2 : 1);
  }
  if (behind.activation != OpKind::kIdentity) step(behind.activation, kNone);
  node.params.epilogue = std::move(epilogue);
}

// bfloat16 differs by its rounding alone; the emulated GPU is slow.
#ifdef TENSORD_CUDA_EMULATION
constexpr DType kFloats[] = {DType::kFloat32, DType::kFloat16};
#else
constexpr DType kFloats[] = {DType::kFloat32, DType::kFloat16,
                             DType::kBFloat16};
#endif

void AddProducts(std::vector<NamedNode>& nodes) {
  for (DType dtype : kFloats) {
    const auto add = [&](std::string name, Shape a, Shape b, Shape y,
                         const Behind* behind) {
      TestNode node{.op = OpKind::kMatMul,
                    .inputs = {Pattern(dtype, a, 1), Pattern(dtype, b, 2)},
                    .outputs = {{dtype, y}}};
      const int64_t depth = a[a.rank() - 1];
      if (behind != nullptr) {
        Append(*behind, Shape({y[y.rank() - 1]}), 2, node);
        absl::StrAppend(&name, "_", behind->name);
      }
      nodes.push_back({absl::StrCat("matmul_", DTypeName(dtype), "_", name),
                       std::move(node),
                       ToleranceFor(dtype, OpFamily::kContraction, depth)});
    };
    add("plain", {40, 128}, {128, 72}, {40, 72}, nullptr);
    add("odd", {19, 33}, {33, 21}, {19, 21}, nullptr);
    add("tall", {3, 17, 64}, {64, 24}, {3, 17, 24}, nullptr);
    add("batch", {3, 18, 32}, {3, 32, 24}, {3, 18, 24}, nullptr);
    add("one_for_all", {18, 32}, {3, 32, 24}, {3, 18, 24}, nullptr);
    for (const Behind& behind : AllBehind()) {
      add("fused", {40, 128}, {128, 72}, {40, 72}, &behind);
    }
    add("fused_tall", {2, 20, 64}, {64, 24}, {2, 20, 24}, &AllBehind()[4]);
  }
}

void AddGemms(std::vector<NamedNode>& nodes) {
  for (DType dtype : kFloats) {
    for (bool transposes_a : {false, true}) {
      for (bool transposes_b : {false, true}) {
        for (bool has_matrix : {false, true}) {
          GemmParams params;
          params.transpose_a = transposes_a;
          params.transpose_b = transposes_b;
          params.alpha = 0.5f;
          if (has_matrix) params.beta = 2;
          nodes.push_back(
              {absl::StrCat("gemm_", DTypeName(dtype),
                            transposes_a ? "_ta" : "",
                            transposes_b ? "_tb" : "",
                            has_matrix ? "_matrix" : "_vector"),
               {.op = OpKind::kGemm,
                .inputs = {Pattern(dtype, transposes_a ? Shape({48, 24})
                                                       : Shape({24, 48})),
                           Pattern(dtype, transposes_b ? Shape({40, 48})
                                                       : Shape({48, 40})),
                           Pattern(dtype,
                                   has_matrix ? Shape({24, 40}) : Shape({40}))},
                .outputs = {{dtype, Shape({24, 40})}},
                .params = params},
               ToleranceFor(dtype, OpFamily::kContraction, 48)});
        }
      }
    }
  }
}

struct ConvCase {
  std::string name;
  int64_t channels, rows, size, taps, stride = 1, group = 1, dilation = 1;
};

TestNode ConvNode(DType dtype, bool is_channels_last, const ConvCase& of,
                  const Behind& behind) {
  const int64_t span = (of.taps - 1) * of.dilation + 1;
  const int64_t pad = of.taps / 2;
  const int64_t out = (of.size + 2 * pad - span) / of.stride + 1;
  ConvParams params;
  params.strides = {of.stride, of.stride};
  params.dilations = {of.dilation, of.dilation};
  params.pads = {pad, pad, pad, pad};
  params.group = of.group;
  params.channels_last = is_channels_last;
  const auto image = [&](int64_t channels, int64_t size) {
    return is_channels_last ? Shape({2, size, size, channels})
                            : Shape({2, channels, size, size});
  };
  TestNode node{.op = OpKind::kConv,
                .inputs = {Pattern(dtype, image(of.channels, of.size), 1),
                           Pattern(dtype,
                                   Shape({of.rows, of.channels / of.group,
                                          of.taps, of.taps}),
                                   2)},
                .outputs = {{dtype, image(of.rows, out)}},
                .params = params};
  Append(behind,
         is_channels_last ? Shape({of.rows}) : Shape({1, of.rows, 1, 1}), 3,
         node);
  node.is_constant.assign(node.inputs.size(), false);
  node.is_constant[1] = true;
  return node;
}

// Its operands' values are the same in all dtypes.
void AddConv(std::vector<NamedNode>& nodes, DType dtype, bool is_channels_last,
             const ConvCase& of, const Behind& behind) {
  const int64_t depth = of.channels / of.group * of.taps * of.taps;
  NamedNode named{
      absl::StrCat("conv_", DTypeName(dtype), is_channels_last ? "_last_" : "_",
                   of.name, "_", behind.name),
      ConvNode(dtype, is_channels_last, of, behind),
      ToleranceFor(dtype, OpFamily::kContraction, depth)};
  if (is_channels_last) {
    named.cpu_node = ConvNode(DType::kFloat32, true, of, behind);
  }
  nodes.push_back(std::move(named));
}

void AddConvs(std::vector<NamedNode>& nodes) {
  const std::vector<ConvCase> cases = {
      {.name = "3x3", .channels = 16, .rows = 24, .size = 9, .taps = 3},
      {.name = "3x3_by_2",
       .channels = 16,
       .rows = 24,
       .size = 9,
       .taps = 3,
       .stride = 2},
      {.name = "1x1", .channels = 32, .rows = 40, .size = 7, .taps = 1},
      {.name = "1x1_by_2",
       .channels = 32,
       .rows = 40,
       .size = 7,
       .taps = 1,
       .stride = 2},
      {.name = "first",
       .channels = 3,
       .rows = 16,
       .size = 21,
       .taps = 7,
       .stride = 2},
      {.name = "grouped",
       .channels = 16,
       .rows = 32,
       .size = 8,
       .taps = 3,
       .group = 4},
      {.name = "dilated",
       .channels = 8,
       .rows = 8,
       .size = 11,
       .taps = 3,
       .dilation = 2},
  };
  for (DType dtype : kFloats) {
    for (bool is_channels_last : {false, true}) {
      for (const ConvCase& of : cases) {
        AddConv(nodes, dtype, is_channels_last, of, AllBehind()[2]);
      }
      for (size_t i = 0; i < 6; ++i) {
        if (i == 2) continue;
        AddConv(nodes, dtype, is_channels_last, cases[0], AllBehind()[i]);
        AddConv(nodes, dtype, is_channels_last, cases[2], AllBehind()[i]);
      }
    }
  }
}

#ifndef TENSORD_CUDA_EMULATION
// (x0 + x1) * x2 and a few more steps behind, with operands that broadcast in
// each of the ways that a text has words for.
void AddChains(std::vector<NamedNode>& nodes) {
  struct Case {
    std::string name;
    Shape second, third, y;
  };
  const std::vector<Case> cases = {
      {"alike", {6, 64}, {6, 64}, {6, 64}},
      {"row_and_column", {64}, {6, 1}, {6, 64}},
      {"one", {1}, {1, 1}, {6, 64}},
      {"odd", {7}, {3, 1}, {3, 7}},
      {"inside", {2, 1, 16, 1}, {5, 1, 8}, {2, 5, 16, 8}},
      {"outside", {3, 1, 1}, {1, 4, 16}, {3, 4, 16}},
  };
  for (DType dtype :
       {DType::kFloat32, DType::kFloat16, DType::kBFloat16, DType::kFloat64}) {
    for (const Case& of : cases) {
      Expression expression;
      expression.input_count = 3;
      expression.constants = {0.25};
      expression.steps = {
          {.op = OpKind::kAdd, .operands = {0, 1}},
          {.op = OpKind::kMul, .operands = {4, 2}},
          {.op = OpKind::kSigmoid, .operands = {5, kNone}},
          {.op = OpKind::kMul, .operands = {5, 6}},
          {.op = OpKind::kMax, .operands = {7, 3}},
          {.op = OpKind::kElu, .operands = {8, kNone}, .parameters = {0.5, 0}},
          {.op = OpKind::kClip, .operands = {9, kNone}, .parameters = {-1, 3}}};
      nodes.push_back(
          {absl::StrCat("chain_", DTypeName(dtype), "_", of.name),
           {.op = OpKind::kElementwiseChain,
            .inputs = {Pattern(dtype, of.y, 1), Pattern(dtype, of.second, 2),
                       Pattern(dtype, of.third, 3)},
            .outputs = {{dtype, of.y}},
            .params = expression},
           ToleranceFor(dtype, OpFamily::kTranscendental)});
    }
  }
}
#endif

}  // namespace

std::vector<NamedNode> LibraryNodes() {
  std::vector<NamedNode> nodes;
  AddProducts(nodes);
  AddGemms(nodes);
  AddConvs(nodes);
#ifndef TENSORD_CUDA_EMULATION
  AddChains(nodes);
#endif
  return nodes;
}

}  // namespace tensord::cuda
