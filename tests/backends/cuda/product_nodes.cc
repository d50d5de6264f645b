#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/api/expression.h"
#include "tests/backends/cuda/named_node.h"

// Nodes of products.cu, with and without epilogues.
namespace tensord::cuda {
namespace {

constexpr DType kFloats[] = {DType::kFloat32, DType::kFloat64, DType::kFloat16,
                             DType::kBFloat16};

Tolerance ToleranceOf(DType dtype, int64_t depth) {
  // Factors are up to 2, so that terms are up to 4.
  Tolerance tolerance = ToleranceFor(dtype, OpFamily::kContraction, depth);
  tolerance.absolute *= 4;
  return tolerance;
}

NamedNode MatMul(DType dtype, Shape a, Shape b, Shape y) {
  std::string name = absl::StrCat("matmul_", DTypeName(dtype));
  for (const Shape* shape : {&a, &b}) {
    absl::StrAppend(&name, "_of");
    for (int64_t extent : shape->extents()) absl::StrAppend(&name, "_", extent);
  }
  const int64_t depth = a[a.rank() - 1];
  return {name,
          {.op = OpKind::kMatMul,
           .inputs = {Pattern(dtype, std::move(a), 1),
                      Pattern(dtype, std::move(b), 2)},
           .outputs = {{dtype, std::move(y)}}},
          ToleranceOf(dtype, depth)};
}

void AddMatMuls(std::vector<NamedNode>& nodes) {
  for (DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16,
                      DType::kBFloat16, DType::kInt32, DType::kUInt64}) {
    nodes.push_back(MatMul(dtype, {3, 5}, {5, 7}, {3, 7}));
    nodes.push_back(MatMul(dtype, {65, 33}, {33, 68}, {65, 68}));
  }
  nodes.push_back(MatMul(DType::kInt64, {3, 5}, {5, 7}, {3, 7}));
  nodes.push_back(MatMul(DType::kUInt32, {3, 5}, {5, 7}, {3, 7}));
  const DType f = DType::kFloat32;
  nodes.push_back(MatMul(f, {17}, {17}, {}));
  nodes.push_back(MatMul(f, {17}, {17, 4}, {4}));
  nodes.push_back(MatMul(f, {4, 17}, {17}, {4}));
  nodes.push_back(MatMul(f, {2, 3, 9}, {9, 130}, {2, 3, 130}));
  nodes.push_back(MatMul(f, {2, 1, 3, 9}, {5, 9, 4}, {2, 5, 3, 4}));
  nodes.push_back(MatMul(f, {3, 9}, {2, 5, 9, 4}, {2, 5, 3, 4}));
  nodes.push_back(MatMul(f, {3, 0}, {0, 4}, {3, 4}));
  nodes.push_back(MatMul(f, {0, 3}, {3, 4}, {0, 4}));
  nodes.push_back(MatMul(f, {2, 0, 3}, {2, 3, 4}, {2, 0, 4}));
}

void AddGemms(std::vector<NamedNode>& nodes) {
  const int64_t m = 18, n = 21, k = 35;
  for (DType dtype : kFloats) {
    for (int transposed = 0; transposed < 4; ++transposed) {
      const bool a = (transposed & 1) != 0;
      const bool b = (transposed & 2) != 0;
      const std::vector<Shape> addends = {{n}, {m, 1}, {m, n}, {}};
      nodes.push_back(
          {absl::StrCat("gemm_", DTypeName(dtype), "_", transposed),
           {.op = OpKind::kGemm,
            .inputs = {Pattern(dtype, a ? Shape({k, m}) : Shape({m, k}), 1),
                       Pattern(dtype, b ? Shape({n, k}) : Shape({k, n}), 2),
                       Pattern(dtype, addends[transposed], 3)},
            .outputs = {{dtype, Shape({m, n})}},
            .params = GemmParams{.alpha = 0.5f,
                                 .beta = 2,
                                 .transpose_a = a,
                                 .transpose_b = b}},
           ToleranceOf(dtype, k)});
    }
  }
  for (DType dtype :
       {DType::kInt32, DType::kInt64, DType::kUInt32, DType::kUInt64}) {
    nodes.push_back({absl::StrCat("gemm_", DTypeName(dtype)),
                     {.op = OpKind::kGemm,
                      .inputs = {Pattern(dtype, Shape({m, k}), 1),
                                 Pattern(dtype, Shape({k, n}), 2),
                                 Pattern(dtype, Shape({n}), 3)},
                      .outputs = {{dtype, Shape({m, n})}},
                      .params = GemmParams{}}});
  }
  nodes.push_back(
      {"gemm_without_an_addend",
       {.op = OpKind::kGemm,
        .inputs = {Pattern(DType::kFloat32, Shape({m, k}), 1),
                   Pattern(DType::kFloat32, Shape({k, n}), 2), TestTensor()},
        .outputs = {{DType::kFloat32, Shape({m, n})}},
        .params = GemmParams{}},
       ToleranceOf(DType::kFloat32, k)});
}

// A MatMul or Gemm of [m, k] and [k, n] with the steps behind it; `more` are
// the shapes of the inputs that they read.
NamedNode WithSteps(const std::string& name, OpKind op, DType dtype, int64_t m,
                    int64_t n, Expression steps, std::vector<Shape> more) {
  const int64_t k = 20;
  const int own = op == OpKind::kGemm ? 3 : 2;
  TestNode node{.op = op,
                .inputs = {Pattern(dtype, Shape({m, k}), 1),
                           Pattern(dtype, Shape({k, n}), 2)},
                .outputs = {{dtype, Shape({m, n})}}};
  if (op == OpKind::kGemm) node.params = GemmParams{};
  node.inputs.resize(own);
  for (size_t i = 0; i < more.size(); ++i) {
    node.inputs.push_back(Pattern(dtype, more[i], 10 + i));
  }
  steps.input_count = static_cast<int32_t>(more.size()) + 1;
  node.params.epilogue =
      std::make_shared<const Epilogue>(Epilogue{own, std::move(steps)});
  Tolerance tolerance = ToleranceOf(dtype, k);
  // Steps of a rounded result multiply what the rounding was off by.
  if (dtype == DType::kFloat16) tolerance.absolute = 2e-2;
  if (dtype == DType::kBFloat16) tolerance.absolute = 0.15;
  return {absl::StrCat(name, "_", DTypeName(dtype)), std::move(node),
          tolerance};
}

void AddEpilogues(std::vector<NamedNode>& nodes) {
  constexpr int32_t kNone = ExpressionStep::kNoOperand;
  for (DType dtype : kFloats) {
    for (int64_t n : {24, 67}) {
      const std::string at = absl::StrCat("_", n);
      nodes.push_back(WithSteps(
          "bias_and_gelu" + at, OpKind::kMatMul, dtype, 5, n,
          {.steps = {{OpKind::kAdd, {0, 1}}, {OpKind::kGelu, {2, kNone}}}},
          {{n}}));
      // What is computed for neighbours at once where n allows it.
      nodes.push_back(WithSteps("bias_residual_and_relu" + at, OpKind::kMatMul,
                                dtype, 9, n,
                                {.constants = {1.5},
                                 .steps = {{OpKind::kAdd, {0, 1}},
                                           {OpKind::kSub, {2, 4}},
                                           {OpKind::kMul, {5, 3}},
                                           {OpKind::kRelu, {6, kNone}}}},
                                {{n}, {9, n}}));
      // 0.5 * sigmoid(y * x1 + x2 - x3) + y: the own result twice, a column, a
      // scalar, and a constant.
      nodes.push_back(WithSteps("all_operands" + at, OpKind::kGemm, dtype, 9, n,
                                {.constants = {0.5},
                                 .steps = {{OpKind::kMul, {0, 1}},
                                           {OpKind::kAdd, {5, 2}},
                                           {OpKind::kSub, {6, 3}},
                                           {OpKind::kSigmoid, {7, kNone}},
                                           {OpKind::kMul, {4, 8}},
                                           {OpKind::kAdd, {9, 0}}}},
                                {{9, 1}, {9, n}, {}}));
    }
  }
  // A result that is read again later.
  nodes.push_back(WithSteps("a_place", OpKind::kMatMul, DType::kFloat32, 3, 8,
                            {.constants = {2},
                             .steps = {{OpKind::kMul, {0, 1}},
                                       {OpKind::kTanh, {2, kNone}},
                                       {OpKind::kExp, {3, kNone}},
                                       {OpKind::kSub, {2, 4}},
                                       {OpKind::kDiv, {3, 5}}}},
                            {}));
}

}  // namespace

std::vector<NamedNode> ProductNodes() {
  std::vector<NamedNode> nodes;
  AddMatMuls(nodes);
  AddGemms(nodes);
  AddEpilogues(nodes);
  return nodes;
}

}  // namespace tensord::cuda
