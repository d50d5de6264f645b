#include "tests/engine/ops/infer_test.h"

namespace tensord {
namespace {

class OptimizersTest : public InferTest {
 protected:
  // `operands` inputs of each of two tensors.
  TypedCase Case(std::string op, int operands) {
    TypedCase test{.op = std::move(op),
                   .inputs = {Type({}), Type(DType::kInt64, {})},
                   .opset = 21};
    for (int i = 0; i < operands; ++i) {
      test.inputs.push_back(Type({"N", 3}));
      test.inputs.push_back(Type(DType::kFloat64, {}));
    }
    return test;
  }
  TypedCase Momentum() {
    TypedCase test = Case("Momentum", 3);
    test.attributes = {{"alpha", 0.9f},
                       {"beta", 0.1f},
                       {"mode", "nesterov"},
                       {"norm_coefficient", 0.0f}};
    return test;
  }

  std::string InferAll(TypedCase test, int outputs) {
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
};

TEST_F(OptimizersTest, TensorsAndStatesKeepTheirTypes) {
  const std::string both = "float32 [N, 3]; float64 []";
  EXPECT_EQ(InferAll(Case("Adagrad", 3), 4), both + "; " + both);
  EXPECT_EQ(InferAll(Case("Adam", 4), 6), both + "; " + both + "; " + both);
  EXPECT_EQ(InferAll(Momentum(), 4), both + "; " + both);
  // Whoever wants no states gets none.
  EXPECT_EQ(InferAll(Case("Adam", 4), 2), both);
}

TEST_F(OptimizersTest, RefusesCountsThatDoNotFit) {
  TypedCase test = Case("Adam", 4);
  test.inputs.pop_back();
  EXPECT_THAT(Infer(test), IsRefusal("7 inputs behind the first 2 are no "
                                     "multiple of 4"));
  EXPECT_THAT(InferAll(Case("Adagrad", 3), 5),
              IsRefusal("5 outputs, where 2 tensors have 4"));
  test = Case("Adagrad", 0);
  EXPECT_THAT(Infer(test), IsRefusal("2 inputs"));
}

TEST_F(OptimizersTest, RefusesOperandsThatDoNotFit) {
  const auto refusal = [&](size_t i, TensorType type) {
    TypedCase test = Case("Adam", 4);
    test.inputs[i] = std::move(type);
    return Infer(test);
  };
  EXPECT_THAT(refusal(0, Type({2})), IsRefusal("input 0 has shape [2]"));
  EXPECT_THAT(refusal(0, Type(DType::kFloat16, {})),
              IsRefusal("input 0 has dtype float16"));
  EXPECT_THAT(refusal(1, Type({})), IsRefusal("input 1 has dtype float32"));
  EXPECT_THAT(refusal(2, Type(DType::kFloat16, {"N", 3})),
              IsRefusal("input 2 has dtype float16"));
  EXPECT_THAT(refusal(4, Type(DType::kFloat64, {"N", 3})),
              IsRefusal("inputs 2 and 4 have dtypes float32 vs float64"));
  EXPECT_THAT(refusal(6, Type({"N", 4})),
              IsRefusal("dimension 1 of input 6 should be that of input 2: 3 "
                        "vs 4"));
  EXPECT_THAT(refusal(9, Type(DType::kFloat64, {1})),
              IsRefusal("input 9 has rank 1, not 0"));
  EXPECT_THAT(refusal(5, TensorType()), IsRefusal("input 5 is required"));
}

TEST_F(OptimizersTest, MomentumNeedsItsAttributes) {
  for (int i = 0; i < 4; ++i) {
    TypedCase test = Momentum();
    const std::string name = test.attributes[i].first;
    test.attributes.erase(test.attributes.begin() + i);
    EXPECT_THAT(Infer(test), IsRefusal(absl::StrCat("'", name, "' is ")));
  }
  TypedCase test = Momentum();
  test.attributes[2].second = "fast\n";
  EXPECT_THAT(Infer(test),
              IsRefusal("'mode' is 'fast\\n', not standard or nesterov"));
}

}  // namespace
}  // namespace tensord
