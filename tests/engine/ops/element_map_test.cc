#include <string>
#include <vector>

#include "tests/engine/ops/infer_test.h"

// Operators that map each element of one input.
namespace tensord {
namespace {

using ElementMapTest = InferTest;

constexpr DType kFloats[] = {DType::kFloat32, DType::kFloat64, DType::kFloat16,
                             DType::kBFloat16};
constexpr DType kSignedIntegers[] = {DType::kInt8, DType::kInt16, DType::kInt32,
                                     DType::kInt64};
constexpr DType kUnsignedIntegers[] = {DType::kUInt8, DType::kUInt16,
                                       DType::kUInt32, DType::kUInt64};

const char* const kFloatOps[] = {"Acos",        "Acosh",     "Asin",
                                 "Asinh",       "Atan",      "Atanh",
                                 "Ceil",        "Celu",      "Cos",
                                 "Cosh",        "Elu",       "Erf",
                                 "Exp",         "Floor",     "Gelu",
                                 "HardSigmoid", "HardSwish", "LeakyRelu",
                                 "Log",         "Mish",      "Reciprocal",
                                 "Round",       "Selu",      "Sigmoid",
                                 "Sin",         "Sinh",      "Softplus",
                                 "Softsign",    "Sqrt",      "Swish",
                                 "Tan",         "Tanh",      "ThresholdedRelu"};
const char* const kSignedOps[] = {"Neg", "Relu"};
const char* const kNumericOps[] = {"Abs", "Clip", "Sign"};

class KeepsType : public InferTest {
 protected:
  void Expect(const char* op, absl::Span<const DType> dtypes) {
    for (DType dtype : dtypes) {
      EXPECT_EQ(Infer({.op = op, .inputs = {Type(dtype, {"N", 3})}}),
                absl::StrCat(DTypeName(dtype), " [N, 3]"))
          << op;
      EXPECT_EQ(Infer({.op = op, .inputs = {Type(dtype, {})}}),
                absl::StrCat(DTypeName(dtype), " []"))
          << op;
    }
  }
};

TEST_F(KeepsType, OfTheInput) {
  for (const char* op : kFloatOps) Expect(op, kFloats);
  for (const char* op : kSignedOps) {
    Expect(op, kFloats);
    Expect(op, kSignedIntegers);
  }
  for (const char* op : kNumericOps) {
    Expect(op, kFloats);
    Expect(op, kSignedIntegers);
    Expect(op, kUnsignedIntegers);
  }
  Expect("BitwiseNot", kSignedIntegers);
  Expect("BitwiseNot", kUnsignedIntegers);
  Expect("Not", {DType::kBool});
}

TEST_F(ElementMapTest, ClassificationGivesBooleans) {
  for (const char* op : {"IsInf", "IsNaN"}) {
    for (DType dtype : kFloats) {
      EXPECT_EQ(Infer({.op = op, .inputs = {Type(dtype, {"N", 3})}}),
                "bool [N, 3]");
    }
    EXPECT_EQ(
        Infer(
            {.op = op, .inputs = {Type(DType::kFloat8E5M2, {2})}, .opset = 20}),
        "bool [2]");
    EXPECT_THAT(Infer({.op = op, .inputs = {Type(DType::kInt32, {2})}}),
                IsRefusal("input 0 has dtype int32"));
  }
}

TEST_F(ElementMapTest, RefusesDTypesOutsideTheStandard) {
  const auto of = [this](const char* op, DType dtype) {
    return Infer({.op = op, .inputs = {Type(dtype, {1})}});
  };
  for (const char* op : kFloatOps) {
    EXPECT_THAT(of(op, DType::kBool), IsRefusal("input 0 has dtype bool"));
    if (std::string(op) == "Erf") continue;  // next
    EXPECT_THAT(of(op, DType::kInt32), IsRefusal("input 0 has dtype int32"));
  }
  for (const char* op : kSignedOps) {
    EXPECT_THAT(of(op, DType::kUInt8), IsRefusal("input 0 has dtype uint8"));
    EXPECT_THAT(of(op, DType::kBool), IsRefusal("input 0 has dtype bool"));
  }
  for (const char* op : kNumericOps) {
    EXPECT_THAT(of(op, DType::kBool), IsRefusal("input 0 has dtype bool"));
    EXPECT_THAT(of(op, DType::kString), IsRefusal("input 0 has dtype string"));
  }
  EXPECT_THAT(of("BitwiseNot", DType::kFloat32), IsRefusal("dtype float32"));
  EXPECT_THAT(of("BitwiseNot", DType::kBool), IsRefusal("dtype bool"));
  EXPECT_THAT(of("Not", DType::kUInt8), IsRefusal("dtype uint8"));
}

// It has no kernel, which is not the type rule's to say.
TEST_F(ElementMapTest, ErfOfIntegersIsInTheStandard) {
  EXPECT_EQ(
      Infer({.op = "Erf", .inputs = {Type(DType::kInt32, {1})}, .opset = 9}),
      "int32 [1]");
}

TEST_F(ElementMapTest, RefusesAttributesThatTheOperatorDoesNotHave) {
  for (const char* op :
       {"Abs", "Acos", "Ceil", "Erf", "HardSwish", "IsNaN", "Log", "Mish",
        "Neg", "Not", "Relu", "Round", "Sign", "Softplus", "Tanh"}) {
    const DType dtype =
        std::string(op) == "Not" ? DType::kBool : DType::kFloat32;
    EXPECT_THAT(Infer({.op = op,
                       .inputs = {Type(dtype, {1})},
                       .attributes = {{"alpha", 1.0f}}}),
                IsRefusal("alpha"))
        << op;
  }
}

TEST_F(ElementMapTest, ConsumedInputsEndWithOperatorSet5) {
  for (const char* op : {"Abs", "Ceil", "Clip", "Elu", "Exp", "Floor",
                         "HardSigmoid", "LeakyRelu", "Log", "Neg", "Reciprocal",
                         "Relu", "Selu", "Sigmoid", "Sqrt", "Tanh"}) {
    TypedCase test = {.op = op,
                      .inputs = {Type({2})},
                      .attributes = {{"consumed_inputs", Ints{0}}},
                      .opset = 5};
    EXPECT_EQ(Infer(test), "float32 [2]") << op;
    test.opset = 6;
    EXPECT_THAT(Infer(test), IsRefusal("consumed_inputs")) << op;
  }
}

TEST_F(ElementMapTest, FloatsMustBeFloats) {
  for (const char* op : {"Celu", "Elu", "HardSigmoid", "LeakyRelu", "Selu",
                         "Swish", "ThresholdedRelu"}) {
    EXPECT_THAT(Infer({.op = op,
                       .inputs = {Type({2})},
                       .attributes = {{"alpha", int64_t{1}}}}),
                IsRefusal("'alpha' has type int"))
        << op;
  }
  EXPECT_THAT(Infer({.op = "HardSigmoid",
                     .inputs = {Type({2})},
                     .attributes = {{"beta", int64_t{1}}}}),
              IsRefusal("'beta' has type int"));
  EXPECT_THAT(Infer({.op = "Selu",
                     .inputs = {Type({2})},
                     .attributes = {{"gamma", int64_t{1}}}}),
              IsRefusal("'gamma' has type int"));
}

TEST_F(ElementMapTest, RefusesParametersThatNoRunCouldUse) {
  EXPECT_THAT(Infer({.op = "Celu",
                     .inputs = {Type({2})},
                     .attributes = {{"alpha", 0.0f}}}),
              IsRefusal("'alpha' is 0"));
  EXPECT_THAT(Infer({.op = "Gelu",
                     .inputs = {Type({2})},
                     .attributes = {{"approximate", "sigmoid"}}}),
              IsRefusal("'approximate' is 'sigmoid', not none or tanh"));
  EXPECT_THAT(Infer({.op = "Gelu",
                     .inputs = {Type({2})},
                     .attributes = {{"approximate", "\x04"}},
                     .opset = 20}),
              IsRefusal("'approximate' is '\\x04', not none or tanh"));
  EXPECT_THAT(Infer({.op = "IsInf",
                     .inputs = {Type({2})},
                     .attributes = {{"detect_negative", int64_t{2}}}}),
              IsRefusal("'detect_negative' is 2"));
}

TEST_F(ElementMapTest, ClipBoundsAreSingleElementsOfItsDType) {
  EXPECT_EQ(Infer({.op = "Clip", .inputs = {Type({2}), {}, Type({1})}}),
            "float32 [2]");
  EXPECT_EQ(Infer({.op = "Clip", .inputs = {Type({2}), Type({"N"})}}),
            "float32 [2]");
  EXPECT_THAT(Infer({.op = "Clip", .inputs = {Type({2}), Type({2})}}),
              IsRefusal("input 1 has shape [2], not one element"));
  EXPECT_THAT(Infer({.op = "Clip", .inputs = {Type({2}), {}, Type({1, 1})}}),
              IsRefusal("input 2 has shape [1, 1]"));
  EXPECT_THAT(
      Infer({.op = "Clip", .inputs = {Type({2}), Type(DType::kInt32, {})}}),
      IsRefusal("float32 vs int32"));
  EXPECT_THAT(
      Infer({.op = "Clip", .inputs = {Type(DType::kFloat16, {2}), Type({1})}}),
      IsRefusal("float16 vs float32"));
}

TEST_F(ElementMapTest, ClipBoundsWereAttributesUpTo10) {
  const auto clip = [this](std::vector<TensorType> inputs, int64_t opset) {
    return Infer({.op = "Clip",
                  .inputs = std::move(inputs),
                  .attributes = {{"min", 0.0f}},
                  .opset = opset});
  };
  EXPECT_EQ(clip({Type({2})}, 6), "float32 [2]");
  EXPECT_EQ(clip({Type(DType::kFloat16, {"N"})}, 10), "float16 [N]");
  EXPECT_THAT(clip({Type(DType::kInt32, {2})}, 10), IsRefusal("dtype int32"));
  EXPECT_THAT(clip({Type({2}), Type({1})}, 10),
              IsRefusal("2 inputs; up to operator set 10 there is 1"));
  EXPECT_THAT(clip({Type({2})}, 11), IsRefusal("min"));
}

}  // namespace
}  // namespace tensord
