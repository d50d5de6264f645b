#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/api/expression.h"
#include "tests/backends/cuda/named_node.h"

// Nodes of few_rows.cu, and of tensor_products.cu: rows by constant weights.
namespace tensord::cuda {
namespace {

TestNode Node(OpKind op, DType dtype, Shape a, Shape b, Shape y) {
  return {.op = op,
          .inputs = {Pattern(dtype, std::move(a), 1),
                     Pattern(dtype, std::move(b), 2)},
          .outputs = {{dtype, std::move(y)}},
          .is_constant = {false, true}};
}

Tolerance ToleranceOf(DType dtype, int64_t depth) {
  Tolerance tolerance = ToleranceFor(dtype, OpFamily::kContraction, depth);
  tolerance.absolute *= 4;  // terms are up to 4
  return tolerance;
}

void AddMatMuls(DType dtype, std::vector<NamedNode>& nodes) {
  // One row, more than one tile of 8, both full; K below a step, past one, and
  // more steps than a block has under way; N past the tiles.
  for (int64_t m : {1, 3, 9, 16}) {
    for (int64_t k : {8, 40, 1608}) {
      const int64_t n = k == 40 ? 48 : 21;
      nodes.push_back(
          {absl::StrCat("few_rows_", m, "_", k, "_", n, "_", DTypeName(dtype)),
           Node(OpKind::kMatMul, dtype, {m, k}, {k, n}, {m, n}),
           ToleranceOf(dtype, k)});
    }
  }
  // Small tiles and large ones; K for one warp, for some, and for all to take
  // turns along.
  for (int64_t m : {17, 70}) {
    for (int64_t k : {8, 104, 296}) {
      const int64_t n = m == 17 ? 24 : 40;
      nodes.push_back({absl::StrCat("rows_", m, "_", k, "_", DTypeName(dtype)),
                       Node(OpKind::kMatMul, dtype, {m, k}, {k, n}, {m, n}),
                       ToleranceOf(dtype, k)});
    }
  }
  nodes.push_back({absl::StrCat("few_rows_of_a_vector_", DTypeName(dtype)),
                   Node(OpKind::kMatMul, dtype, {48}, {48, 20}, {20}),
                   ToleranceOf(dtype, 48)});
  nodes.push_back(
      {absl::StrCat("few_rows_of_a_batch_", DTypeName(dtype)),
       Node(OpKind::kMatMul, dtype, {2, 3, 48}, {48, 20}, {2, 3, 20}),
       ToleranceOf(dtype, 48)});
}

void AddGemms(DType dtype, std::vector<NamedNode>& nodes) {
  const int64_t m = 5, k = 72, n = 40;
  const std::vector<Shape> addends = {{n}, {m, 1}, {m, n}, {1}};
  for (size_t i = 0; i < addends.size(); ++i) {
    const bool is_transposed = i % 2 == 1;
    TestNode node = Node(OpKind::kGemm, dtype, {m, k},
                         is_transposed ? Shape({n, k}) : Shape({k, n}), {m, n});
    node.inputs.push_back(Pattern(dtype, addends[i], 3));
    node.params =
        GemmParams{.alpha = 0.5f, .beta = 2, .transpose_b = is_transposed};
    nodes.push_back({absl::StrCat("few_rows_gemm_", i, "_", DTypeName(dtype)),
                     std::move(node), ToleranceOf(dtype, k)});
  }
}

void AddEpilogue(DType dtype, std::vector<NamedNode>& nodes) {
  const int64_t m = 2, k = 64, n = 50;
  TestNode node = Node(OpKind::kMatMul, dtype, {m, k}, {k, n}, {m, n});
  node.inputs.push_back(Pattern(dtype, Shape({n}), 3));
  node.params.epilogue = std::make_shared<const Epilogue>(
      Epilogue{2,
               {.input_count = 2,
                .steps = {{OpKind::kAdd, {0, 1}},
                          {OpKind::kGelu, {2, ExpressionStep::kNoOperand}}}}});
  // The CPU rounds the product first, which is up to 40.
  Tolerance tolerance = ToleranceOf(dtype, k);
  tolerance.absolute *= 4;
  nodes.push_back(
      {absl::StrCat("few_rows_with_bias_and_gelu_", DTypeName(dtype)),
       std::move(node), tolerance});
}

}  // namespace

std::vector<NamedNode> FewRowsNodes() {
  std::vector<NamedNode> nodes;
  for (DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    AddMatMuls(dtype, nodes);
    AddGemms(dtype, nodes);
    AddEpilogue(dtype, nodes);
  }
  return nodes;
}

}  // namespace tensord::cuda
