#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

namespace tensord {
namespace {

using ::testing::HasSubstr;

constexpr double kNever = -std::numeric_limits<double>::infinity();

struct AttentionCase {
  std::string name;
  int64_t batch = 2;
  int64_t query_heads = 2, key_heads = 2;
  int64_t queries = 3, past = 0, fresh = 4;
  int64_t size = 5, value_size = 6;
  bool is_packed = false;
  bool is_causal = false;
  std::optional<Dims> mask = {};
  bool mask_is_bool = false;
  std::vector<int64_t> lengths = {};
  int64_t left_window = -1, right_window = -1;
  float scale = 0;  // 0: not given
  float softcap = 0;
};

struct Expected {
  std::vector<double> y, present_key, present_value;
  std::vector<double> told[4];
};

// x [batch, heads, rows, size], or packed, at its four indices.
double At(const TestTensor& x, const AttentionCase& c, int64_t heads,
          int64_t rows, int64_t size, int64_t b, int64_t h, int64_t row,
          int64_t i) {
  return x.At(c.is_packed ? ((b * rows + row) * heads + h) * size + i
                          : ((b * heads + h) * rows + row) * size + i);
}

// What is added to a score, by the standard's text.
double BiasOf(const AttentionCase& c, const TestTensor& mask, int64_t b,
              int64_t h, int64_t i, int64_t j) {
  int64_t position = c.past + i;
  if (!c.lengths.empty()) {
    if (j >= c.lengths[b]) return kNever;
    position = i + c.lengths[b] - c.queries;
  }
  if (c.is_causal && j > position) return kNever;
  if (c.left_window >= 0 && j < position - c.left_window) return kNever;
  if (c.right_window >= 0 && j > position + c.right_window) return kNever;
  if (!mask.is_present()) return 0;
  const int rank = mask.shape.rank();
  if (j >= mask.shape[rank - 1]) return kNever;
  const int64_t index[] = {b, h, i, j};
  int64_t at = 0;
  for (int d = 0; d < rank; ++d) {
    const int64_t own = index[4 - rank + d];
    at = at * mask.shape[d] + (mask.shape[d] == 1 ? 0 : own);
  }
  if (!c.mask_is_bool) return mask.At(at);
  return mask.At(at) != 0 ? 0 : kNever;
}

// One row of scores becomes its softmax; all that see nothing become zeros.
void Soften(std::vector<double>& row, bool sees_any) {
  const double maximum =
      row.empty() ? 0 : *std::max_element(row.begin(), row.end());
  double sum = 0;
  for (double& v : row) {
    v = sees_any ? std::exp(v - maximum) : 0;
    sum += v;
  }
  for (double& v : row) v = sees_any ? v / sum : 0;
}

Expected Reference(const AttentionCase& c, const OpCase& test) {
  Expected expected;
  const int64_t keys = c.past + c.fresh;
  const auto cached = [&](int input, int64_t size, int64_t b, int64_t h,
                          int64_t j, int64_t t) {
    if (j < c.past) {
      return test.inputs[input + 3].At(
          ((b * c.key_heads + h) * c.past + j) * size + t);
    }
    return At(test.inputs[input], c, c.key_heads, c.fresh, size, b, h,
              j - c.past, t);
  };
  for (int64_t b = 0; b < c.batch; ++b) {
    for (int64_t h = 0; h < c.key_heads; ++h) {
      for (int64_t j = 0; j < keys; ++j) {
        for (int64_t t = 0; t < c.size; ++t) {
          expected.present_key.push_back(cached(1, c.size, b, h, j, t));
        }
        for (int64_t t = 0; t < c.value_size; ++t) {
          expected.present_value.push_back(cached(2, c.value_size, b, h, j, t));
        }
      }
    }
  }
  const double scale =
      c.scale != 0 ? c.scale : 1 / std::sqrt(static_cast<double>(c.size));
  expected.y.resize(c.batch * c.queries * c.query_heads * c.value_size);
  for (int64_t b = 0; b < c.batch; ++b) {
    for (int64_t h = 0; h < c.query_heads; ++h) {
      const int64_t own = h / (c.query_heads / c.key_heads);
      for (int64_t i = 0; i < c.queries; ++i) {
        std::vector<double> row(keys);
        bool sees_any = false;
        for (int64_t j = 0; j < keys; ++j) {
          for (int64_t t = 0; t < c.size; ++t) {
            row[j] += scale *
                      At(test.inputs[0], c, c.query_heads, c.queries, c.size, b,
                         h, i, t) *
                      cached(1, c.size, b, own, j, t);
          }
          expected.told[0].push_back(row[j]);
          if (c.softcap != 0) {
            row[j] = c.softcap * std::tanh(row[j] / c.softcap);
          }
          expected.told[1].push_back(row[j]);
          const double bias = BiasOf(c, test.inputs[3], b, h, i, j);
          row[j] += bias;
          sees_any = sees_any || bias != kNever;
          expected.told[2].push_back(row[j]);
        }
        Soften(row, sees_any);
        expected.told[3].insert(expected.told[3].end(), row.begin(), row.end());
        for (int64_t t = 0; t < c.value_size; ++t) {
          double sum = 0;
          for (int64_t j = 0; j < keys; ++j) {
            sum += row[j] * cached(2, c.value_size, b, own, j, t);
          }
          const int64_t at = c.is_packed
                                 ? (b * c.queries + i) * c.query_heads + h
                                 : (b * c.query_heads + h) * c.queries + i;
          expected.y[at * c.value_size + t] = sum;
        }
      }
    }
  }
  return expected;
}

OpCase MakeCase(const AttentionCase& c, DType dtype, int64_t mode) {
  const auto shape = [&](int64_t heads, int64_t rows, int64_t size) {
    return c.is_packed ? Shape({c.batch, rows, heads * size})
                       : Shape({c.batch, heads, rows, size});
  };
  OpCase test{
      .op = "Attention",
      .inputs = {Pattern(dtype, shape(c.query_heads, c.queries, c.size), 1),
                 Pattern(dtype, shape(c.key_heads, c.fresh, c.size), 2),
                 Pattern(dtype, shape(c.key_heads, c.fresh, c.value_size), 3),
                 TestTensor(), TestTensor(), TestTensor(), TestTensor()},
      .attributes = {{"qk_matmul_output_mode", mode},
                     {"is_causal", int64_t{c.is_causal}},
                     {"softcap", c.softcap},
                     {"left_window_size", c.left_window},
                     {"right_window_size", c.right_window}},
      .opset = 25,
      .output_count = 4};
  if (c.is_packed) {
    test.attributes.emplace_back("q_num_heads", c.query_heads);
    test.attributes.emplace_back("kv_num_heads", c.key_heads);
  }
  if (c.scale != 0) test.attributes.emplace_back("scale", c.scale);
  if (c.mask.has_value()) {
    const Shape mask = Shape::Create(*c.mask).value();
    TestTensor values = Pattern(dtype, mask, 4);
    if (c.mask_is_bool) {
      std::vector<double> seen;
      for (int64_t i = 0; i < mask.element_count(); ++i) {
        seen.push_back(values.At(i) > -0.5 ? 1 : 0);
      }
      values = TensorOf(DType::kBool, mask, seen);
    }
    test.inputs[3] = values;
  }
  if (c.past > 0) {
    test.inputs[4] = Pattern(dtype, {c.batch, c.key_heads, c.past, c.size}, 5);
    test.inputs[5] =
        Pattern(dtype, {c.batch, c.key_heads, c.past, c.value_size}, 6);
  }
  if (!c.lengths.empty()) {
    test.inputs[6] = Tensor<int64_t>({c.batch}, c.lengths);
  }
  return test;
}

const AttentionCase kCases[] = {
    {.name = "plain"},
    {.name = "packed", .is_packed = true},
    {.name = "shared heads", .query_heads = 6, .key_heads = 2},
    {.name = "one key head, packed",
     .query_heads = 4,
     .key_heads = 1,
     .is_packed = true},
    {.name = "scale and cap", .scale = 0.75f, .softcap = 0.5f},
    {.name = "causal", .queries = 4, .is_causal = true},
    {.name = "more queries than keys", .queries = 6, .is_causal = true},
    {.name = "mask", .mask = Dims{3, 4}},
    {.name = "mask by head", .mask = Dims{2, 3, 4}},
    {.name = "mask by batch", .mask = Dims{2, 1, 1, 4}},
    {.name = "mask of keys", .mask = Dims{4}},
    {.name = "bool mask", .mask = Dims{2, 2, 3, 4}, .mask_is_bool = true},
    {.name = "bool mask of few keys", .mask = Dims{3, 2}, .mask_is_bool = true},
    {.name = "causal bool mask",
     .queries = 4,
     .is_causal = true,
     .mask = Dims{2, 1, 4, 4},
     .mask_is_bool = true},
    {.name = "past", .past = 3, .mask = Dims{3, 7}},
    {.name = "causal past, packed, shared heads",
     .query_heads = 4,
     .past = 3,
     .fresh = 3,
     .is_packed = true,
     .is_causal = true,
     .softcap = 1},
    {.name = "lengths", .lengths = {1, 4}},
    {.name = "causal lengths", .is_causal = true, .lengths = {1, 4}},
    {.name = "a length of none", .lengths = {0, 3}},
    {.name = "windows",
     .queries = 7,
     .fresh = 8,
     .left_window = 2,
     .right_window = 1},
    {.name = "left window behind a past",
     .past = 5,
     .is_causal = true,
     .left_window = 1},
    {.name = "one query", .queries = 1, .past = 40, .fresh = 1},
    // 48 queries are a block, 192 keys a tile.
    {.name = "blocks",
     .batch = 1,
     .queries = 50,
     .past = 10,
     .fresh = 200,
     .size = 33,
     .value_size = 40,
     .is_causal = true},
    {.name = "no queries", .queries = 0},
    {.name = "no keys", .fresh = 0},
    {.name = "no elements", .size = 0, .value_size = 0, .scale = 1},
};

TEST(AttentionTest, MatchesTheDefinition) {
  for (const AttentionCase& c : kCases) {
    for (DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16,
                        DType::kBFloat16}) {
      const int64_t keys = c.past + c.fresh;
      const Tolerance tolerance =
          ToleranceFor(dtype, OpFamily::kContraction, keys + c.size);
      for (int64_t mode = 0; mode < 4; ++mode) {
        SCOPED_TRACE(
            absl::StrCat(c.name, " ", DTypeName(dtype), " mode ", mode));
        const OpCase test = MakeCase(c, dtype, mode);
        const auto outputs = RunOp(test);
        ASSERT_THAT(outputs, IsOk());
        const Expected expected = Reference(c, test);
        const Shape y =
            c.is_packed
                ? Shape({c.batch, c.queries, c.query_heads * c.value_size})
                : Shape({c.batch, c.query_heads, c.queries, c.value_size});
        EXPECT_THAT((*outputs)[0],
                    IsNear(TensorOf(dtype, y, expected.y), tolerance));
        EXPECT_EQ((*outputs)[1],
                  TensorOf(dtype, {c.batch, c.key_heads, keys, c.size},
                           expected.present_key));
        EXPECT_EQ((*outputs)[2],
                  TensorOf(dtype, {c.batch, c.key_heads, keys, c.value_size},
                           expected.present_value));
        EXPECT_THAT(
            (*outputs)[3],
            IsNear(TensorOf(dtype, {c.batch, c.query_heads, c.queries, keys},
                            expected.told[mode]),
                   tolerance));
      }
    }
  }
}

// More tasks than slots, so that slots are used again.
TEST(AttentionTest, ManyHeads) {
  const AttentionCase c = {
      .name = "", .batch = 7, .query_heads = 20, .key_heads = 20};
  const OpCase test = MakeCase(c, DType::kFloat32, 0);
  EXPECT_THAT(
      MustRunOp(test),
      IsNear(TensorOf(DType::kFloat32, {7, 20, 3, 6}, Reference(c, test).y),
             ToleranceFor(DType::kFloat32, OpFamily::kContraction)));
}

OpCase OneQuery(const std::vector<float>& keys, const TestTensor& mask) {
  const auto n = static_cast<int64_t>(keys.size());
  std::vector<float> values(n);
  for (int64_t j = 0; j < n; ++j) values[j] = static_cast<float>(j + 1);
  return {.op = "Attention",
          .inputs = {Tensor({1, 1, 1, 1}, {1}), Tensor({1, 1, n, 1}, keys),
                     Tensor({1, 1, n, 1}, values), mask},
          .opset = 23};
}

TEST(AttentionTest, AQueryThatSeesNothingGetsZeros) {
  EXPECT_THAT(MustRunOp(OneQuery({1, 2}, Tensor<bool>({2}, {false, false}))),
              Near({0}, 0));
  EXPECT_THAT(MustRunOp(OneQuery({1, 2}, Tensor({2}, {-INFINITY, -INFINITY}))),
              Near({0}, 0));
}

TEST(AttentionTest, HugeAndMaskedScoresStayFinite) {
  EXPECT_THAT(MustRunOp(OneQuery({1000, 1000, -1000}, TestTensor())),
              Near({1.5}, 1e-6));
  EXPECT_THAT(
      MustRunOp(OneQuery({INFINITY, 3}, Tensor<bool>({2}, {false, true}))),
      Near({2}, 0));
  EXPECT_THAT(MustRunOp(OneQuery({NAN, 3}, TestTensor())), Near({NAN}, 0));
}

TEST(AttentionTest, ASoftmaxInFloat64IsAsGoodAsOneInFloat32) {
  OpCase test = MakeCase({.name = ""}, DType::kFloat32, 0);
  const TestTensor y = MustRunOp(test);
  test.attributes.emplace_back("softmax_precision", int64_t{11});
  EXPECT_THAT(MustRunOp(test),
              IsNear(y, ToleranceFor(DType::kFloat32, OpFamily::kContraction)));
}

TEST(AttentionTest, ALengthPastTheKeysIsRefused) {
  for (int64_t length :
       {int64_t{-1}, int64_t{5}, std::numeric_limits<int64_t>::min(),
        std::numeric_limits<int64_t>::max()}) {
    EXPECT_THAT(RunOp(MakeCase({.name = "", .lengths = {2, length}},
                               DType::kFloat32, 0)),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr(absl::StrCat("nonpad_kv_seqlen is ", length,
                                                " at 1, outside [0, 4]"))));
  }
}

}  // namespace
}  // namespace tensord
