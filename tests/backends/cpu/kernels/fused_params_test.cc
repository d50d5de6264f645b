#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "backends/api/op_params.h"
#include "tests/support/kernel_runner.h"
#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

// Kernels of nodes whose parameters only a compile pass sets.
namespace tensord {
namespace {

// Output i of each kernel that takes the node.
std::vector<KernelResult> RunOnEveryKernel(const TestNode& node) {
  const TestDevice& device = CpuTestDevice();
  std::vector<KernelResult> results;
  for (const KernelEntry* kernel : KernelsFor(*device.backend, node)) {
    auto result =
        RunKernel(*kernel, node, *device.device, *device.lane, *device.workers);
    EXPECT_TRUE(result.ok()) << kernel->name << ": " << result.status();
    if (result.ok()) results.push_back(*std::move(result));
  }
  EXPECT_FALSE(results.empty());
  return results;
}

class FusedParamsTest : public testing::TestWithParam<DType> {
 protected:
  static TestTensor X(Shape shape, uint64_t seed = 1) {
    return Pattern(GetParam(), std::move(shape), seed);
  }
};

TEST_P(FusedParamsTest, AttentionReadsPartsOfOneInput) {
  // Four heads of queries share two of keys and values, of three elements each.
  constexpr int64_t kBatch = 2, kSequence = 60, kQueries = 4, kKeys = 2;
  constexpr int64_t kSize = 3;
  constexpr int64_t kColumns = (kQueries + 2 * kKeys) * kSize;
  for (const int64_t past : {0, 7}) {
    const TestTensor packed = X({kBatch, kSequence, kColumns});
    const auto part = [&](int64_t first, int64_t count) {
      std::vector<double> elements;
      for (int64_t row = 0; row < kBatch * kSequence; ++row) {
        for (int64_t i = 0; i < count; ++i) {
          elements.push_back(packed.At(row * kColumns + first + i));
        }
      }
      return TensorOf(GetParam(), Shape({kBatch, kSequence, count}), elements);
    };
    OpCase apart{
        .op = "Attention",
        .inputs = {part(0, kQueries * kSize),
                   part(kQueries * kSize, kKeys * kSize),
                   part((kQueries + kKeys) * kSize, kKeys * kSize),
                   X({kSequence, past + kSequence}, 2)},
        .attributes = {{"q_num_heads", kQueries}, {"kv_num_heads", kKeys}},
        .opset = 23,
        .output_count = 3};
    if (past > 0) {
      apart.inputs.push_back(X({kBatch, kKeys, past, kSize}, 3));
      apart.inputs.push_back(X({kBatch, kKeys, past, kSize}, 4));
    }
    const auto expected = RunOp(apart);
    ASSERT_THAT(expected, IsOk());

    AttentionParams params;
    params.query_heads = kQueries;
    params.key_value_heads = kKeys;
    params.packs_qkv = true;
    TestNode node{
        .op = OpKind::kAttention, .inputs = apart.inputs, .params = params};
    node.inputs[0] = packed;
    node.inputs[1] = node.inputs[2] = TestTensor();
    for (const TestTensor& output : *expected) {
      node.outputs.push_back({GetParam(), output.shape});
    }
    for (const KernelResult& result : RunOnEveryKernel(node)) {
      for (size_t i = 0; i < expected->size(); ++i) {
        EXPECT_EQ(result.outputs[i], (*expected)[i]) << i << " past " << past;
      }
    }
  }
}

TEST_P(FusedParamsTest, LayerNormalizationAddsAnInputFirst) {
  for (const int64_t columns : {1, 8, 33}) {
    const Shape shape({3, 5, columns});
    const TestTensor a = X(shape, 1);
    const TestTensor b = X(shape, 2);
    const TestTensor scale = X({columns}, 3);
    const TestTensor bias = X({columns}, 4);
    const TestTensor sum = MustRunOp({.op = "Add", .inputs = {a, b}});
    for (const bool has_bias : {false, true}) {
      OpCase apart{.op = "LayerNormalization", .inputs = {sum, scale}};
      if (has_bias) apart.inputs.push_back(bias);
      NormalizationParams params;
      params.has_skip = true;
      const TestNode node{
          .op = OpKind::kLayerNormalization,
          .inputs = {a, scale, has_bias ? bias : TestTensor(), b},
          .outputs = {{GetParam(), shape}},
          .params = params};
      for (const KernelResult& result : RunOnEveryKernel(node)) {
        EXPECT_THAT(result.outputs[0],
                    IsNear(MustRunOp(apart),
                           ToleranceFor(GetParam(), OpFamily::kReduction)));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Floats, FusedParamsTest,
                         testing::Values(DType::kFloat32, DType::kFloat64,
                                         DType::kFloat16, DType::kBFloat16),
                         [](const auto& info) {
                           return std::string(DTypeName(info.param));
                         });

}  // namespace
}  // namespace tensord
