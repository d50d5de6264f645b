#include "tests/engine/ops/infer_test.h"

namespace tensord {
namespace {

using ConvTransposeTest = InferTest;

TEST_F(ConvTransposeTest, TheOutputCoversWhatTheWindowsReach) {
  EXPECT_EQ(Infer({.op = "ConvTranspose",
                   .inputs = {Type({"N", 8, 10, 20}), Type({8, 3, 4, 3})},
                   .attributes = {{"strides", Ints{2, 3}},
                                  {"dilations", Ints{1, 2}},
                                  {"pads", Ints{1, 2, 0, 1}},
                                  {"output_padding", Ints{1, 2}},
                                  {"group", int64_t{2}}}}),
            "float32 [N, 6, 22, 61]");
}

TEST_F(ConvTransposeTest, SymbolicExtents) {
  EXPECT_EQ(Infer({.op = "ConvTranspose",
                   .inputs = {Type({"N", 24, "H", "W"}), Type({24, 1, 2, 2})},
                   .attributes = {{"strides", Ints{2, 2}}}}),
            "float32 [N, 1, (H*2), (W*2)]");
  EXPECT_EQ(Infer({.op = "ConvTranspose",
                   .inputs = {Type({1, 4, "W"}), Type({4, 1, 3})},
                   .attributes = {{"strides", Ints{2}}}}),
            "float32 [1, 1, ((W*2)+1)]");
  EXPECT_EQ(
      Infer({.op = "ConvTranspose",
             .inputs = {Type({1, 4, "W"}), Type({4, "M", 3})},
             .attributes = {{"group", int64_t{2}}, {"output_shape", Ints{7}}}}),
      "float32 [1, (M*2), 7]");
  EXPECT_EQ(Infer({.op = "ConvTranspose",
                   .inputs = {Type({1, 4, "W"}), Type({4, 1, 5})},
                   .attributes = {{"strides", Ints{3}},
                                  {"auto_pad", std::string("SAME_LOWER")}}}),
            "float32 [1, 1, (W*3)]");
}

TEST_F(ConvTransposeTest, AnOutputShapeMakesThePadsMeaningless) {
  EXPECT_EQ(Infer({.op = "ConvTranspose",
                   .inputs = {Type({1, 1, 3}), Type({1, 1, 3})},
                   .attributes = {{"output_shape", Ints{4}},
                                  {"pads", Ints{100, 100}}}}),
            "float32 [1, 1, 4]");
}

TEST_F(ConvTransposeTest, TakesEveryFloatAndNothingElse) {
  EXPECT_EQ(Infer({.op = "ConvTranspose",
                   .inputs = {Type(DType::kBFloat16, {1, 1, 3}),
                              Type(DType::kBFloat16, {1, 1, 3})}}),
            "bfloat16 [1, 1, 5]");
  EXPECT_THAT(Infer({.op = "ConvTranspose",
                     .inputs = {Type(DType::kInt32, {1, 1, 3}),
                                Type(DType::kInt32, {1, 1, 3})}}),
              IsRefusal("input 0 has dtype int32"));
  EXPECT_THAT(
      Infer({.op = "ConvTranspose",
             .inputs = {Type({1, 1, 3}), Type(DType::kFloat64, {1, 1, 3})}}),
      IsRefusal("float32 vs float64"));
}

TEST_F(ConvTransposeTest, RefusesWhatDoesNotFit) {
  const TypedCase good{.op = "ConvTranspose",
                       .inputs = {Type({1, 4, 3}), Type({4, 1, 3})}};
  const auto with = [&](std::vector<std::pair<std::string, Attribute>> more) {
    TypedCase test = good;
    test.attributes = std::move(more);
    return Infer(test);
  };
  EXPECT_THAT(with({{"group", int64_t{3}}}),
              IsRefusal("4 input channels do not divide into 3 groups"));
  EXPECT_THAT(with({{"group", int64_t{0}}}), IsRefusal("'group' is 0"));
  EXPECT_THAT(with({{"pads", Ints{3, 2}}}), IsRefusal("leaves 0 outputs"));
  EXPECT_THAT(with({{"output_padding", Ints{-1}}}),
              IsRefusal("'output_padding': element 0 is -1"));
  EXPECT_THAT(with({{"output_padding", Ints{0, 0}}}),
              IsRefusal("'output_padding' has 2 elements, not 1"));
  EXPECT_THAT(with({{"output_shape", Ints{1, 1, 4}}}),
              IsRefusal("'output_shape' has 3 elements, not 1"));
  EXPECT_THAT(with({{"output_shape", Ints{0}}}),
              IsRefusal("'output_shape': element 0 is 0"));
  // At most stride - 1 more than the 5 that are covered.
  EXPECT_THAT(with({{"output_shape", Ints{6}}}),
              IsRefusal("output_shape 6 is above 5"));
  EXPECT_THAT(with({{"kernel_shape", Ints{4}}}),
              IsRefusal("kernel_shape vs weights: 4 vs 3"));
  EXPECT_THAT(with({{"bias", int64_t{1}}}), IsRefusal("bias"));

  EXPECT_THAT(Infer({.op = "ConvTranspose",
                     .inputs = {Type({1, 4, 3}), Type({5, 1, 3})}}),
              IsRefusal("input channels vs weights: 4 vs 5"));
  EXPECT_THAT(Infer({.op = "ConvTranspose",
                     .inputs = {Type({1, 4, 3}), Type({4, 1, 3, 3})}}),
              IsRefusal("input 1 has rank 4, not 3"));
  EXPECT_THAT(
      Infer({.op = "ConvTranspose", .inputs = {Type({1, 4}), Type({4, 1})}}),
      IsRefusal("input 0 has rank 2"));
  EXPECT_THAT(Infer({.op = "ConvTranspose",
                     .inputs = {Type({1, 4, 3}), Type({4, 2, 3}), Type({3})}}),
              IsRefusal("bias extent vs output channels: 3 vs 2"));
}

TEST_F(ConvTransposeTest, NumbersThatWouldOverflowAreRefused) {
  const int64_t most = int64_t{1} << 31;
  EXPECT_THAT(Infer({.op = "ConvTranspose",
                     .inputs = {Type({0, 1, 1 << 30}), Type({1, 1, 3})},
                     .attributes = {{"strides", Ints{most}},
                                    {"output_shape", Ints{5}}}}),
              IsRefusal("covers more than"));
  EXPECT_THAT(Infer({.op = "ConvTranspose",
                     .inputs = {Type({0, 1, 1 << 30}), Type({1, 1, 1 << 30})},
                     .attributes = {{"dilations", Ints{most}},
                                    {"pads", Ints{most, most}}}}),
              IsRefusal("covers more than"));
}

}  // namespace
}  // namespace tensord
