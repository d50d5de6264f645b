#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

namespace tensord {
namespace {

constexpr int64_t kBatch = 2, kChannels = 3;

struct ConvCase {
  int64_t length;
  int64_t taps;
  bool has_bias = false;
  bool has_past = false;
  const char* activation = "none";
};

OpCase MakeCase(const ConvCase& c, DType dtype) {
  OpCase test{.op = "CausalConvWithState",
              .inputs = {Pattern(dtype, {kBatch, kChannels, c.length}, 1),
                         Pattern(dtype, {kChannels, 1, c.taps}, 2),
                         TestTensor(), TestTensor()},
              .attributes = {{"activation", c.activation}},
              .opset = 27,
              .output_count = 2};
  if (c.has_bias) test.inputs[2] = Pattern(dtype, {kChannels}, 3);
  if (c.has_past) {
    test.inputs[3] = Pattern(dtype, {kBatch, kChannels, c.taps - 1}, 4);
  }
  return test;
}

struct Expected {
  std::vector<double> y;
  std::vector<double> present;
};

Expected Reference(const ConvCase& c, const OpCase& test) {
  const int64_t before = c.taps - 1;
  Expected expected;
  for (int64_t row = 0; row < kBatch * kChannels; ++row) {
    const int64_t channel = row % kChannels;
    const auto padded = [&](int64_t i) {
      if (i >= before) return test.inputs[0].At(row * c.length + i - before);
      return c.has_past ? test.inputs[3].At(row * before + i) : 0;
    };
    for (int64_t t = 0; t < c.length; ++t) {
      double sum = c.has_bias ? test.inputs[2].At(channel) : 0;
      for (int64_t j = 0; j < c.taps; ++j) {
        sum += test.inputs[1].At(channel * c.taps + j) * padded(t + j);
      }
      const bool is_silu = c.activation != std::string("none");
      expected.y.push_back(is_silu ? sum / (1 + std::exp(-sum)) : sum);
    }
    for (int64_t i = 0; i < before; ++i) {
      expected.present.push_back(padded(c.length + i));
    }
  }
  return expected;
}

void ExpectMatches(const ConvCase& c, DType dtype) {
  SCOPED_TRACE(testing::Message()
               << DTypeName(dtype) << ", " << c.length << " by " << c.taps
               << c.has_bias << c.has_past << c.activation);
  const OpCase test = MakeCase(c, dtype);
  const Expected expected = Reference(c, test);
  const auto outputs = RunOp(test);
  ASSERT_THAT(outputs, IsOk());
  EXPECT_THAT((*outputs)[0],
              IsNear(TensorOf(dtype, {kBatch, kChannels, c.length}, expected.y),
                     ToleranceFor(dtype, OpFamily::kContraction, c.taps)));
  EXPECT_THAT(
      (*outputs)[1],
      IsNear(TensorOf(dtype, {kBatch, kChannels, c.taps - 1}, expected.present),
             {}));
}

// Lengths about the outputs side by side, and shorter than the kernel.
TEST(CausalConvTest, MatchesTheDefinition) {
  for (int64_t length : {0, 1, 2, 63, 64, 65, 130}) {
    for (int64_t taps : {1, 2, 4, 70}) {
      for (bool has_bias : {false, true}) {
        for (bool has_past : {false, true}) {
          ExpectMatches({length, taps, has_bias, has_past}, DType::kFloat32);
        }
      }
    }
  }
}

TEST(CausalConvTest, EveryDTypeAndActivationMatchesTheDefinition) {
  for (DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
    for (const char* activation : {"none", "silu", "swish"}) {
      ExpectMatches({9, 4, true, true, activation}, dtype);
    }
  }
}

// What a run in parts gives is what one run gives.
TEST(CausalConvTest, TheStateJoinsRuns) {
  const OpCase whole = MakeCase({5, 4}, DType::kFloat32);
  const TestTensor expected = MustRunOp(whole);
  OpCase part = MakeCase({1, 4}, DType::kFloat32);
  part.inputs[1] = whole.inputs[1];
  part.inputs[3] = TensorOf(DType::kFloat32, {kBatch, kChannels, 3},
                            std::vector<double>(kBatch * kChannels * 3));
  for (int64_t t = 0; t < 5; ++t) {
    std::vector<double> x;
    std::vector<double> y;
    for (int64_t row = 0; row < kBatch * kChannels; ++row) {
      x.push_back(whole.inputs[0].At(row * 5 + t));
      y.push_back(expected.At(row * 5 + t));
    }
    part.inputs[0] = TensorOf(DType::kFloat32, {kBatch, kChannels, 1}, x);
    const auto outputs = RunOp(part);
    ASSERT_THAT(outputs, IsOk());
    EXPECT_THAT((*outputs)[0], Near(y, 0));
    part.inputs[3] = (*outputs)[1];
  }
}

TEST(CausalConvTest, HugeSumsStayFiniteThroughTheActivation) {
  EXPECT_THAT(MustRunOp({.op = "CausalConvWithState",
                         .inputs = {Tensor({1, 1, 2}, {1e30f, -1e30f}),
                                    Tensor({1, 1, 1}, {1})},
                         .attributes = {{"activation", "silu"}},
                         .opset = 27,
                         .output_count = 2}),
              Near({1e30f, 0}, 0));
}

// Extents whose product no integer holds.
TEST(CausalConvTest, NoChannelsAreNoWorkHoweverLong) {
  const int64_t huge = int64_t{1} << 40;
  EXPECT_EQ(
      MustRunOp({.op = "CausalConvWithState",
                 .inputs = {Tensor({0, 0, huge}, {}), Tensor({0, 1, huge}, {})},
                 .opset = 27,
                 .output_count = 2})
          .shape,
      Shape({0, 0, huge}));
}

}  // namespace
}  // namespace tensord
