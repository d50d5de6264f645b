#include "tests/engine/ops/infer_test.h"

namespace tensord {
namespace {

class NormalizationTest : public InferTest {
 protected:
  // The types of all outputs, "; " between them.
  std::string InferAll(const TypedCase& test) {
    const absl::StatusOr<InferredCase> inferred = InferOp(test, symbols_);
    if (!inferred.ok()) return inferred.status().ToString();
    std::string text;
    for (const TensorType& type : inferred->outputs) {
      absl::StrAppend(&text, text.empty() ? "" : "; ", DTypeName(type.dtype),
                      " ", symbols_.ToString(*type.shape));
    }
    return text;
  }
};

TEST_F(NormalizationTest, LayerKeepsTheTypeAndReducesStatistics) {
  TypedCase test = {
      .op = "LayerNormalization",
      .inputs = {Type(DType::kFloat16, {"N", 3, 4}),
                 Type(DType::kFloat16, {3, 4}), Type(DType::kFloat16, {4})},
      .attributes = {{"axis", int64_t{1}}},
      .output_count = 3};
  EXPECT_EQ(InferAll(test),
            "float16 [N, 3, 4]; float32 [N, 1, 1]; float32 [N, 1, 1]");
  test.attributes.emplace_back("stash_type", int64_t{16});
  EXPECT_EQ(InferAll(test),
            "float16 [N, 3, 4]; bfloat16 [N, 1, 1]; bfloat16 [N, 1, 1]");
}

TEST_F(NormalizationTest, LayerRefusesWhatDoesNotFit) {
  const auto infer = [this](TensorType x, TensorType scale, int64_t axis = -1,
                            int64_t stash = 1) {
    return Infer({.op = "LayerNormalization",
                  .inputs = {std::move(x), std::move(scale)},
                  .attributes = {{"axis", axis}, {"stash_type", stash}}});
  };
  EXPECT_EQ(infer(Type({2, "D"}), Type({"E"})), "float32 [2, D]");
  EXPECT_THAT(infer(Type({2, 4}), Type({3})),
              IsRefusal("input 1 has shape [3], which does not broadcast to "
                        "[2, 4]"));
  EXPECT_THAT(infer(Type({4}), Type({2, 4})), IsRefusal("does not broadcast"));
  EXPECT_THAT(infer(Type({1, 4}), Type({2, 4})),
              IsRefusal("does not broadcast"));
  EXPECT_THAT(infer(Type({4}), Type(DType::kFloat64, {4})),
              IsRefusal("float32 vs float64"));
  EXPECT_THAT(infer(Type({4}), Type({4}), 1), IsRefusal("axis 1"));
  EXPECT_THAT(infer(Type({}), Type({})), IsRefusal("axis -1"));
  EXPECT_THAT(infer(Type({4}), Type({4}), -1, 11),
              IsRefusal("'stash_type' is 11"));
  EXPECT_THAT(infer(Type({4}), Type({4}), -1, -7),
              IsRefusal("'stash_type' is -7"));
  EXPECT_THAT(
      Infer({.op = "LayerNormalization",
             .inputs = {Type(DType::kInt32, {4}), Type(DType::kInt32, {4})}}),
      IsRefusal("input 0 has dtype int32"));
  EXPECT_THAT(Infer({.op = "LayerNormalization",
                     .inputs = {Type({4}), Type({4})},
                     .attributes = {{"epsilon", -1.0f}}}),
              IsRefusal("'epsilon' is -1"));
}

TEST_F(NormalizationTest, RmsHasTheScalesDType) {
  TypedCase test = {
      .op = "RMSNormalization",
      .inputs = {Type(DType::kFloat16, {"N", 4}), Type(DType::kFloat32, {4})},
      .opset = 23};
  EXPECT_EQ(Infer(test), "float32 [N, 4]");
  test.attributes = {{"stash_type", int64_t{11}}};
  EXPECT_EQ(Infer(test), "float32 [N, 4]");
  test.attributes = {{"stash_type", int64_t{7}}};
  EXPECT_THAT(Infer(test), IsRefusal("'stash_type' is 7"));
  test.attributes = {{"axis", int64_t{2}}};
  EXPECT_THAT(Infer(test), IsRefusal("axis 2"));
  test.attributes = {};
  test.inputs[1] = Type({5});
  EXPECT_THAT(Infer(test), IsRefusal("does not broadcast"));
  test.inputs[1] = Type(DType::kBool, {4});
  EXPECT_THAT(Infer(test), IsRefusal("input 1 has dtype bool"));
}

TEST_F(NormalizationTest, GroupsHaveScalesUpToOperatorSet20) {
  const auto infer = [this](int64_t opset, int64_t groups, int scales,
                            TensorType x) {
    return Infer({.op = "GroupNormalization",
                  .inputs = {std::move(x), Type({scales}), Type({scales})},
                  .attributes = {{"num_groups", groups}},
                  .opset = opset});
  };
  EXPECT_EQ(infer(18, 2, 2, Type({"N", 6, 3})), "float32 [N, 6, 3]");
  EXPECT_THAT(infer(18, 2, 6, Type({"N", 6, 3})),
              IsRefusal("groups vs extent of the scale: 2 vs 6"));
  EXPECT_EQ(infer(21, 2, 6, Type({"N", 6, 3})), "float32 [N, 6, 3]");
  EXPECT_THAT(infer(21, 2, 2, Type({"N", 6, 3})),
              IsRefusal("channels vs extent of the scale: 6 vs 2"));
  EXPECT_EQ(infer(21, 4, 6, Type({"N", "C", 3})), "float32 [N, C, 3]");
  EXPECT_THAT(infer(21, 4, 6, Type({"N", 6, 3})),
              IsRefusal("6 channels do not make 4 equal groups"));
  EXPECT_THAT(infer(21, 0, 6, Type({1, 6})), IsRefusal("'num_groups' is 0"));
  EXPECT_THAT(infer(21, 1, 6, Type({6})), IsRefusal("rank 1"));
  EXPECT_THAT(Infer({.op = "GroupNormalization",
                     .inputs = {Type({1, 6}), Type({6}), Type({6})},
                     .opset = 21}),
              IsRefusal("'num_groups' is missing"));
  EXPECT_THAT(Infer({.op = "GroupNormalization",
                     .inputs = {Type({1, 6}), Type({6}), Type({6})},
                     .attributes = {{"num_groups", int64_t{2}},
                                    {"stash_type", int64_t{1}}},
                     .opset = 18}),
              IsRefusal("stash_type"));
}

TEST_F(NormalizationTest, InstancesHaveAScaleForEachChannel) {
  TypedCase test = {.op = "InstanceNormalization",
                    .inputs = {Type({"N", 3, "W"}), Type({3}), Type({3})}};
  EXPECT_EQ(Infer(test), "float32 [N, 3, W]");
  test.inputs[2] = Type({2});
  EXPECT_THAT(Infer(test), IsRefusal("channels vs extent of the bias: 3 vs 2"));
  test.inputs[2] = Type({3, 1});
  EXPECT_THAT(Infer(test), IsRefusal("input 2 has rank 2"));
  test.inputs[2] = Type({3});
  test.attributes = {{"consumed_inputs", Ints{0, 0}}};
  EXPECT_THAT(Infer(test), IsRefusal("consumed_inputs"));
  test.opset = 1;
  EXPECT_EQ(Infer(test), "float32 [N, 3, W]");
}

TEST_F(NormalizationTest, LpTakesTwoNorms) {
  const auto infer = [this](int64_t axis, int64_t p) {
    return Infer({.op = "LpNormalization",
                  .inputs = {Type({"N", 3})},
                  .attributes = {{"axis", axis}, {"p", p}}});
  };
  EXPECT_EQ(infer(0, 1), "float32 [N, 3]");
  EXPECT_THAT(infer(2, 2), IsRefusal("axis 2"));
  EXPECT_THAT(infer(0, 3), IsRefusal("'p' is 3"));
}

}  // namespace
}  // namespace tensord
