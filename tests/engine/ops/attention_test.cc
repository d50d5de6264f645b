#include "tests/engine/ops/infer_test.h"

namespace tensord {
namespace {

class AttentionTest : public InferTest {
 protected:
  // The types of all outputs, "; " between them.
  std::string InferAll(TypedCase test, int outputs = 4) {
    test.output_count = outputs;
    const absl::StatusOr<InferredCase> inferred = InferOp(test, symbols_);
    if (!inferred.ok()) return inferred.status().ToString();
    std::string text;
    for (const TensorType& type : inferred->outputs) {
      absl::StrAppend(&text, text.empty() ? "" : "; ", DTypeName(type.dtype),
                      " ", symbols_.ToString(*type.shape));
    }
    return text;
  }

  TypedCase Plain() {
    return {.op = "Attention",
            .inputs = {Type({"N", 4, "Q", 8}), Type({"N", 2, 5, 8}),
                       Type({"N", 2, 5, 6})},
            .opset = 24};
  }
  // With input i.
  TypedCase With(size_t i, TensorType type) {
    TypedCase test = Plain();
    if (test.inputs.size() <= i) test.inputs.resize(i + 1);
    test.inputs[i] = std::move(type);
    return test;
  }
  TypedCase With(std::string name, Attribute value, int64_t opset = 24) {
    TypedCase test = Plain();
    test.attributes.emplace_back(std::move(name), std::move(value));
    test.opset = opset;
    return test;
  }
};

TEST_F(AttentionTest, TypesOfAllOutputs) {
  EXPECT_EQ(InferAll(Plain()),
            "float32 [N, 4, Q, 6]; float32 [N, 2, 5, 8]; "
            "float32 [N, 2, 5, 6]; float32 [N, 4, Q, 5]");
  TypedCase test = With(5, Type({"N", 2, 3, 6}));
  test.inputs[4] = Type({"N", 2, 3, 8});
  EXPECT_EQ(InferAll(test),
            "float32 [N, 4, Q, 6]; float32 [N, 2, 8, 8]; "
            "float32 [N, 2, 8, 6]; float32 [N, 4, Q, 8]");
}

TEST_F(AttentionTest, PackedInputsNeedTheirHeads) {
  TypedCase test = {
      .op = "Attention",
      .inputs = {Type({"N", "Q", 32}), Type({"N", 5, 16}), Type({"N", 5, 12})},
      .attributes = {{"q_num_heads", int64_t{4}}, {"kv_num_heads", int64_t{2}}},
      .opset = 23};
  EXPECT_EQ(InferAll(test),
            "float32 [N, Q, 24]; float32 [N, 2, 5, 8]; float32 [N, 2, 5, 6]; "
            "float32 [N, 4, Q, 5]");
  test.inputs[0] = Type({"N", "Q", 33});
  EXPECT_THAT(Infer(test),
              IsRefusal("input 0: 33 elements do not make 4 equal heads"));
  test.attributes.pop_back();
  test.inputs[0] = Type({"N", "Q", 32});
  EXPECT_THAT(Infer(test), IsRefusal("'kv_num_heads' is missing"));
  test.inputs[1] = Type({"N", 2, 5, 8});
  EXPECT_THAT(Infer(test), IsRefusal("input 1 has rank 4, not 3"));
}

TEST_F(AttentionTest, RefusesProductsThatDoNotFit) {
  EXPECT_THAT(Infer(With(1, Type({"N", 2, 5, 7}))),
              IsRefusal("head sizes of Q and K: 8 vs 7"));
  EXPECT_THAT(Infer(With(1, Type({"N", 3, 5, 8}))),
              IsRefusal("heads of K and V: 3 vs 2"));
  EXPECT_THAT(Infer(With(2, Type({"N", 2, 6, 6}))),
              IsRefusal("sequences of K and V: 5 vs 6"));
  EXPECT_THAT(Infer(With(0, Type({"N", 3, "Q", 8}))),
              IsRefusal("3 heads of Q are no multiple of K's 2"));
  TypedCase test = With(1, Type({"N", 0, 5, 8}));
  test.inputs[2] = Type({"N", 0, 5, 6});
  EXPECT_THAT(Infer(test), IsRefusal("no multiple of K's 0"));
  test = With(0, Type({2, 4, "Q", 8}));
  test.inputs[1] = Type({3, 2, 5, 8});
  EXPECT_THAT(Infer(test), IsRefusal("batch of Q and K: 2 vs 3"));
  EXPECT_THAT(Infer(With("q_num_heads", int64_t{3})),
              IsRefusal("attribute 'q_num_heads' vs heads of input 0: 3 vs 4"));
  EXPECT_THAT(Infer(With(1, Type(DType::kFloat16, {"N", 2, 5, 8}))),
              IsRefusal("float32 vs float16"));
  EXPECT_THAT(Infer(With(2, Type(DType::kFloat16, {"N", 2, 5, 6}))),
              IsUnsupported("values of dtype float16"));
}

TEST_F(AttentionTest, MasksBroadcastAndMayEndEarly) {
  for (const std::vector<NamedDim>& dims : {std::vector<NamedDim>{5},
                                            {3},
                                            {"Q", 5},
                                            {1, 5},
                                            {4, 1, 5},
                                            {"N", 1, "Q", "K"}}) {
    EXPECT_EQ(Infer(With(3, Type(dims))), "float32 [N, 4, Q, 6]");
    EXPECT_EQ(Infer(With(3, Type(DType::kBool, dims))), "float32 [N, 4, Q, 6]");
  }
  EXPECT_THAT(Infer(With(3, Type({6}))), IsRefusal("the mask has 6 keys of 5"));
  EXPECT_THAT(Infer(With(3, Type({"Q", 1}))),
              IsUnsupported("a mask with 1 key for 5 keys"));
  EXPECT_THAT(Infer(With(3, Type({3, "Q", 5}))),
              IsRefusal("heads of Q and of the mask: 4 vs 3"));
  EXPECT_THAT(Infer(With(3, Type({1, 1, 1, 1, 5}))), IsRefusal("rank 5"));
  EXPECT_THAT(Infer(With(3, Type(DType::kFloat16, {5}))),
              IsUnsupported("input 3 (attn_mask) of dtype float16"));
}

TEST_F(AttentionTest, ThePastIsKeysAndValues) {
  EXPECT_THAT(Infer(With(4, Type({"N", 2, 3, 8}))),
              IsRefusal("past_key and past_value go together"));
  TypedCase test = With(5, Type({"N", 2, 4, 6}));
  test.inputs[4] = Type({"N", 2, 3, 8});
  EXPECT_THAT(Infer(test), IsRefusal("past length vs input 5's: 3 vs 4"));
  test.inputs[5] = Type({"N", 2, 3, 7});
  EXPECT_THAT(Infer(test), IsRefusal("head size vs input 5's: 6 vs 7"));
  test.inputs[5] = Type({"N", 2, 3, 6});
  test.inputs[4] = Type({"N", 3, 8});
  EXPECT_THAT(Infer(test), IsRefusal("input 4 has rank 3"));
  test.inputs[4] = Type({"N", 2, 3, 8});
  test.inputs.push_back(Type(DType::kInt64, {"N"}));
  EXPECT_THAT(Infer(test), IsRefusal("exclude each other"));
}

TEST_F(AttentionTest, LengthsAreOneForEachOfTheBatch) {
  TypedCase test = With(6, Type(DType::kInt64, {"N"}));
  EXPECT_EQ(Infer(test), "float32 [N, 4, Q, 6]");
  test.opset = 23;
  EXPECT_THAT(Infer(test), IsRefusal("7 inputs; up to operator set 23"));
  EXPECT_THAT(Infer(With(6, Type(DType::kInt32, {"N"}))),
              IsRefusal("input 6 has dtype int32"));
  EXPECT_THAT(Infer(With(6, Type(DType::kInt64, {"N", 1}))),
              IsRefusal("input 6 has rank 2"));
}

TEST_F(AttentionTest, RefusesAttributesWithoutASense) {
  EXPECT_THAT(Infer(With("qk_matmul_output_mode", int64_t{4})),
              IsRefusal("'qk_matmul_output_mode' is 4"));
  EXPECT_THAT(Infer(With("softcap", -1.0f)), IsRefusal("'softcap' is -1"));
  EXPECT_THAT(Infer(With("scale", -1.0f)), IsRefusal("'scale' is -1"));
  EXPECT_THAT(Infer(With("softmax_precision", int64_t{7})),
              IsRefusal("'softmax_precision' is 7"));
  EXPECT_THAT(Infer(With("q_num_heads", int64_t{0})),
              IsRefusal("'q_num_heads' is 0"));
  EXPECT_THAT(Infer(With("left_window_size", int64_t{1})),
              IsRefusal("left_window_size"));
  EXPECT_EQ(Infer(With("left_window_size", INT64_MAX, 25)),
            "float32 [N, 4, Q, 6]");
  EXPECT_THAT(Infer(With("right_window_size", int64_t{-2}, 25)),
              IsRefusal("'right_window_size' is -2"));
}

class RotaryEmbeddingTest : public InferTest {
 protected:
  std::string Rotary(TensorType x, TensorType cosines, TensorType sines,
                     std::vector<std::pair<std::string, Attribute>> attributes,
                     std::vector<TensorType> positions = {}) {
    TypedCase test = {
        .op = "RotaryEmbedding",
        .inputs = {std::move(x), std::move(cosines), std::move(sines)},
        .attributes = std::move(attributes),
        .opset = 23};
    for (TensorType& type : positions) test.inputs.push_back(std::move(type));
    return Infer(test);
  }
};

TEST_F(RotaryEmbeddingTest, KeepsItsType) {
  const TensorType table = Type({"N", "S", 4});
  EXPECT_EQ(Rotary(Type({"N", 3, "S", 8}), table, table, {}),
            "float32 [N, 3, S, 8]");
  EXPECT_EQ(
      Rotary(Type({"N", "S", 24}), table, table, {{"num_heads", int64_t{3}}}),
      "float32 [N, S, 24]");
  EXPECT_EQ(Rotary(Type({"N", 3, "S", 10}), table, table,
                   {{"rotary_embedding_dim", int64_t{8}}}),
            "float32 [N, 3, S, 10]");
  const TensorType positions = Type(DType::kInt64, {"N", "S"});
  EXPECT_EQ(Rotary(Type({"N", 3, "S", 8}), Type({50, 4}), Type({50, 4}), {},
                   {positions}),
            "float32 [N, 3, S, 8]");
}

TEST_F(RotaryEmbeddingTest, RefusesWhatDoesNotFit) {
  const TensorType x = Type({2, 3, 5, 8});
  const TensorType table = Type({2, 5, 4});
  EXPECT_THAT(Rotary(x, Type({2, 5, 3}), table, {}),
              IsRefusal("pairs of x vs of the cosines: 4 vs 3"));
  EXPECT_THAT(Rotary(x, table, Type({1, 5, 4}), {}),
              IsRefusal("batch of x vs of the sines: 2 vs 1"));
  EXPECT_THAT(Rotary(x, table, Type({2, 6, 4}), {}),
              IsRefusal("sequence of x vs of the sines: 5 vs 6"));
  EXPECT_THAT(Rotary(x, Type({9, 4}), Type({9, 4}), {}),
              IsRefusal("input 1 has rank 2"));
  EXPECT_THAT(
      Rotary(x, Type({9, 4}), Type({8, 4}), {}, {Type(DType::kInt64, {2, 5})}),
      IsRefusal("9 vs 8"));
  EXPECT_THAT(
      Rotary(x, Type({9, 4}), Type({9, 4}), {}, {Type(DType::kInt64, {2, 4})}),
      IsRefusal("sequence of x vs of the positions: 5 vs 4"));
  EXPECT_THAT(
      Rotary(x, Type({9, 4}), Type({9, 4}), {}, {Type(DType::kInt32, {2, 5})}),
      IsRefusal("input 3 has dtype int32"));
  EXPECT_THAT(Rotary(Type({2, 3, 5, 7}), table, table, {}),
              IsRefusal("the head's 7 elements do not make pairs"));
  EXPECT_THAT(Rotary(x, table, table, {{"rotary_embedding_dim", int64_t{10}}}),
              IsRefusal("'rotary_embedding_dim' is 10, above the head's 8"));
  EXPECT_THAT(Rotary(x, table, table, {{"rotary_embedding_dim", int64_t{3}}}),
              IsRefusal("'rotary_embedding_dim' is 3"));
  EXPECT_THAT(Rotary(x, table, table, {{"num_heads", int64_t{2}}}),
              IsRefusal("attribute 'num_heads' vs heads of x: 2 vs 3"));
  EXPECT_THAT(Rotary(Type({2, 5, 8}), table, table, {}),
              IsRefusal("'num_heads' is missing"));
  EXPECT_THAT(
      Rotary(Type({2, 5, 8}), table, table, {{"num_heads", int64_t{3}}}),
      IsRefusal("8 elements do not make 3 equal heads"));
  EXPECT_THAT(Rotary(Type({2, 8}), table, table, {}), IsRefusal("rank 2"));
  EXPECT_THAT(Rotary(Type(DType::kFloat64, {2, 3, 5, 8}), table, table, {}),
              IsRefusal("input 0 has dtype float64"));
}

}  // namespace
}  // namespace tensord
