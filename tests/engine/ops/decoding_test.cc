#include <limits>

#include "tests/engine/ops/infer_test.h"

// Operators whose state goes from one token to the next.
namespace tensord {
namespace {

class DecodingTest : public InferTest {
 protected:
  // The types of both outputs.
  std::string InferBoth(TypedCase test) {
    test.output_count = 2;
    const absl::StatusOr<InferredCase> inferred = InferOp(test, symbols_);
    if (!inferred.ok()) return inferred.status().ToString();
    std::string text;
    for (const TensorType& type : inferred->outputs) {
      absl::StrAppend(&text, text.empty() ? "" : "; ", DTypeName(type.dtype),
                      " ", symbols_.ToString(*type.shape));
    }
    return text;
  }

  static TypedCase WithInput(TypedCase test, size_t i, TensorType type) {
    if (test.inputs.size() <= i) test.inputs.resize(i + 1);
    test.inputs[i] = std::move(type);
    return test;
  }
  static TypedCase WithAttribute(TypedCase test, std::string name,
                                 Attribute value) {
    test.attributes.emplace_back(std::move(name), std::move(value));
    return test;
  }

  TypedCase TensorScatter() {
    return {.op = "TensorScatter",
            .inputs = {Type({"N", 2, 9, 5}), Type({"N", 2, "S", 5}),
                       Type(DType::kInt64, {"N"})},
            .opset = 24};
  }

  // Heads of 4 elements for the key and of 6 for the value.
  TypedCase LinearAttention(std::string rule = "linear") {
    return {.op = "LinearAttention",
            .inputs = {Type({"N", "T", 16}), Type({"N", "T", 8}),
                       Type({"N", "T", 12})},
            .attributes = {{"q_num_heads", int64_t{4}},
                           {"kv_num_heads", int64_t{2}},
                           {"update_rule", std::move(rule)}},
            .opset = 27};
  }

  TypedCase CausalConv() {
    return {.op = "CausalConvWithState",
            .inputs = {Type({"N", 3, "L"}), Type({3, 1, 4})},
            .opset = 27};
  }
};

TEST_F(DecodingTest, TensorScatterHasTheCachesType) {
  EXPECT_EQ(Infer(TensorScatter()), "float32 [N, 2, 9, 5]");
  TypedCase test = WithAttribute(TensorScatter(), "mode", "circular");
  test.inputs.resize(2);
  for (TensorType& input : test.inputs) input.dtype = DType::kUInt8;
  EXPECT_EQ(Infer(test), "uint8 [N, 2, 9, 5]");
  EXPECT_EQ(Infer(WithAttribute(
                WithInput(test, 1, Type(DType::kUInt8, {"N", 2, 9, 3})), "axis",
                int64_t{3})),
            "uint8 [N, 2, 9, 5]");
}

TEST_F(DecodingTest, TensorScatterRefusesWhatDoesNotFit) {
  const auto refusal = [&](size_t i, TensorType type) {
    return Infer(WithInput(TensorScatter(), i, std::move(type)));
  };
  EXPECT_THAT(refusal(0, Type({5})), IsRefusal("input 0 has rank 1"));
  EXPECT_THAT(refusal(1, Type({"N", 2, 10, 5})),
              IsRefusal("the update's sequence of 10 is longer than the "
                        "cache's of 9"));
  EXPECT_THAT(refusal(1, Type({"N", 3, "S", 5})),
              IsRefusal("dimension 1 of the update should be 2 vs 3"));
  EXPECT_THAT(refusal(1, Type({"N", "S", 5})),
              IsRefusal("input 1 has rank 3, not 4"));
  EXPECT_THAT(refusal(1, Type(DType::kFloat16, {"N", 2, "S", 5})),
              IsRefusal("inputs 0 and 1 have dtypes float32 vs float16"));
  EXPECT_THAT(refusal(2, Type({"N"})), IsRefusal("input 2 has dtype float32"));
  EXPECT_THAT(refusal(2, Type(DType::kInt64, {"N", 1})),
              IsRefusal("input 2 has rank 2, not 1"));
  TypedCase test = WithInput(TensorScatter(), 2, Int64s(3));
  test.inputs[0] = Type({2, 2, 9, 5});
  EXPECT_THAT(Infer(test),
              IsRefusal("batch of the cache vs of the write indices: 2 vs 3"));
}

TEST_F(DecodingTest, TensorScatterRefusesAttributesThatNoRunCouldUse) {
  const auto refusal = [&](std::string name, Attribute value) {
    return Infer(
        WithAttribute(TensorScatter(), std::move(name), std::move(value)));
  };
  for (int64_t axis : {0, -4}) {
    EXPECT_THAT(refusal("axis", axis),
                IsRefusal("'axis' is that of the batch"));
  }
  EXPECT_THAT(refusal("axis", int64_t{4}),
              IsRefusal("axis 4 is outside [-4, 4)"));
  EXPECT_THAT(refusal("mode", "ring\x01"),
              IsRefusal("'mode' is 'ring\\x01', not linear or circular"));
}

TEST_F(DecodingTest, LinearAttentionGivesTokensAndAState) {
  EXPECT_EQ(InferBoth(LinearAttention()),
            "float32 [N, T, 24]; float32 [N, 2, 4, 6]");
  TypedCase test = LinearAttention("gated_delta");
  for (TensorType& input : test.inputs) input.dtype = DType::kBFloat16;
  // The state keeps its dtype; the decay is of a head or of its elements.
  test = WithInput(test, 3, Type({"N", 2, 4, 6}));
  test = WithInput(test, 5, Type(DType::kBFloat16, {"N", "T", 1}));
  for (int decays : {2, 8}) {
    EXPECT_EQ(InferBoth(WithInput(test, 4,
                                  Type(DType::kBFloat16, {"N", "T", decays}))),
              "bfloat16 [N, T, 24]; float32 [N, 2, 4, 6]");
  }
}

TEST_F(DecodingTest, LinearAttentionTakesSymbolsForSizes) {
  TypedCase test = LinearAttention();
  test.inputs[2] = Type({"N", "T", "V"});
  EXPECT_EQ(InferBoth(WithAttribute(test, "chunk_size", int64_t{16})),
            "float32 [N, T, ((V/2)*4)]; float32 [N, 2, 4, (V/2)]");
}

TEST_F(DecodingTest, LinearAttentionRefusesInputsThatDoNotFit) {
  const auto refusal = [&](size_t i, TensorType type) {
    return InferBoth(WithInput(LinearAttention(), i, std::move(type)));
  };
  EXPECT_THAT(refusal(0, Type(DType::kFloat64, {"N", "T", 16})),
              IsRefusal("input 0 has dtype float64"));
  EXPECT_THAT(refusal(0, Type({"N", "T", 18})),
              IsRefusal("input 0: 18 elements do not make 4 equal heads"));
  EXPECT_THAT(refusal(0, Type({"N", "T", 20})),
              IsRefusal("head sizes of the queries vs of the keys: 5 vs 4"));
  EXPECT_THAT(refusal(1, Type({"N", "T", 2, 4})),
              IsRefusal("input 1 has rank 4, not 3"));
  EXPECT_THAT(refusal(2, Type(DType::kFloat16, {"N", "T", 12})),
              IsRefusal("inputs 0 and 2 have dtypes"));
  EXPECT_THAT(refusal(3, Type({"N", 2, 6, 4})),
              IsRefusal("dimension 2 of the past state should be 4 vs 6"));
  EXPECT_THAT(refusal(3, Type({"N", 2, 24})), IsRefusal("input 3 has rank 3"));
  TypedCase test = LinearAttention();
  test.inputs[0] = Type({2, 7, 16});
  test.inputs[1] = Type({3, 7, 8});
  EXPECT_THAT(InferBoth(test),
              IsRefusal("batch of input 0 vs of input 1: 2 vs 3"));
  test.inputs[1] = Type({2, 6, 8});
  EXPECT_THAT(InferBoth(test),
              IsRefusal("sequence of input 0 vs of input 1: 7 vs 6"));
}

TEST_F(DecodingTest, LinearAttentionsRuleSaysWhichGatesThereAre) {
  const TensorType decay = Type({"N", "T", 8});
  const TensorType beta = Type({"N", "T", 2});
  EXPECT_THAT(InferBoth(LinearAttention("gated")),
              IsRefusal("input 4 (decay) is missing"));
  EXPECT_THAT(InferBoth(LinearAttention("delta")),
              IsRefusal("input 5 (beta) is missing"));
  EXPECT_THAT(InferBoth(WithInput(LinearAttention("linear"), 4, decay)),
              IsRefusal("input 4 (decay) is given, but not what"));
  EXPECT_THAT(InferBoth(WithInput(WithInput(LinearAttention("gated"), 4, decay),
                                  5, beta)),
              IsRefusal("input 5 (beta) is given, but not what"));
  EXPECT_THAT(
      InferBoth(WithInput(LinearAttention("gated"), 4, Type({"N", "T", 4}))),
      IsRefusal("input 4 has 4 elements for a token, not 2 or 8"));
  EXPECT_THAT(
      InferBoth(WithInput(LinearAttention("delta"), 5, Type({"N", "T", 8}))),
      IsRefusal("input 5 has 8 elements for a token, not 2 or 1"));
}

TEST_F(DecodingTest, LinearAttentionRefusesAttributesThatNoRunCouldUse) {
  const auto with_heads = [&](int64_t queries, int64_t others) {
    TypedCase test = LinearAttention();
    test.attributes = {{"q_num_heads", queries}, {"kv_num_heads", others}};
    return InferBoth(test);
  };
  EXPECT_THAT(with_heads(3, 2),
              IsRefusal("3 heads of the queries are no multiple of 2"));
  EXPECT_THAT(with_heads(0, 2), IsRefusal("'q_num_heads' is 0"));
  EXPECT_THAT(with_heads(2, -1), IsRefusal("'kv_num_heads' is -1"));
  EXPECT_THAT(
      with_heads(4, std::numeric_limits<int64_t>::min()),
      IsRefusal("'kv_num_heads' is -9223372036854775808, not at least 1"));
  TypedCase test = LinearAttention();
  test.attributes.erase(test.attributes.begin());
  EXPECT_THAT(InferBoth(test), IsRefusal("'q_num_heads' is missing"));
  EXPECT_THAT(InferBoth(LinearAttention("lin\near")),
              IsRefusal("'update_rule' is 'lin\\near'"));
  EXPECT_THAT(Infer(LinearAttention()), IsRefusal("1 outputs"));
}

// 2^62 heads of no elements.
TEST_F(DecodingTest, LinearAttentionsStateIsNoLargerThanATensor) {
  TypedCase test = LinearAttention();
  test.attributes = {{"q_num_heads", int64_t{1} << 62},
                     {"kv_num_heads", int64_t{1} << 62},
                     {"update_rule", "linear"}};
  for (TensorType& input : test.inputs) input = Type({1, 1, 0});
  test.output_count = 2;
  const absl::StatusOr<InferredCase> inferred = InferOp(test, symbols_);
  ASSERT_THAT(inferred, IsOk());
  EXPECT_THAT(ToConcrete(*inferred->outputs[1].shape),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       ::testing::HasSubstr("elements")));
}

TEST_F(DecodingTest, CausalConvGivesItsInputsTypeAndAState) {
  EXPECT_EQ(InferBoth(CausalConv()), "float32 [N, 3, L]; float32 [N, 3, 3]");
  TypedCase test = CausalConv();
  test.inputs = {Type(DType::kFloat16, {"N", 3, "L"}),
                 Type(DType::kFloat16, {3, 1, "K"}), Type(DType::kFloat16, {3}),
                 Type(DType::kFloat16, {"N", 3, "P"})};
  for (const char* activation : {"none", "silu", "swish"}) {
    EXPECT_EQ(InferBoth(WithAttribute(test, "activation", activation)),
              "float16 [N, 3, L]; float16 [N, 3, (K+-1)]");
  }
}

TEST_F(DecodingTest, CausalConvRefusesWhatDoesNotFit) {
  const auto refusal = [&](size_t i, TensorType type) {
    return InferBoth(WithInput(CausalConv(), i, std::move(type)));
  };
  EXPECT_THAT(refusal(0, Type(DType::kFloat64, {"N", 3, "L"})),
              IsRefusal("input 0 has dtype float64"));
  EXPECT_THAT(refusal(0, Type({"N", 3})), IsRefusal("input 0 has rank 2"));
  EXPECT_THAT(refusal(1, Type({4, 1, 4})),
              IsRefusal("channels of the input vs of the weights: 3 vs 4"));
  EXPECT_THAT(refusal(1, Type({3, 2, 4})),
              IsRefusal("dimension 1 of the weights should be 1 vs 2"));
  EXPECT_THAT(refusal(1, Type({3, 1, 0})),
              IsRefusal("the kernel has 0 elements"));
  EXPECT_THAT(refusal(1, Type({3, 4})), IsRefusal("input 1 has rank 2"));
  EXPECT_THAT(refusal(2, Type({2})),
              IsRefusal("channels of the input vs of the bias: 3 vs 2"));
  EXPECT_THAT(refusal(3, Type({"N", 3, 4})),
              IsRefusal("dimension 2 of the past state should be 3 vs 4"));
  EXPECT_THAT(refusal(3, Type(DType::kFloat16, {"N", 3, 3})),
              IsRefusal("inputs 0 and 3 have dtypes"));
  EXPECT_THAT(InferBoth(WithAttribute(CausalConv(), "activation", "relu\x7f")),
              IsRefusal("'activation' is 'relu\\x7f'"));
}

}  // namespace
}  // namespace tensord
