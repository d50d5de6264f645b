#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/backends/cuda/named_node.h"

// Nodes of attention.cu and its faster siblings.
namespace tensord::cuda {
namespace {

struct AttentionCase {
  std::string name;
  int64_t batch = 2;
  int64_t query_heads = 2, key_heads = 2;
  int64_t queries = 3, past = 0, fresh = 4;
  int64_t size = 5, value_size = 6;
  bool is_packed = false;  // [batch, sequence, heads * size]
  bool shares_rows = false;
  std::optional<Shape> mask = {};
  bool mask_is_bool = false;
  std::vector<int64_t> lengths = {};
  bool has_present = false;
  int scores_mode = -1;  // no fourth output
  AttentionParams params = {};
};

TestTensor Operand(const AttentionCase& c, DType dtype, int64_t heads,
                   int64_t rows, int64_t size, uint64_t seed) {
  return Pattern(dtype,
                 c.is_packed ? Shape({c.batch, rows, heads * size})
                             : Shape({c.batch, heads, rows, size}),
                 seed);
}

// Some of a bool mask's keys are not seen, and of the other's none by a part of
// the queries.
TestTensor MaskOf(const AttentionCase& c, DType dtype) {
  if (!c.mask.has_value()) return {};
  if (c.mask_is_bool) return Pattern(DType::kBool, *c.mask, 5);
  TestTensor numbers = Pattern(dtype, *c.mask, 5);
  std::vector<double> values;
  for (int64_t i = 0; i < c.mask->element_count(); ++i) {
    const bool is_never = i % 5 == 0 || i < (*c.mask)[c.mask->rank() - 1];
    values.push_back(is_never ? -std::numeric_limits<double>::infinity()
                              : numbers.At(i));
  }
  return TensorOf(dtype, *c.mask, values);
}

NamedNode NodeOf(const AttentionCase& c, DType dtype) {
  const int64_t keys = c.past + c.fresh;
  TestNode node{.op = OpKind::kAttention};
  if (c.shares_rows) {
    node.inputs = {Pattern(dtype,
                           Shape({c.batch, c.queries,
                                  (c.query_heads + 2 * c.key_heads) * c.size}),
                           1),
                   TestTensor(), TestTensor()};
  } else {
    node.inputs = {Operand(c, dtype, c.query_heads, c.queries, c.size, 1),
                   Operand(c, dtype, c.key_heads, c.fresh, c.size, 2),
                   Operand(c, dtype, c.key_heads, c.fresh, c.value_size, 3)};
  }
  node.inputs.push_back(MaskOf(c, dtype));
  node.inputs.resize(7);
  if (c.past > 0) {
    const Shape key({c.batch, c.key_heads, c.past, c.size});
    const Shape value({c.batch, c.key_heads, c.past, c.value_size});
    node.inputs[4] = Pattern(dtype, key, 7);
    node.inputs[5] = Pattern(dtype, value, 8);
  }
  if (!c.lengths.empty()) {
    node.inputs[6] = Tensor<int64_t>(Shape({c.batch}), c.lengths);
  }
  AttentionParams params = c.params;
  if (c.is_packed || c.shares_rows) {
    params.query_heads = c.query_heads;
    params.key_value_heads = c.key_heads;
  }
  params.packs_qkv = c.shares_rows;
  node.outputs = {
      {dtype, c.is_packed || c.shares_rows
                  ? Shape({c.batch, c.queries, c.query_heads * c.value_size})
                  : Shape({c.batch, c.query_heads, c.queries, c.value_size})}};
  if (c.has_present) {
    node.outputs.push_back(
        {dtype, Shape({c.batch, c.key_heads, keys, c.size})});
    node.outputs.push_back(
        {dtype, Shape({c.batch, c.key_heads, keys, c.value_size})});
  }
  if (c.scores_mode >= 0) {
    node.outputs.resize(3, {DType::kUndefined, Shape()});
    node.outputs.push_back(
        {dtype, Shape({c.batch, c.query_heads, c.queries, keys})});
    params.matmul_output_mode = c.scores_mode;
  }
  node.params = params;
  // Products of numbers up to 2; the exponentials multiply what they are off
  // by.
  Tolerance tolerance =
      ToleranceFor(dtype, OpFamily::kContraction, 16 * c.size);
  return {absl::StrCat("attention_", c.name, "_", DTypeName(dtype)),
          std::move(node), tolerance};
}

std::vector<AttentionCase> Cases() {
  std::vector<AttentionCase> cases = {
      {.name = "plain"},
      {.name = "packed", .is_packed = true},
      {.name = "of_shared_rows",
       .query_heads = 4,
       .queries = 37,
       .fresh = 37,
       .size = 16,
       .value_size = 16,
       .shares_rows = true},
      {.name = "of_groups", .query_heads = 6, .queries = 20, .fresh = 70},
      {.name = "causal",
       .queries = 35,
       .fresh = 35,
       .params = {.is_causal = true}},
      {.name = "of_one_query",
       .queries = 1,
       .fresh = 100,
       .size = 64,
       .value_size = 64},
      {.name = "of_large_heads",
       .queries = 5,
       .fresh = 40,
       .size = 130,
       .value_size = 150},
      {.name = "of_64",
       .batch = 1,
       .queries = 70,
       .fresh = 70,
       .size = 64,
       .value_size = 64},
      {.name = "of_64_packed",
       .batch = 1,
       .query_heads = 4,
       .queries = 20,
       .fresh = 130,
       .size = 64,
       .value_size = 64,
       .is_packed = true},
      {.name = "of_32_shared",
       .query_heads = 3,
       .key_heads = 3,
       .queries = 33,
       .fresh = 33,
       .size = 32,
       .value_size = 32,
       .shares_rows = true},
      {.name = "of_128",
       .batch = 1,
       .query_heads = 1,
       .key_heads = 1,
       .queries = 20,
       .fresh = 33,
       .size = 128,
       .value_size = 128},
      {.name = "of_32_causal",
       .batch = 1,
       .queries = 70,
       .past = 6,
       .fresh = 70,
       .size = 32,
       .value_size = 32,
       .has_present = true,
       .params = {.is_causal = true, .softcap = 3}},
      {.name = "of_32_with_a_window",
       .batch = 1,
       .queries = 90,
       .fresh = 90,
       .size = 32,
       .value_size = 32,
       .params = {.left_window = 9, .right_window = 3}},
      {.name = "of_32_with_a_mask",
       .queries = 18,
       .fresh = 66,
       .size = 32,
       .value_size = 32,
       .mask = Shape({18, 66})},
      {.name = "of_32_with_a_bool_mask",
       .queries = 18,
       .fresh = 66,
       .size = 32,
       .value_size = 32,
       .mask = Shape({2, 1, 1, 66}),
       .mask_is_bool = true},
      {.name = "with_a_mask",
       .queries = 18,
       .fresh = 34,
       .mask = Shape({18, 34})},
      {.name = "with_a_bool_mask",
       .queries = 18,
       .fresh = 34,
       .mask = Shape({2, 1, 18, 34}),
       .mask_is_bool = true},
      {.name = "with_a_short_mask",
       .queries = 7,
       .fresh = 34,
       .mask = Shape({2, 1, 1, 20}),
       .mask_is_bool = true},
      {.name = "with_a_past",
       .queries = 4,
       .past = 33,
       .fresh = 4,
       .is_packed = true,
       .has_present = true,
       .params = {.is_causal = true}},
      {.name = "with_lengths",
       .queries = 5,
       .fresh = 40,
       .lengths = {17, 40},
       .params = {.is_causal = true}},
      {.name = "with_windows",
       .queries = 50,
       .fresh = 50,
       .params = {.left_window = 9, .right_window = 3}},
      {.name = "with_a_softcap",
       .queries = 9,
       .fresh = 9,
       .params = {.scale = 0.7f, .softcap = 1.5f}},
      {.name = "of_no_keys", .fresh = 0},
      {.name = "of_no_batch", .batch = 0},
  };
  for (int mode = 0; mode < 4; ++mode) {
    cases.push_back({.name = absl::StrCat("told_", mode),
                     .queries = 19,
                     .fresh = 45,
                     .value_size = 140,
                     .mask = Shape({19, 45}),
                     .scores_mode = mode,
                     .params = {.is_causal = true, .softcap = 2}});
  }
  return cases;
}

}  // namespace

std::vector<NamedNode> AttentionNodes() {
  std::vector<NamedNode> nodes;
  for (const AttentionCase& c : Cases()) {
    nodes.push_back(NodeOf(c, DType::kFloat32));
    // What differs by dtype is how elements are read, and the kernels of these
    // sizes.
    if (c.size % 32 != 0 && c.scores_mode < 0) continue;
    nodes.push_back(NodeOf(c, DType::kFloat16));
    nodes.push_back(NodeOf(c, DType::kBFloat16));
  }
  return nodes;
}

}  // namespace tensord::cuda
