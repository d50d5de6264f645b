#include "tests/engine/ops/infer_test.h"

namespace tensord {
namespace {

class CastTest : public InferTest {
 protected:
  std::string Cast(
      TensorType x, int64_t to,
      std::vector<std::pair<std::string, Attribute>> attributes = {},
      int64_t opset = 25) {
    attributes.emplace_back("to", to);
    return Infer({.op = "Cast",
                  .inputs = {std::move(x)},
                  .attributes = std::move(attributes),
                  .opset = opset});
  }
  std::string BitCast(TensorType x, DType to) {
    return Infer({.op = "BitCast",
                  .inputs = {std::move(x)},
                  .attributes = {{"to", static_cast<int64_t>(to)}},
                  .opset = 26});
  }
};

TEST_F(CastTest, NamesItsDType) {
  EXPECT_EQ(Cast(Type({"N"}), 7), "int64 [N]");
  EXPECT_EQ(Cast(Type(DType::kInt4, {"N"}), 17), "float8e4m3fn [N]");
  EXPECT_EQ(Cast(Type({2}), 26), "int2 [2]");
  EXPECT_THAT(Cast(Type({"N"}), 99),
              IsRefusal("'to' is 99, which is no dtype"));
  EXPECT_THAT(Cast(Type({"N"}), 14), IsRefusal("no cast to complex64"));
  EXPECT_THAT(Cast(Type(DType::kComplex64, {2}), 1),
              IsRefusal("input 0 has dtype complex64"));
  EXPECT_THAT(Infer({.op = "Cast", .inputs = {Type({1})}}),
              IsRefusal("'to' is missing"));
}

TEST_F(CastTest, StringsAreLeftOut) {
  EXPECT_THAT(Cast(Type({"N"}), 8), IsUnsupported("string"));
  EXPECT_THAT(Cast(Type(DType::kString, {2}), 1), IsUnsupported("strings"));
  EXPECT_THAT(Infer({.op = "CastLike",
                     .inputs = {Type({1}), Type(DType::kString, {1})}}),
              IsUnsupported("strings"));
}

TEST_F(CastTest, AttributesCameOneByOne) {
  EXPECT_EQ(Cast(Type({1}), 1, {{"saturate", int64_t{0}}}, 19), "float32 [1]");
  EXPECT_THAT(Cast(Type({1}), 1, {{"saturate", int64_t{1}}}, 13),
              IsRefusal("saturate"));
  EXPECT_THAT(Cast(Type({1}), 1, {{"saturate", int64_t{2}}}),
              IsRefusal("'saturate' is 2"));
  for (const char* mode : {"up", "down", "nearest"}) {
    EXPECT_EQ(Cast(Type({1}), 24, {{"round_mode", std::string(mode)}}),
              "float8e8m0 [1]");
  }
  EXPECT_THAT(Cast(Type({1}), 24, {{"round_mode", std::string("even")}}),
              IsRefusal("'round_mode' is 'even'"));
  EXPECT_THAT(Cast(Type({1}), 24, {{"round_mode", std::string("up")}}, 23),
              IsRefusal("round_mode"));
}

TEST_F(CastTest, CastLikeHasTheDTypeOfInput1AndTheShapeOfInput0) {
  EXPECT_EQ(Infer({.op = "CastLike",
                   .inputs = {Type({"N", 2}), Type(DType::kInt8, {5})}}),
            "int8 [N, 2]");
  EXPECT_THAT(Infer({.op = "CastLike",
                     .inputs = {Type({2}), Type(DType::kComplex128, {5})}}),
              IsRefusal("no cast to complex128"));
  EXPECT_THAT(Infer({.op = "CastLike",
                     .inputs = {Type({2}), Type({2})},
                     .attributes = {{"to", int64_t{1}}}}),
              IsRefusal("to"));
}

TEST_F(CastTest, BitCastKeepsTheWidth) {
  EXPECT_EQ(BitCast(Type({"N"}), DType::kInt32), "int32 [N]");
  EXPECT_EQ(BitCast(Type(DType::kInt4, {3}), DType::kFloat4E2M1),
            "float4e2m1 [3]");
  EXPECT_EQ(BitCast(Type(DType::kComplex64, {3}), DType::kFloat64),
            "float64 [3]");
  EXPECT_THAT(BitCast(Type({"N"}), DType::kInt64),
              IsRefusal("bits of float32 and of int64: 32 vs 64"));
  EXPECT_THAT(BitCast(Type(DType::kString, {1}), DType::kInt64),
              IsRefusal("string"));
  EXPECT_THAT(BitCast(Type({1}), DType::kString), IsUnsupported("string"));
}

}  // namespace
}  // namespace tensord
