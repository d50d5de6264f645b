#include "tests/engine/ops/infer_test.h"

namespace tensord {
namespace {

using DropoutTest = InferTest;

HostTensor OneOf(DType dtype, std::vector<uint8_t> bytes) {
  return *HostTensor::Copy(
      dtype, Shape(),
      absl::MakeConstSpan(reinterpret_cast<const std::byte*>(bytes.data()),
                          bytes.size()));
}

TEST_F(DropoutTest, IsForInference) {
  EXPECT_EQ(Infer({.op = "Dropout",
                   .inputs = {Type({2})},
                   .attributes = {{"ratio", 0.5f}},
                   .opset = 7}),
            "float32 [2]");
  const absl::StatusOr<InferredCase> inferred =
      InferOp({.op = "Dropout",
               .inputs = {Type({2}), Type({})},
               .attributes = {{"seed", int64_t{3}}},
               .opset = 13,
               .output_count = 2},
              symbols_);
  ASSERT_THAT(inferred, IsOk());
  EXPECT_EQ(inferred->outputs[1].dtype, DType::kBool);
  EXPECT_EQ(symbols_.ToString(*inferred->outputs[1].shape), "[2]");
  TypedCase old = {.op = "Dropout",
                   .inputs = {Type({2})},
                   .attributes = {{"is_test", int64_t{1}}},
                   .opset = 6};
  EXPECT_EQ(Infer(old), "float32 [2]");
  old.attributes = {};
  EXPECT_THAT(Infer(old), IsUnsupported("'is_test' is 0"));
}

TEST_F(DropoutTest, TrainsOnlyWhereNothingIsDropped) {
  TypedCase test = {
      .op = "Dropout",
      .inputs = {Type({2}), Type(DType::kFloat16, {}), Type(DType::kBool, {})},
      .opset = 13,
      .constants = {}};
  EXPECT_THAT(Infer(test), NeedsInput(2));
  test.constants = {{}, {}, OneOf(DType::kBool, {0})};
  EXPECT_EQ(Infer(test), "float32 [2]");
  test.constants[2] = OneOf(DType::kBool, {1});
  EXPECT_THAT(Infer(test), NeedsInput(1));
  test.constants[1] = OneOf(DType::kFloat16, {0x00, 0x38});
  EXPECT_THAT(Infer(test), IsUnsupported("with a ratio of 0.5"));
  test.constants[1] = OneOf(DType::kFloat16, {0, 0});
  EXPECT_EQ(Infer(test), "float32 [2]");
  test.inputs[1] = {};
  test.constants[1] = {};
  EXPECT_THAT(Infer(test), IsUnsupported("the ratio 0.5 of its absence"));
  test.inputs[1] = Type({2});
  EXPECT_THAT(Infer(test), IsRefusal("input 1 has shape [2]"));
}

}  // namespace
}  // namespace tensord
