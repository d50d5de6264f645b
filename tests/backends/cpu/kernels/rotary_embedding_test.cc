#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

namespace tensord {
namespace {

using ::testing::HasSubstr;

struct RotaryCase {
  bool is_packed;  // [batch, sequence, heads * head]
  bool has_positions;
  int64_t is_interleaved;
  int64_t turned;  // 0: the whole head
};

constexpr int64_t kBatch = 2, kHeads = 3, kSequence = 4, kHead = 6;
constexpr int64_t kPositions = 9;

OpCase MakeCase(const RotaryCase& c, DType dtype) {
  const int64_t pairs = (c.turned == 0 ? kHead : c.turned) / 2;
  const Shape table = c.has_positions ? Shape({kPositions, pairs})
                                      : Shape({kBatch, kSequence, pairs});
  OpCase test{
      .op = "RotaryEmbedding",
      .inputs = {Pattern(dtype,
                         c.is_packed
                             ? Shape({kBatch, kSequence, kHeads * kHead})
                             : Shape({kBatch, kHeads, kSequence, kHead}),
                         1),
                 Pattern(dtype, table, 2), Pattern(dtype, table, 3)},
      .attributes = {{"interleaved", c.is_interleaved},
                     {"rotary_embedding_dim", c.turned}},
      .opset = 23};
  if (c.has_positions) {
    test.inputs.push_back(
        Tensor<int64_t>({kBatch, kSequence}, {3, 1, 8, 0, 2, 2, 5, 7}));
  }
  if (c.is_packed) test.attributes.emplace_back("num_heads", kHeads);
  return test;
}

std::vector<double> Reference(const RotaryCase& c, const OpCase& test) {
  const int64_t turned = c.turned == 0 ? kHead : c.turned;
  std::vector<double> y(kBatch * kHeads * kSequence * kHead);
  for (int64_t b = 0; b < kBatch; ++b) {
    for (int64_t s = 0; s < kSequence; ++s) {
      const int64_t token = b * kSequence + s;
      const auto row = static_cast<int64_t>(
          c.has_positions ? test.inputs[3].At(token) : token);
      for (int64_t h = 0; h < kHeads; ++h) {
        const int64_t first = c.is_packed
                                  ? (token * kHeads + h) * kHead
                                  : ((b * kHeads + h) * kSequence + s) * kHead;
        const auto x = [&](int64_t i) { return test.inputs[0].At(first + i); };
        for (int64_t i = 0; i < kHead; ++i) {
          if (i >= turned) {
            y[first + i] = x(i);
            continue;
          }
          const int64_t half = turned / 2;
          const int64_t pair = c.is_interleaved ? i / 2 : i % half;
          const bool is_second = c.is_interleaved ? i % 2 == 1 : i >= half;
          const int64_t other = c.is_interleaved ? i ^ 1 : (i + half) % turned;
          const double cosine = test.inputs[1].At(row * half + pair);
          const double sine = test.inputs[2].At(row * half + pair);
          y[first + i] = x(i) * cosine + (is_second ? sine : -sine) * x(other);
        }
      }
    }
  }
  return y;
}

TEST(RotaryEmbeddingTest, MatchesTheDefinition) {
  for (bool is_packed : {false, true}) {
    for (bool has_positions : {false, true}) {
      for (int64_t is_interleaved : {0, 1}) {
        for (int64_t turned : {0, 2, 4, 6}) {
          const RotaryCase c = {is_packed, has_positions, is_interleaved,
                                turned};
          for (DType dtype :
               {DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
            const OpCase test = MakeCase(c, dtype);
            EXPECT_THAT(MustRunOp(test),
                        IsNear(TensorOf(dtype, test.inputs[0].shape,
                                        Reference(c, test)),
                               ToleranceFor(dtype, OpFamily::kReduction)))
                << is_packed << has_positions << is_interleaved << turned;
          }
        }
      }
    }
  }
}

TEST(RotaryEmbeddingTest, APositionOutsideTheTablesIsRefused) {
  for (int64_t position :
       {int64_t{-1}, int64_t{9}, std::numeric_limits<int64_t>::min()}) {
    OpCase test = MakeCase({false, true, 0, 0}, DType::kFloat32);
    test.inputs[3] =
        Tensor<int64_t>({kBatch, kSequence}, {3, 1, 8, 0, 2, 2, 5, position});
    EXPECT_THAT(RunOp(test),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr(absl::StrCat("position ", position,
                                                " is outside [0, 9)"))));
  }
}

TEST(RotaryEmbeddingTest, NoTokensGiveNothing) {
  EXPECT_EQ(MustRunOp({.op = "RotaryEmbedding",
                       .inputs = {Tensor({1, 2, 0, 4}, {}),
                                  Tensor({1, 0, 2}, {}), Tensor({1, 0, 2}, {})},
                       .opset = 23})
                .shape,
            Shape({1, 2, 0, 4}));
}

}  // namespace
}  // namespace tensord
