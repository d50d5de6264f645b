#include "tests/engine/ops/infer_test.h"

// Conv and the pools.
namespace tensord {
namespace {

using WindowTest = InferTest;
using std::string;

TEST_F(WindowTest, ConvOfKnownExtents) {
  EXPECT_EQ(Infer({.op = "Conv",
                   .inputs = {Type({1, 3, 224, 224}), Type({64, 3, 7, 7}),
                              Type({64})},
                   .attributes = {{"kernel_shape", Ints{7, 7}},
                                  {"strides", Ints{2, 2}},
                                  {"pads", Ints{3, 3, 3, 3}},
                                  {"dilations", Ints{1, 1}},
                                  {"group", int64_t{1}}}}),
            "float32 [1, 64, 112, 112]");
  EXPECT_EQ(Infer({.op = "Conv",
                   .inputs = {Type({2, 6, 19}), Type({4, 3, 4})},
                   .attributes = {{"strides", Ints{2}},
                                  {"dilations", Ints{3}},
                                  {"pads", Ints{5, 4}},
                                  {"group", int64_t{2}}}}),
            "float32 [2, 4, 10]");
}

TEST_F(WindowTest, ConvOfSymbols) {
  EXPECT_EQ(Infer({.op = "Conv",
                   .inputs = {Type({"N", 3, "H", 8}), Type({4, 3, 3, 3})},
                   .attributes = {{"pads", Ints{1, 1, 1, 1}}}}),
            "float32 [N, 4, H, 8]");
  EXPECT_EQ(Infer({.op = "Conv",
                   .inputs = {Type({"N", "C", "L"}), Type({"M", "C", 3})},
                   .attributes = {{"strides", Ints{2}}}}),
            "float32 [N, M, (((L+-3)/2)+1)]");
}

TEST_F(WindowTest, AutoPadGivesTheExtentOverTheStrideRoundedUp) {
  for (const char* mode : {"SAME_UPPER", "SAME_LOWER"}) {
    EXPECT_EQ(Infer({.op = "Conv",
                     .inputs = {Type({1, 1, 5, 6}), Type({1, 1, 3, 3})},
                     .attributes = {{"auto_pad", string(mode)},
                                    {"strides", Ints{2, 3}}}}),
              "float32 [1, 1, 3, 2]");
  }
  EXPECT_EQ(Infer({.op = "Conv",
                   .inputs = {Type({1, 1, 5, 6}), Type({1, 1, 3, 3})},
                   .attributes = {{"auto_pad", string("VALID")}}}),
            "float32 [1, 1, 3, 4]");
}

TEST_F(WindowTest, ConvRefusesWhatDoesNotFit) {
  const TypedCase good = {
      .op = "Conv",
      .inputs = {Type({1, 4, 8, 8}), Type({6, 2, 3, 3}), Type({6})},
      .attributes = {{"group", int64_t{2}}}};
  ASSERT_EQ(Infer(good), "float32 [1, 6, 6, 6]");

  TypedCase bad = good;
  bad.inputs[0] = Type({1, 5, 8, 8});
  EXPECT_THAT(Infer(bad),
              IsRefusal("input channels 5 vs weight channels 2 in 2 groups"));
  bad = good;
  bad.inputs[1] = Type({7, 2, 3, 3});
  EXPECT_THAT(Infer(bad), IsRefusal("7 output channels do not divide into 2"));
  bad = good;
  bad.inputs[2] = Type({5});
  EXPECT_THAT(Infer(bad), IsRefusal("5 vs 6"));
  bad = good;
  bad.inputs[1] = Type({6, 2, 3});
  EXPECT_THAT(Infer(bad), IsRefusal("input 1 has rank 3, not 4"));
  bad = good;
  bad.inputs[0] = Type({1, 4});
  EXPECT_THAT(Infer(bad), IsRefusal("input 0 has rank 2, not 3 or more"));
  bad = good;
  bad.inputs[0] = Type({1, 4, 2, 8});
  EXPECT_THAT(Infer(bad), IsRefusal("a window over 3 elements does not fit "
                                    "extent 2 padded by 0 and 0"));
  bad = good;
  bad.inputs[1] = Type({6, 2, 0, 3});
  EXPECT_THAT(Infer(bad), IsRefusal("kernel extent 0"));
  bad = good;
  bad.inputs[0] = Type(DType::kInt32, {1, 4, 8, 8});
  EXPECT_THAT(Infer(bad), IsRefusal("dtype int32"));
  bad = good;
  bad.inputs[1] = Type(DType::kFloat64, {6, 2, 3, 3});
  EXPECT_THAT(Infer(bad), IsRefusal("float32 vs float64"));
}

TEST_F(WindowTest, AttributesOutOfRangeAreRefusedByName) {
  const auto with = [this](string name, Attribute value) {
    return Infer({.op = "Conv",
                  .inputs = {Type({1, 1, 8, 8}), Type({1, 1, 3, 3})},
                  .attributes = {{name, std::move(value)}}});
  };
  EXPECT_THAT(with("strides", Ints{0, 1}),
              IsRefusal("'strides': element 0 is 0, outside [1, "));
  EXPECT_THAT(with("dilations", Ints{1, int64_t{1} << 40}),
              IsRefusal("'dilations': element 1 is 1099511627776"));
  EXPECT_THAT(with("pads", Ints{0, 0, -1, 0}),
              IsRefusal("'pads': element 2 is -1"));
  EXPECT_THAT(with("pads", Ints{1, 1}),
              IsRefusal("'pads' has 2 elements, not 4"));
  EXPECT_THAT(with("strides", Ints{1}),
              IsRefusal("'strides' has 1 elements, not 2"));
  EXPECT_THAT(with("kernel_shape", Ints{3, 5}),
              IsRefusal("kernel_shape vs weights: 5 vs 3"));
  EXPECT_THAT(with("group", int64_t{0}), IsRefusal("'group' is 0"));
  EXPECT_THAT(with("group", string("two")),
              IsRefusal("'group' has type string"));
  EXPECT_THAT(with("auto_pad", string("SAME")), IsRefusal("'auto_pad'"));
  EXPECT_THAT(with("stride", Ints{1, 1}), IsRefusal("stride"));
}

TEST_F(WindowTest, PadsBesideAutoPadMustBeZero) {
  TypedCase test = {
      .op = "Conv",
      .inputs = {Type({1, 1, 8}), Type({1, 1, 3})},
      .attributes = {{"auto_pad", string("SAME_UPPER")}, {"pads", Ints{0, 0}}}};
  EXPECT_EQ(Infer(test), "float32 [1, 1, 8]");
  test.attributes[1].second = Ints{1, 1};
  EXPECT_THAT(Infer(test), IsRefusal("'pads' has a 1 beside 'auto_pad'"));
}

TEST_F(WindowTest, CeilModeCountsAnOverhangingWindowThatStartsInside) {
  const auto pool = [this](int extent, Ints pads, int64_t stride) {
    return Infer({.op = "MaxPool",
                  .inputs = {Type({1, 1, extent})},
                  .attributes = {{"kernel_shape", Ints{2}},
                                 {"strides", Ints{stride}},
                                 {"pads", std::move(pads)},
                                 {"ceil_mode", int64_t{1}}}});
  };
  EXPECT_EQ(pool(5, {0, 0}, 2), "float32 [1, 1, 3]");
  EXPECT_EQ(pool(4, {0, 0}, 2), "float32 [1, 1, 2]");
  // The third window would start at 6, behind the input and its end.
  EXPECT_EQ(pool(4, {0, 1}, 3), "float32 [1, 1, 2]");
  EXPECT_EQ(pool(6, {0, 1}, 6), "float32 [1, 1, 1]");
}

TEST_F(WindowTest, CeilModeOfASymbol) {
  const auto pool = [this](Ints pads, int64_t stride) {
    return Infer({.op = "AveragePool",
                  .inputs = {Type({1, 1, "L"})},
                  .attributes = {{"kernel_shape", Ints{3}},
                                 {"strides", Ints{stride}},
                                 {"pads", std::move(pads)},
                                 {"ceil_mode", int64_t{1}}}});
  };
  EXPECT_EQ(pool({0, 0}, 2), "float32 [1, 1, (((L+-2)/2)+1)]");
  // Whether the last window starts in the padding depends on L.
  EXPECT_THAT(pool({1, 1}, 3),
              ::testing::MatchesRegex("float32 \\[1, 1, \\?[0-9]+\\]"));
}

TEST_F(WindowTest, PoolsNeedAKernelShape) {
  EXPECT_THAT(Infer({.op = "MaxPool", .inputs = {Type({1, 1, 4})}}),
              IsRefusal("'kernel_shape' is missing"));
  EXPECT_THAT(Infer({.op = "AveragePool",
                     .inputs = {Type({1, 1, 4})},
                     .attributes = {{"kernel_shape", Ints{2, 2}}}}),
              IsRefusal("'kernel_shape' has 2 elements, not 1"));
}

TEST_F(WindowTest, AttributesBelongToTheirVersions) {
  const auto pool = [this](const char* op, string name, Attribute value,
                           int64_t opset) {
    return Infer(
        {.op = op,
         .inputs = {Type({1, 1, 4})},
         .attributes = {{"kernel_shape", Ints{2}}, {name, std::move(value)}},
         .opset = opset});
  };
  EXPECT_EQ(pool("MaxPool", "ceil_mode", int64_t{0}, 10), "float32 [1, 1, 3]");
  EXPECT_THAT(pool("MaxPool", "ceil_mode", int64_t{0}, 9),
              IsRefusal("ceil_mode"));
  EXPECT_EQ(pool("MaxPool", "storage_order", int64_t{0}, 8),
            "float32 [1, 1, 3]");
  EXPECT_THAT(pool("MaxPool", "dilations", Ints{1}, 9), IsRefusal("dilations"));
  EXPECT_EQ(pool("AveragePool", "dilations", Ints{2}, 19), "float32 [1, 1, 2]");
  EXPECT_THAT(pool("AveragePool", "dilations", Ints{2}, 18),
              IsRefusal("dilations"));
  EXPECT_EQ(pool("AveragePool", "count_include_pad", int64_t{1}, 7),
            "float32 [1, 1, 3]");
  EXPECT_THAT(pool("AveragePool", "count_include_pad", int64_t{2}, 7),
              IsRefusal("'count_include_pad' is 2, not 0 or 1"));
}

TEST_F(WindowTest, GlobalPools) {
  EXPECT_EQ(
      Infer({.op = "GlobalAveragePool", .inputs = {Type({"N", 3, "H", 7})}}),
      "float32 [N, 3, 1, 1]");
  EXPECT_THAT(Infer({.op = "GlobalMaxPool", .inputs = {Type({1, 3, 0})}}),
              IsRefusal("spatial dimension 0 has extent 0"));
  EXPECT_THAT(Infer({.op = "GlobalMaxPool", .inputs = {Type({1, 3})}}),
              IsRefusal("rank 2"));
}

}  // namespace
}  // namespace tensord
