#include "tests/engine/ops/infer_test.h"

// Element-wise operators over several inputs.
namespace tensord {
namespace {

using BinaryTest = InferTest;
using VariadicTest = InferTest;
using WhereTest = InferTest;

constexpr DType kBool = DType::kBool;

TEST_F(BinaryTest, ComparisonsAreOfEveryNumericDTypeAndGiveBool) {
  for (const char* op :
       {"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"}) {
    for (DType dtype : {DType::kFloat16, DType::kBFloat16, DType::kUInt8,
                        DType::kInt64, DType::kFloat64}) {
      EXPECT_EQ(Infer({.op = op,
                       .inputs = {Type(dtype, {"N", 1}), Type(dtype, {3})}}),
                "bool [N, 3]")
          << op;
    }
    EXPECT_THAT(Infer({.op = op, .inputs = {Type({2}), Type({3})}}),
                IsRefusal("extents 2 vs 3"));
    EXPECT_THAT(
        Infer({.op = op, .inputs = {Type({2}), Type(DType::kInt32, {2})}}),
        IsRefusal("float32 vs int32"));
  }
  EXPECT_EQ(
      Infer({.op = "Equal", .inputs = {Type(kBool, {2}), Type(kBool, {})}}),
      "bool [2]");
  EXPECT_THAT(
      Infer({.op = "Less", .inputs = {Type(kBool, {2}), Type(kBool, {2})}}),
      IsRefusal("dtype bool"));
  const TensorType text = Type(DType::kString, {2});
  EXPECT_THAT(Infer({.op = "Equal", .inputs = {text, text}, .opset = 19}),
              IsUnsupported("strings"));
}

TEST_F(BinaryTest, LogicIsOfBoolAlone) {
  for (const char* op : {"And", "Or", "Xor"}) {
    EXPECT_EQ(
        Infer({.op = op, .inputs = {Type(kBool, {2, 1}), Type(kBool, {"N"})}}),
        "bool [2, N]");
    EXPECT_THAT(
        Infer({.op = op,
               .inputs = {Type(DType::kUInt8, {2}), Type(DType::kUInt8, {2})}}),
        IsRefusal("dtype uint8, not bool"));
  }
}

TEST_F(BinaryTest, PowTakesAnyExponent) {
  for (DType base : {DType::kFloat16, DType::kBFloat16, DType::kInt32}) {
    EXPECT_EQ(Infer({.op = "Pow",
                     .inputs = {Type(base, {2}), Type(DType::kUInt16, {})}}),
              base == DType::kFloat16    ? "float16 [2]"
              : base == DType::kBFloat16 ? "bfloat16 [2]"
                                         : "int32 [2]");
  }
  EXPECT_THAT(
      Infer({.op = "Pow", .inputs = {Type(DType::kUInt8, {2}), Type({})}}),
      IsRefusal("input 0 has dtype uint8"));
  EXPECT_THAT(Infer({.op = "Pow", .inputs = {Type({2}), Type(kBool, {})}}),
              IsRefusal("input 1 has dtype bool"));
}

TEST_F(BinaryTest, PReluBroadcastsTheSlopeOnly) {
  const auto prelu = [this](TensorType x, TensorType slope) {
    return Infer({.op = "PRelu", .inputs = {std::move(x), std::move(slope)}});
  };
  EXPECT_EQ(prelu(Type({"N", 3, 4}), Type({3, 1})), "float32 [N, 3, 4]");
  EXPECT_EQ(prelu(Type({"N"}), Type({"N"})), "float32 [N]");
  EXPECT_EQ(prelu(Type({"N"}), Type({1})), "float32 [N]");
  EXPECT_THAT(prelu(Type({3}), Type({2, 3})),
              IsRefusal("slope's shape [2, 3] does not broadcast to the "
                        "input's, [3]"));
  EXPECT_THAT(prelu(Type({1, 4}), Type({2, 4})), IsRefusal("slope's shape"));
  EXPECT_THAT(prelu(Type(DType::kInt8, {2}), Type(DType::kInt8, {2})),
              IsRefusal("dtype int8"));
}

TEST_F(BinaryTest, ModOfFloatsIsFmod) {
  const auto mod = [this](DType dtype, int64_t fmod) {
    return Infer({.op = "Mod",
                  .inputs = {Type(dtype, {2}), Type(dtype, {2})},
                  .attributes = {{"fmod", fmod}}});
  };
  EXPECT_EQ(mod(DType::kInt8, 0), "int8 [2]");
  EXPECT_EQ(mod(DType::kUInt64, 1), "uint64 [2]");
  EXPECT_EQ(mod(DType::kBFloat16, 1), "bfloat16 [2]");
  EXPECT_THAT(mod(DType::kFloat32, 0),
              IsRefusal("'fmod' is 0, which is for integers; input 0 has "
                        "dtype float32"));
  EXPECT_THAT(mod(DType::kInt8, 2), IsRefusal("'fmod' is 2"));
  EXPECT_THAT(mod(kBool, 1), IsRefusal("dtype bool"));
}

TEST_F(BinaryTest, BitsAreOfIntegers) {
  for (const char* op : {"BitwiseAnd", "BitwiseOr", "BitwiseXor"}) {
    EXPECT_EQ(
        Infer({.op = op,
               .inputs = {Type(DType::kInt8, {2, 1}), Type(DType::kInt8, {3})},
               .opset = 18}),
        "int8 [2, 3]");
    EXPECT_THAT(Infer({.op = op, .inputs = {Type({2}), Type({2})}}),
                IsRefusal("dtype float32"));
  }
  const auto shift = [this](DType dtype, std::string direction) {
    return Infer({.op = "BitShift",
                  .inputs = {Type(dtype, {2}), Type(dtype, {})},
                  .attributes = {{"direction", std::move(direction)}}});
  };
  EXPECT_EQ(shift(DType::kUInt16, "LEFT"), "uint16 [2]");
  EXPECT_THAT(shift(DType::kUInt16, "left"),
              IsRefusal("'direction' is 'left'"));
  EXPECT_THAT(shift(DType::kInt16, "LEFT"), IsRefusal("dtype int16"));
  EXPECT_THAT(
      Infer({.op = "BitShift",
             .inputs = {Type(DType::kUInt8, {2}), Type(DType::kUInt8, {})}}),
      IsRefusal("'direction' is ''"));
}

TEST_F(VariadicTest, AnyNumberOfInputsBroadcasts) {
  for (const char* op : {"Max", "Mean", "Min", "Sum"}) {
    EXPECT_EQ(Infer({.op = op, .inputs = {Type({"N", 3})}}), "float32 [N, 3]");
    EXPECT_EQ(Infer({.op = op,
                     .inputs = {Type({3}), Type({"N", 1, 1}), Type({2, 1}),
                                Type({})}}),
              "float32 [N, 2, 3]");
    EXPECT_THAT(Infer({.op = op, .inputs = {Type({2}), Type({1}), Type({3})}}),
                IsRefusal("extents 2 vs 3"));
    EXPECT_THAT(
        Infer({.op = op,
               .inputs = {Type({2}), Type({2}), Type(DType::kFloat64, {2})}}),
        IsRefusal("inputs 0 and 2 have dtypes float32 vs float64"));
    EXPECT_THAT(Infer({.op = op, .inputs = {}}), IsRefusal("0 inputs"));
  }
  EXPECT_EQ(Infer({.op = "Max", .inputs = {Type(DType::kUInt8, {2})}}),
            "uint8 [2]");
  EXPECT_THAT(Infer({.op = "Sum", .inputs = {Type(DType::kInt32, {2})}}),
              IsRefusal("dtype int32"));
}

TEST_F(WhereTest, AllThreeBroadcast) {
  const auto where = [this](TensorType c, TensorType a, TensorType b) {
    return Infer(
        {.op = "Where", .inputs = {std::move(c), std::move(a), std::move(b)}});
  };
  EXPECT_EQ(where(Type(kBool, {"N", 1}), Type({3}), Type({})),
            "float32 [N, 3]");
  EXPECT_EQ(where(Type(kBool, {}), Type(kBool, {2, 1}), Type(kBool, {3})),
            "bool [2, 3]");
  EXPECT_EQ(where(Type(kBool, {1}), Type(DType::kComplex64, {2}),
                  Type(DType::kComplex64, {2})),
            "complex64 [2]");
  EXPECT_THAT(where(Type({2}), Type({2}), Type({2})),
              IsRefusal("input 0 has dtype float32, not bool"));
  EXPECT_THAT(where(Type(kBool, {2}), Type({3}), Type({3})),
              IsRefusal("extents 2 vs 3"));
  EXPECT_THAT(where(Type(kBool, {2}), Type({2}), Type(kBool, {2})),
              IsRefusal("inputs 1 and 2"));
  const TensorType text = Type(DType::kString, {2});
  EXPECT_THAT(where(Type(kBool, {2}), text, text), IsUnsupported("strings"));
}

}  // namespace
}  // namespace tensord
