#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

namespace tensord {
namespace {

constexpr int64_t kBatch = 2, kTokens = 3;

struct AttentionCase {
  const char* rule;
  int64_t heads = 2;
  int64_t group = 1;
  int64_t rows = 4;
  int64_t columns = 5;
  bool has_past = true;
  bool decays_by_head = false;
  bool has_one_beta = false;
  float scale = 0;

  bool is_gated() const { return rule[0] == 'g'; }
  bool is_delta() const { return std::string(rule).ends_with("delta"); }
};

// Decays below 0, so that states do not grow.
TestTensor Decays(DType dtype, const Shape& shape) {
  const TestTensor pattern = Pattern(DType::kFloat32, shape, 5);
  std::vector<double> values;
  for (int64_t i = 0; i < shape.element_count(); ++i) {
    values.push_back(-std::abs(pattern.At(i)));
  }
  return TensorOf(dtype, shape, values);
}

OpCase MakeCase(const AttentionCase& c, DType dtype, DType state) {
  OpCase test{
      .op = "LinearAttention",
      .inputs = {Pattern(dtype, {kBatch, kTokens, c.heads * c.group * c.rows},
                         1),
                 Pattern(dtype, {kBatch, kTokens, c.heads * c.rows}, 2),
                 Pattern(dtype, {kBatch, kTokens, c.heads * c.columns}, 3),
                 TestTensor(), TestTensor(), TestTensor()},
      .attributes = {{"update_rule", c.rule},
                     {"q_num_heads", c.heads * c.group},
                     {"kv_num_heads", c.heads},
                     {"scale", c.scale}},
      .opset = 27,
      .output_count = 2};
  if (c.has_past) {
    test.inputs[3] = Pattern(state, {kBatch, c.heads, c.rows, c.columns}, 4);
  }
  if (c.is_gated()) {
    test.inputs[4] = Decays(
        dtype,
        {kBatch, kTokens, c.decays_by_head ? c.heads : c.heads * c.rows});
  }
  if (c.is_delta()) {
    test.inputs[5] =
        Pattern(dtype, {kBatch, kTokens, c.has_one_beta ? 1 : c.heads}, 6);
  }
  return test;
}

struct Expected {
  std::vector<double> output;
  std::vector<double> present;
};

Expected Reference(const AttentionCase& c, const OpCase& test) {
  const auto& in = test.inputs;
  const double scale = c.scale != 0 ? c.scale : 1 / std::sqrt(c.rows);
  Expected expected;
  expected.output.resize(kBatch * kTokens * c.heads * c.group * c.columns);
  for (int64_t pair = 0; pair < kBatch * c.heads; ++pair) {
    const int64_t head = pair % c.heads;
    std::vector<double> state(c.rows * c.columns);
    for (size_t i = 0; i < state.size() && c.has_past; ++i) {
      state[i] = in[3].At(pair * c.rows * c.columns + i);
    }
    for (int64_t s = 0; s < kTokens; ++s) {
      const int64_t t = pair / c.heads * kTokens + s;
      const int64_t of_head = t * c.heads + head;
      for (int64_t i = 0; i < c.rows && c.is_gated(); ++i) {
        const double decay =
            in[4].At(c.decays_by_head ? of_head : of_head * c.rows + i);
        for (int64_t j = 0; j < c.columns; ++j) {
          state[i * c.columns + j] *= std::exp(decay);
        }
      }
      for (int64_t j = 0; j < c.columns; ++j) {
        double write = in[2].At(of_head * c.columns + j);
        if (c.is_delta()) {
          for (int64_t i = 0; i < c.rows; ++i) {
            write -= in[1].At(of_head * c.rows + i) * state[i * c.columns + j];
          }
          write *= in[5].At(c.has_one_beta ? t : of_head);
        }
        for (int64_t i = 0; i < c.rows; ++i) {
          state[i * c.columns + j] += in[1].At(of_head * c.rows + i) * write;
        }
        for (int64_t g = 0; g < c.group; ++g) {
          const int64_t query = of_head * c.group + g;
          double sum = 0;
          for (int64_t i = 0; i < c.rows; ++i) {
            sum += in[0].At(query * c.rows + i) * state[i * c.columns + j];
          }
          expected.output[query * c.columns + j] = scale * sum;
        }
      }
    }
    expected.present.insert(expected.present.end(), state.begin(), state.end());
  }
  return expected;
}

void ExpectMatches(const AttentionCase& c, DType dtype, DType state) {
  SCOPED_TRACE(testing::Message()
               << c.rule << ", " << c.heads << " heads by " << c.group << ", "
               << c.rows << " by " << c.columns << ", " << DTypeName(dtype)
               << ", " << DTypeName(state));
  const OpCase test = MakeCase(c, dtype, state);
  const Expected expected = Reference(c, test);
  const auto outputs = RunOp(test);
  ASSERT_THAT(outputs, IsOk());
  // The delta rules feed a state's errors back.
  const auto tolerance = [&](DType of) {
    Tolerance t =
        ToleranceFor(of, OpFamily::kContraction, c.rows * kTokens * kTokens);
    double largest = 1;
    for (double x : expected.present) largest = std::max(largest, std::abs(x));
    t.absolute *= largest;
    return t;
  };
  EXPECT_THAT(
      (*outputs)[0],
      IsNear(TensorOf(dtype, {kBatch, kTokens, c.heads * c.group * c.columns},
                      expected.output),
             tolerance(dtype)));
  EXPECT_THAT(
      (*outputs)[1],
      IsNear(TensorOf(c.has_past ? state : dtype,
                      {kBatch, c.heads, c.rows, c.columns}, expected.present),
             tolerance(c.has_past ? state : dtype)));
}

constexpr const char* kRules[] = {"linear", "gated", "delta", "gated_delta"};

// Columns about those side by side.
TEST(LinearAttentionTest, MatchesTheDefinition) {
  for (const char* rule : kRules) {
    for (int64_t columns : {1, 5, 64, 65, 130}) {
      for (int64_t rows : {1, 4}) {
        for (bool has_past : {false, true}) {
          ExpectMatches({.rule = rule,
                         .rows = rows,
                         .columns = columns,
                         .has_past = has_past},
                        DType::kFloat32, DType::kFloat32);
        }
      }
    }
  }
}

TEST(LinearAttentionTest, HeadsShareStatesAndGates) {
  for (const char* rule : kRules) {
    for (bool shares : {false, true}) {
      for (int64_t group : {1, 3}) {
        ExpectMatches({.rule = rule,
                       .heads = 3,
                       .group = group,
                       .decays_by_head = shares,
                       .has_one_beta = shares,
                       .scale = 0.5f},
                      DType::kFloat32, DType::kFloat32);
      }
    }
  }
}

TEST(LinearAttentionTest, TokensAndStatesMayHaveTheirOwnDTypes) {
  for (DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
    for (DType state : {DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
      for (const char* rule : kRules) {
        ExpectMatches({.rule = rule}, dtype, state);
      }
      ExpectMatches({.rule = "linear", .has_past = false}, dtype, state);
    }
  }
}

TEST(LinearAttentionTest, WithoutTokensTheStateStays) {
  const TestTensor none = Tensor({1, 0, 2}, {});
  const TestTensor state = Tensor({1, 2, 1, 1}, {3, -4});
  const auto outputs = RunOp({.op = "LinearAttention",
                              .inputs = {none, none, none, state},
                              .attributes = {{"update_rule", "linear"},
                                             {"q_num_heads", int64_t{2}},
                                             {"kv_num_heads", int64_t{2}}},
                              .opset = 27,
                              .output_count = 2});
  ASSERT_THAT(outputs, IsOk());
  EXPECT_EQ((*outputs)[0].shape, Shape({1, 0, 2}));
  EXPECT_THAT((*outputs)[1], Near({3, -4}, 0));
}

// Keys without elements: nothing is read from a decay that has none either.
TEST(LinearAttentionTest, EmptyHeadsAreNotRead) {
  const TestTensor none = Tensor({1, 2, 0}, {});
  const auto outputs =
      RunOp({.op = "LinearAttention",
             .inputs = {none, none, Pattern(DType::kFloat32, {1, 2, 4}),
                        TestTensor(), none},
             .attributes = {{"update_rule", "gated"},
                            {"scale", 1.0f},
                            {"q_num_heads", int64_t{2}},
                            {"kv_num_heads", int64_t{2}}},
             .opset = 27,
             .output_count = 2});
  ASSERT_THAT(outputs, IsOk());
  EXPECT_THAT((*outputs)[0], Near({0, 0, 0, 0, 0, 0, 0, 0}, 0));
  EXPECT_EQ((*outputs)[1].shape, Shape({1, 2, 0, 2}));
}

}  // namespace
}  // namespace tensord
