#include "tests/engine/ops/infer_test.h"

namespace tensord {
namespace {

using QuantizeTest = InferTest;

int64_t Number(DType dtype) { return static_cast<int64_t>(dtype); }

TEST_F(QuantizeTest, TheZeroPointSaysTheDType) {
  EXPECT_EQ(
      Infer({.op = "QuantizeLinear",
             .inputs = {Type({"N", 3}), Type({}), Type(DType::kInt8, {})}}),
      "int8 [N, 3]");
  EXPECT_EQ(Infer({.op = "QuantizeLinear",
                   .inputs = {Type({"N", 3}), Type({})},
                   .opset = 10}),
            "uint8 [N, 3]");
  EXPECT_EQ(Infer({.op = "QuantizeLinear",
                   .inputs = {Type({2}), Type({})},
                   .attributes = {{"output_dtype", Number(DType::kUInt16)}},
                   .opset = 21}),
            "uint16 [2]");
  EXPECT_THAT(Infer({.op = "QuantizeLinear",
                     .inputs = {Type({2}), Type({}), Type(DType::kInt8, {})},
                     .attributes = {{"output_dtype", Number(DType::kUInt8)}},
                     .opset = 21}),
              IsRefusal("output_dtype uint8 vs zero point: int8"));
  EXPECT_THAT(Infer({.op = "QuantizeLinear",
                     .inputs = {Type({2}), Type({}), Type(DType::kInt32, {})}}),
              IsRefusal("dtype int32"));
}

TEST_F(QuantizeTest, SmallDTypes) {
  for (DType dtype :
       {DType::kFloat8E4M3FN, DType::kFloat8E4M3FNUZ, DType::kFloat8E5M2,
        DType::kFloat8E5M2FNUZ, DType::kFloat4E2M1, DType::kUInt4, DType::kInt4,
        DType::kUInt2, DType::kInt2}) {
    EXPECT_EQ(Infer({.op = "QuantizeLinear",
                     .inputs = {Type({2}), Type({}), Type(dtype, {})},
                     .opset = 25}),
              absl::StrCat(DTypeName(dtype), " [2]"));
    EXPECT_EQ(Infer({.op = "DequantizeLinear",
                     .inputs = {Type(dtype, {2}), Type({}), Type(dtype, {})},
                     .opset = 25}),
              "float32 [2]");
  }
  EXPECT_THAT(
      Infer({.op = "QuantizeLinear",
             .inputs = {Type({2}), Type({}), Type(DType::kFloat8E8M0, {})},
             .opset = 25}),
      IsRefusal("dtype float8e8m0"));
}

TEST_F(QuantizeTest, TheScaleSaysTheFloat) {
  EXPECT_EQ(Infer({.op = "DequantizeLinear",
                   .inputs = {Type(DType::kUInt8, {"N", 3}),
                              Type(DType::kFloat16, {})},
                   .opset = 19}),
            "float16 [N, 3]");
  EXPECT_EQ(Infer({.op = "DequantizeLinear",
                   .inputs = {Type(DType::kInt32, {3}), Type({})},
                   .attributes = {{"output_dtype", Number(DType::kBFloat16)}},
                   .opset = 23}),
            "bfloat16 [3]");
  EXPECT_THAT(Infer({.op = "DequantizeLinear",
                     .inputs = {Type(DType::kUInt8, {3}), Type({}),
                                Type(DType::kInt8, {})}}),
              IsRefusal("uint8 vs int8"));
  EXPECT_THAT(
      Infer({.op = "DequantizeLinear", .inputs = {Type({3}), Type({})}}),
      IsRefusal("input 0 has dtype float32"));
}

TEST_F(QuantizeTest, EveryAttributeHasItsFirstOperatorSet) {
  const auto with = [&](const char* op, const char* name, int64_t value,
                        int64_t opset) {
    return Infer({.op = op,
                  .inputs = {std::string(op) == "QuantizeLinear"
                                 ? Type({2, 2})
                                 : Type(DType::kUInt8, {2, 2}),
                             Type({})},
                  .attributes = {{name, value}},
                  .opset = opset});
  };
  struct First {
    const char* op;
    const char* name;
    int64_t opset;
    int64_t value;
  };
  for (const First& first :
       {First{"QuantizeLinear", "axis", 13, 0},
        First{"QuantizeLinear", "saturate", 19, 1},
        First{"QuantizeLinear", "block_size", 21, 2},
        First{"QuantizeLinear", "output_dtype", 21, Number(DType::kInt8)},
        First{"QuantizeLinear", "precision", 23, Number(DType::kFloat16)},
        First{"DequantizeLinear", "axis", 13, 0},
        First{"DequantizeLinear", "block_size", 21, 2},
        First{"DequantizeLinear", "output_dtype", 23,
              Number(DType::kFloat16)}}) {
    EXPECT_THAT(with(first.op, first.name, first.value, first.opset - 1),
                IsRefusal(first.name));
    EXPECT_THAT(with(first.op, first.name, first.value, first.opset),
                ::testing::EndsWith("[2, 2]"))
        << first.op << " " << first.name;
  }
}

TEST_F(QuantizeTest, ScalesMustFit) {
  const auto with = [&](TensorType scale, int64_t axis, int64_t block_size) {
    return Infer({.op = "QuantizeLinear",
                  .inputs = {Type({2, 7, 4}), std::move(scale)},
                  .attributes = {{"axis", axis}, {"block_size", block_size}},
                  .opset = 21});
  };
  EXPECT_EQ(with(Type({7}), 1, 0), "uint8 [2, 7, 4]");
  EXPECT_EQ(with(Type({7}), -2, 0), "uint8 [2, 7, 4]");
  EXPECT_EQ(with(Type({"S"}), 1, 0), "uint8 [2, 7, 4]");
  EXPECT_EQ(with(Type({2, 3, 4}), 1, 3), "uint8 [2, 7, 4]");
  EXPECT_EQ(with(Type({}), 99, 0), "uint8 [2, 7, 4]");
  EXPECT_THAT(with(Type({7}), 0, 0),
              IsRefusal("scale vs dimension 0 of x: 7 vs 2"));
  EXPECT_THAT(with(Type({7}), 3, 0), IsRefusal("axis 3 is outside [-3, 3)"));
  EXPECT_THAT(with(Type({2, 7}), 1, 0), IsRefusal("input 1 has rank 2"));
  EXPECT_THAT(with(Type({2, 4, 4}), 1, 3),
              IsRefusal("dimension 1 of the scale vs blocks: 4 vs 3"));
  EXPECT_THAT(with(Type({3, 3, 4}), 1, 3),
              IsRefusal("dimension 0 of the scale vs blocks: 3 vs 2"));
  EXPECT_THAT(with(Type({7}), 1, 3), IsRefusal("input 1 has rank 1, not 3"));
  EXPECT_THAT(with(Type({7}), 1, -1), IsRefusal("'block_size' is -1"));
  EXPECT_THAT(
      Infer({.op = "QuantizeLinear",
             .inputs = {Type({2, 7}), Type({7}), Type(DType::kInt8, {})}}),
      IsRefusal("input 2 has rank 0, not 1"));
  EXPECT_THAT(
      Infer({.op = "QuantizeLinear",
             .inputs = {Type({2, 7}), Type({7}), Type(DType::kInt8, {6})}}),
      IsRefusal("scale vs zero point: dimension 0: 7 vs 6"));
}

TEST_F(QuantizeTest, OneElementMayBeAScalarOrAVector) {
  for (const auto& [scale, zero_point] :
       {std::pair{Type({}), Type(DType::kInt8, {1})},
        std::pair{Type({1}), Type(DType::kInt8, {})}}) {
    EXPECT_EQ(Infer({.op = "QuantizeLinear",
                     .inputs = {Type({2, 7}), scale, zero_point}}),
              "int8 [2, 7]");
  }
  EXPECT_THAT(
      Infer({.op = "QuantizeLinear",
             .inputs = {Type({2, 7}), Type({}), Type(DType::kInt8, {2})}}),
      IsRefusal("input 2 has rank 1, not 0"));
}

TEST_F(QuantizeTest, WhatTheStandardHasBesideIsNamed) {
  EXPECT_THAT(Infer({.op = "QuantizeLinear",
                     .inputs = {Type({2}), Type(DType::kInt32, {})},
                     .opset = 23}),
              IsUnsupported("int32"));
  EXPECT_THAT(Infer({.op = "QuantizeLinear",
                     .inputs = {Type({2}), Type({})},
                     .attributes = {{"precision", Number(DType::kFloat64)}},
                     .opset = 23}),
              IsRefusal("'precision' is float64"));
  EXPECT_THAT(Infer({.op = "QuantizeLinear",
                     .inputs = {Type({2}), Type({})},
                     .attributes = {{"output_dtype", int64_t{99}}},
                     .opset = 21}),
              IsRefusal("'output_dtype' is 99"));
}

TEST_F(QuantizeTest, DynamicQuantizeLinearIsOfFloat32) {
  EXPECT_EQ(Infer({.op = "DynamicQuantizeLinear", .inputs = {Type({"N", 3})}}),
            "uint8 [N, 3]");
  EXPECT_THAT(Infer({.op = "DynamicQuantizeLinear",
                     .inputs = {Type(DType::kFloat16, {3})}}),
              IsRefusal("input 0 has dtype float16"));
}

using IntegerProductTest = InferTest;

TEST_F(IntegerProductTest, MatMulIntegerMultipliesLikeMatMul) {
  const TensorType a = Type(DType::kInt8, {"B", 4, 5});
  const TensorType b = Type(DType::kUInt8, {5, 6});
  const auto with = [&](TensorType a_zero, TensorType b_zero) {
    return Infer({.op = "MatMulInteger",
                  .inputs = {a, b, std::move(a_zero), std::move(b_zero)}});
  };
  const TensorType none;
  EXPECT_EQ(with(none, none), "int32 [B, 4, 6]");
  EXPECT_EQ(with(Type(DType::kInt8, {4}), Type(DType::kUInt8, {6})),
            "int32 [B, 4, 6]");
  EXPECT_EQ(with(Type(DType::kInt8, {"B", 4, 1}), Type(DType::kUInt8, {1, 6})),
            "int32 [B, 4, 6]");
  EXPECT_THAT(with(Type(DType::kInt8, {5}), none),
              IsRefusal("zero points vs lines of input 0: 5 vs 4"));
  EXPECT_THAT(with(none, Type(DType::kUInt8, {5})),
              IsRefusal("zero points vs lines of input 1: 5 vs 6"));
  EXPECT_THAT(with(Type(DType::kInt8, {"B", 4, 5}), none),
              IsRefusal("zero points vs input 0: dimension 2: 5 vs 1"));
  EXPECT_THAT(with(Type(DType::kUInt8, {}), none), IsRefusal("int8 vs uint8"));
  EXPECT_THAT(Infer({.op = "MatMulInteger",
                     .inputs = {a, Type(DType::kUInt8, {4, 6})}}),
              IsRefusal("inner extents 5 vs 4"));
  EXPECT_THAT(Infer({.op = "MatMulInteger", .inputs = {Type({4, 5}), b}}),
              IsRefusal("input 0 has dtype float32"));
}

TEST_F(IntegerProductTest, QLinearMatMulHasTheDTypeOfItsZeroPoint) {
  TypedCase test{
      .op = "QLinearMatMul",
      .inputs = {Type(DType::kInt8, {4, 5}), Type({4}), Type(DType::kInt8, {4}),
                 Type(DType::kUInt8, {5, 6}), Type({6}),
                 Type(DType::kUInt8, {6}), Type({}), Type(DType::kUInt8, {1})}};
  EXPECT_EQ(Infer(test), "uint8 [4, 6]");
  TypedCase bad = test;
  bad.inputs[6] = Type({4});
  EXPECT_THAT(Infer(bad), IsRefusal("input 6 has shape [4], not one element"));
  bad = test;
  bad.inputs[4] = Type(DType::kFloat16, {6});
  EXPECT_THAT(Infer(bad), IsRefusal("float32 vs float16"));
  bad = test;
  bad.inputs[1] = Type({6});
  EXPECT_THAT(Infer(bad), IsRefusal("scales vs lines of input 0: 6 vs 4"));
  bad = test;
  bad.inputs[0] = Type(DType::kFloat8E5M2, {4, 5});
  EXPECT_THAT(Infer(bad), IsUnsupported("float8e5m2"));
  bad = test;
  bad.inputs[7] = Type(DType::kInt32, {});
  EXPECT_THAT(Infer(bad), IsRefusal("input 7 has dtype int32"));
}

TEST_F(IntegerProductTest, ConvolutionsHaveConvsShapes) {
  EXPECT_EQ(
      Infer({.op = "ConvInteger",
             .inputs = {Type(DType::kUInt8, {"N", 4, 9}),
                        Type(DType::kInt8, {6, 2, 3})},
             .attributes = {{"group", int64_t{2}}, {"strides", Ints{2}}}}),
      "int32 [N, 6, 4]");
  EXPECT_THAT(
      Infer({.op = "ConvInteger",
             .inputs = {Type(DType::kUInt8, {1, 4, 9}),
                        Type(DType::kInt8, {6, 4, 3}), Type(DType::kUInt8, {}),
                        Type(DType::kInt8, {4})}}),
      IsRefusal("zero points vs output channels: 4 vs 6"));
  EXPECT_THAT(Infer({.op = "ConvInteger",
                     .inputs = {Type(DType::kUInt8, {1, 4, 9}),
                                Type(DType::kInt8, {6, 4, 3}),
                                Type(DType::kUInt8, {4})}}),
              IsRefusal("input 2 has shape [4], not one element"));
  TypedCase test{
      .op = "QLinearConv",
      .inputs = {Type(DType::kUInt8, {1, 4, 9}), Type({}),
                 Type(DType::kUInt8, {}), Type(DType::kInt8, {6, 4, 3}),
                 Type({6}), Type(DType::kInt8, {6}), Type({}),
                 Type(DType::kInt8, {}), Type(DType::kInt32, {6})}};
  EXPECT_EQ(Infer(test), "int8 [1, 6, 7]");
  TypedCase bad = test;
  bad.inputs[8] = Type(DType::kInt32, {4});
  EXPECT_THAT(Infer(bad), IsRefusal("bias extent vs output channels: 4 vs 6"));
  bad = test;
  bad.inputs[8] = Type({6});
  EXPECT_THAT(Infer(bad), IsRefusal("input 8 has dtype float32"));
  bad = test;
  bad.inputs[4] = Type({5});
  EXPECT_THAT(Infer(bad), IsRefusal("scales vs output channels: 5 vs 6"));
  bad = test;
  bad.inputs[1] = Type(DType::kFloat16, {});
  EXPECT_THAT(Infer(bad), IsRefusal("input 1 has dtype float16"));
}

}  // namespace
}  // namespace tensord
