#include "tests/engine/ops/infer_test.h"

// Operators that move elements, and views.
namespace tensord {
namespace {

using MovementTest = InferTest;

TEST_F(MovementTest, ConcatAddsUpTheAxis) {
  const auto concat = [this](std::vector<TensorType> inputs, int64_t axis) {
    return Infer({.op = "Concat",
                  .inputs = std::move(inputs),
                  .attributes = {{"axis", axis}}});
  };
  EXPECT_EQ(concat({Type({"N", 64, 7}), Type({"N", 32, 7})}, 1),
            "float32 [N, 96, 7]");
  EXPECT_EQ(concat({Type({2, 3}), Type({0, 3}), Type({1, 3})}, -2),
            "float32 [3, 3]");
  EXPECT_EQ(concat({Type({"A"}), Type({2})}, 0), "float32 [(A+2)]");
  EXPECT_EQ(concat({Type({"N", 1}), Type({5, 1})}, 1), "float32 [5, 2]");
  EXPECT_THAT(concat({Type({2, 3}), Type({2, 4})}, 0),
              IsRefusal("dimension 1 of the inputs before and of input 1: 3 "
                        "vs 4"));
  EXPECT_THAT(concat({Type({2, 3}), Type({2})}, 0),
              IsRefusal("input 1 has rank 1, not 2"));
  EXPECT_THAT(concat({Type({2}), Type(DType::kInt8, {2})}, 0),
              IsRefusal("float32 vs int8"));
  EXPECT_THAT(concat({Type({2})}, 1), IsRefusal("axis 1 is outside [-1, 1)"));
  EXPECT_THAT(Infer({.op = "Concat", .inputs = {Type({2})}}),
              IsRefusal("'axis' is missing"));
}

TEST_F(MovementTest, FlattenMultipliesEachSide) {
  const auto flatten = [this](TensorType x, int64_t axis, int64_t opset = 13) {
    return Infer({.op = "Flatten",
                  .inputs = {std::move(x)},
                  .attributes = {{"axis", axis}},
                  .opset = opset});
  };
  EXPECT_EQ(flatten(Type({2, 3, 4}), 1), "float32 [2, 12]");
  EXPECT_EQ(flatten(Type({2, 3, 4}), 0), "float32 [1, 24]");
  EXPECT_EQ(flatten(Type({2, 3, 4}), 3), "float32 [24, 1]");
  EXPECT_EQ(flatten(Type({2, 3, 4}), -1), "float32 [6, 4]");
  EXPECT_EQ(flatten(Type({"N", 3, 4}), 1), "float32 [N, 12]");
  EXPECT_EQ(flatten(Type(std::vector<NamedDim>{}), 0), "float32 [1, 1]");
  EXPECT_THAT(flatten(Type({2, 3}), 3), IsRefusal("axis 3 is outside [-2, 2]"));
  EXPECT_THAT(flatten(Type({2, 3}), -1, 9), IsRefusal("'axis' is -1"));
}

TEST_F(MovementTest, ReshapeReadsTheShape) {
  const auto reshape = [this](TensorType x, Ints shape,
                              int64_t allow_zero = 0) {
    return Infer(
        {.op = "Reshape",
         .inputs = {std::move(x), Int64s(static_cast<int>(shape.size()))},
         .attributes = {{"allowzero", allow_zero}},
         .opset = 14,
         .constants = {{}, Known(shape)}});
  };
  EXPECT_EQ(reshape(Type({2, 3, 4}), {6, 4}), "float32 [6, 4]");
  EXPECT_EQ(reshape(Type({2, 3, 4}), {4, -1}), "float32 [4, 6]");
  EXPECT_EQ(reshape(Type({2, 3, 4}), {0, 0, 2, -1}), "float32 [2, 3, 2, 2]");
  EXPECT_EQ(reshape(Type({1}), {}), "float32 []");
  EXPECT_EQ(reshape(Type({"N", 3, 4}), {0, -1}), "float32 [N, 12]");
  EXPECT_EQ(reshape(Type({"N", 3, 4}), {-1, 12}), "float32 [N, 12]");
  EXPECT_EQ(reshape(Type({"N", 4}), {-1}), "float32 [(N*4)]");
  EXPECT_EQ(reshape(Type({0, 3, 4}), {0, -1}), "float32 [0, 12]");
  EXPECT_EQ(reshape(Type({0, 3}), {-1, 5}), "float32 [0, 5]");
  EXPECT_EQ(reshape(Type({0, 3}), {3, 0}, 1), "float32 [3, 0]");
}

TEST_F(MovementTest, ReshapeRefusesWhatDoesNotFit) {
  const auto reshape = [this](TensorType x, Ints shape,
                              int64_t allow_zero = 0) {
    return Infer(
        {.op = "Reshape",
         .inputs = {std::move(x), Int64s(static_cast<int>(shape.size()))},
         .attributes = {{"allowzero", allow_zero}},
         .opset = 14,
         .constants = {{}, Known(shape)}});
  };
  EXPECT_THAT(reshape(Type({2, 3}), {7}),
              IsRefusal("cannot reshape [2, 3] to [7]"));
  EXPECT_THAT(reshape(Type({2, 3}), {4, -1}),
              IsRefusal("cannot reshape [2, 3] to [4, -1]"));
  EXPECT_THAT(reshape(Type({2, 3}), {-1, -1}),
              IsRefusal("elements 0 and 1 of the shape are both -1"));
  EXPECT_THAT(reshape(Type({2, 3}), {-2, 3}),
              IsRefusal("element 0 of the shape is -2"));
  EXPECT_THAT(reshape(Type({2, 3}), {2, 3, 0}),
              IsRefusal("element 2 of the shape copies an extent, but the "
                        "input has rank 2"));
  EXPECT_THAT(reshape(Type({0, 3}), {0, -1}, 1), IsRefusal("both 0 and -1"));
  EXPECT_THAT(reshape(Type({2, 3}), {0, 3}, 1), IsRefusal("cannot reshape"));
  EXPECT_THAT(reshape(Type({1}), Ints(17, 1)), IsRefusal("rank 17"));
  EXPECT_THAT(reshape(Type({2}), {INT64_MAX, INT64_MAX, INT64_MAX}),
              IsRefusal("cannot reshape"));
}

TEST_F(MovementTest, ReshapeAsksForAShapeThatIsNotKnown) {
  TypedCase test = {.op = "Reshape", .inputs = {Type({2, 3}), Int64s(3)}};
  EXPECT_THAT(Infer(test), NeedsInput(1));
  test.inputs[1] = Type(DType::kInt32, {3});
  EXPECT_THAT(Infer(test), IsRefusal("dtype int32, not int64"));
  test.inputs[1] = Type(DType::kInt64, {3, 1});
  EXPECT_THAT(Infer(test), IsRefusal("rank 2, not 1"));
}

TEST_F(MovementTest, SqueezeInBothVersions) {
  const auto by_attribute = [this](TensorType x, Ints axes) {
    return Infer({.op = "Squeeze",
                  .inputs = {std::move(x)},
                  .attributes = {{"axes", std::move(axes)}},
                  .opset = 11});
  };
  const auto by_input = [this](TensorType x, Ints axes) {
    return Infer(
        {.op = "Squeeze",
         .inputs = {std::move(x), Int64s(static_cast<int>(axes.size()))},
         .opset = 13,
         .constants = {{}, Known(axes)}});
  };
  EXPECT_EQ(by_attribute(Type({1, 3, 1}), {0, -1}), "float32 [3]");
  EXPECT_EQ(by_input(Type({1, 3, 1}), {0}), "float32 [3, 1]");
  EXPECT_EQ(by_input(Type({"N", 3}), {0}), "float32 [3]");
  EXPECT_EQ(Infer({.op = "Squeeze", .inputs = {Type({1, 3, 1})}}),
            "float32 [3]");
  EXPECT_THAT(Infer({.op = "Squeeze", .inputs = {Type({1, "N"})}}),
              NeedsInput(0));
  EXPECT_THAT(by_input(Type({2, 3}), {1}),
              IsRefusal("axis 1 has extent 3, not 1"));
  EXPECT_THAT(by_input(Type({1, 3}), {0, -2}),
              IsRefusal("axis 0 is given twice"));
  EXPECT_THAT(by_attribute(Type({1, 3}), {2}), IsRefusal("axis 2"));
  EXPECT_THAT(Infer({.op = "Squeeze",
                     .inputs = {Type({1, 3}), Int64s(1)},
                     .attributes = {{"axes", Ints{0}}},
                     .opset = 11}),
              IsRefusal("input 1 is given beside the attribute"));
  EXPECT_THAT(Infer({.op = "Squeeze", .inputs = {Type({1, 3}), Int64s(1)}}),
              NeedsInput(1));
}

TEST_F(MovementTest, UnsqueezeInBothVersions) {
  const auto by_input = [this](TensorType x, Ints axes) {
    return Infer(
        {.op = "Unsqueeze",
         .inputs = {std::move(x), Int64s(static_cast<int>(axes.size()))},
         .opset = 13,
         .constants = {{}, Known(axes)}});
  };
  EXPECT_EQ(Infer({.op = "Unsqueeze",
                   .inputs = {Type({"N"})},
                   .attributes = {{"axes", Ints{0, 2}}},
                   .opset = 9}),
            "float32 [1, N, 1]");
  EXPECT_EQ(by_input(Type({2, 3}), {-1, 1}), "float32 [2, 1, 3, 1]");
  EXPECT_EQ(by_input(Type(std::vector<NamedDim>{}), {0}), "float32 [1]");
  EXPECT_THAT(by_input(Type({2}), {2}), IsRefusal("axis 2 is outside [-2, 2)"));
  EXPECT_THAT(by_input(Type({2}), {0, 0}), IsRefusal("axis 0 is given twice"));
  EXPECT_THAT(by_input(Type({2}), Ints(16, 0)), IsRefusal("give rank 17"));
  EXPECT_THAT(Infer({.op = "Unsqueeze", .inputs = {Type({2}), Int64s(1)}}),
              NeedsInput(1));
  EXPECT_THAT(Infer({.op = "Unsqueeze", .inputs = {Type({2})}, .opset = 9}),
              IsRefusal("attribute 'axes' is missing"));
  EXPECT_THAT(Infer({.op = "Unsqueeze", .inputs = {Type({2})}, .opset = 13}),
              IsRefusal("input 1 is required"));
}

TEST_F(MovementTest, ShapeIsKnownWhereTheExtentsAre) {
  const auto shape = [this](TensorType x, int64_t start, int64_t end) {
    return InferOp({.op = "Shape",
                    .inputs = {std::move(x)},
                    .attributes = {{"start", start}, {"end", end}},
                    .opset = 15},
                   symbols_);
  };
  auto inferred = shape(Type({"N", 3, 4}), 1, 3);
  ASSERT_THAT(inferred, IsOk());
  EXPECT_THAT(inferred->output_constants[0].values<int64_t>(),
              ::testing::ElementsAre(3, 4));
  inferred = shape(Type({"N", 3, 4}), 0, -1);
  EXPECT_FALSE(inferred->output_constants[0].is_present());
  EXPECT_EQ(symbols_.ToString(*inferred->outputs[0].shape), "[2]");
  inferred = shape(Type({2, 3}), INT64_MIN, INT64_MAX);
  EXPECT_THAT(inferred->output_constants[0].values<int64_t>(),
              ::testing::ElementsAre(2, 3));
  inferred = shape(Type({2, 3}), 2, 1);
  EXPECT_EQ(inferred->output_constants[0].shape(), Shape({0}));
  EXPECT_THAT(Infer({.op = "Shape",
                     .inputs = {Type({1})},
                     .attributes = {{"start", int64_t{0}}},
                     .opset = 13}),
              IsRefusal("start"));
}

TEST_F(MovementTest, GatherPutsTheIndicesShapeInThePlaceOfTheAxis) {
  const auto gather = [this](TensorType x, TensorType indices, int64_t axis) {
    return Infer({.op = "Gather",
                  .inputs = {std::move(x), std::move(indices)},
                  .attributes = {{"axis", axis}}});
  };
  EXPECT_EQ(gather(Type({2, 3, 4}), Type(DType::kInt64, {5, "K"}), 1),
            "float32 [2, 5, K, 4]");
  EXPECT_EQ(gather(Type({2, 3}), Type(DType::kInt32, {}), -1), "float32 [2]");
  EXPECT_THAT(gather(Type({2}), Type(DType::kFloat32, {1}), 0),
              IsRefusal("input 1 has dtype float32, not int32, int64"));
  EXPECT_THAT(gather(Type(std::vector<NamedDim>{}), Type(DType::kInt32, {}), 0),
              IsRefusal("rank 0"));
  EXPECT_THAT(gather(Type({2}), Type(DType::kInt32, {1}), 1),
              IsRefusal("axis 1 is outside"));
  std::vector<NamedDim> nine(9, NamedDim(1));
  EXPECT_THAT(gather(Type(nine), Type(DType::kInt32, nine), 0),
              IsRefusal("rank 17 is above the limit of 16"));
}

TEST_F(MovementTest, TransposePermutes) {
  const auto transpose = [this](TensorType x, Ints permutation) {
    return Infer({.op = "Transpose",
                  .inputs = {std::move(x)},
                  .attributes = {{"perm", std::move(permutation)}}});
  };
  EXPECT_EQ(transpose(Type({2, "N", 4}), {2, 0, 1}), "float32 [4, 2, N]");
  EXPECT_EQ(Infer({.op = "Transpose", .inputs = {Type({2, "N", 4})}}),
            "float32 [4, N, 2]");
  EXPECT_THAT(transpose(Type({2, 3}), {0}),
              IsRefusal("'perm' has 1 elements for an input of rank 2"));
  EXPECT_THAT(transpose(Type({2, 3}), {0, 0}), IsRefusal("no permutation"));
  EXPECT_THAT(transpose(Type({2, 3}), {0, 2}), IsRefusal("[0, 2]"));
  EXPECT_THAT(transpose(Type({2, 3}), {-1, 0}), IsRefusal("[-1, 0]"));
}

TEST_F(MovementTest, PadAddsAndTakesAway) {
  const auto pad = [this](TensorType x, Ints pads, std::string mode = "edge") {
    return Infer(
        {.op = "Pad",
         .inputs = {std::move(x), Int64s(static_cast<int>(pads.size()))},
         .attributes = {{"mode", std::move(mode)}},
         .opset = 19,
         .constants = {{}, Known(pads)}});
  };
  EXPECT_EQ(pad(Type({2, "H"}), {1, 1, 0, 2}), "float32 [3, (H+3)]");
  EXPECT_EQ(pad(Type({5}), {-1, -2}), "float32 [2]");
  EXPECT_EQ(pad(Type({2}), {1, 1}, "wrap"), "float32 [4]");
  EXPECT_EQ(pad(Type({0}), {1, 1}, "constant"), "float32 [2]");
  EXPECT_THAT(pad(Type({0}), {1, 1}), IsRefusal("extent 0: nothing to repeat"));
  EXPECT_THAT(pad(Type({2}), {-1, -2}),
              IsRefusal("pads -1 and -2 take more than its extent 2"));
  EXPECT_THAT(pad(Type({2, 2}), {1, 1}), IsRefusal("2 pads for 2 axes"));
  EXPECT_THAT(pad(Type({2}), {INT64_MAX, INT64_MAX}), IsRefusal("are past"));
  EXPECT_THAT(pad(Type({2}), {1, 1}, "mirror"), IsRefusal("'mode'"));
}

TEST_F(MovementTest, PadInEachVersion) {
  EXPECT_EQ(Infer({.op = "Pad",
                   .inputs = {Type({2})},
                   .attributes = {{"pads", Ints{1, 2}},
                                  {"value", 1.0f},
                                  {"mode", std::string("constant")}},
                   .opset = 9}),
            "float32 [5]");
  EXPECT_THAT(Infer({.op = "Pad", .inputs = {Type({2})}, .opset = 9}),
              IsRefusal("'pads' is missing"));
  EXPECT_THAT(Infer({.op = "Pad", .inputs = {Type({2})}, .opset = 11}),
              IsRefusal("input 1 is required"));
  EXPECT_THAT(Infer({.op = "Pad",
                     .inputs = {Type({2}), Int64s(2)},
                     .attributes = {{"mode", std::string("wrap")}},
                     .opset = 18}),
              IsRefusal("'mode'"));
  EXPECT_THAT(Infer({.op = "Pad",
                     .inputs = {Type({2}), Int64s(2), {}, Int64s(1)},
                     .opset = 13}),
              IsRefusal("input 3 (axes)"));
  EXPECT_EQ(Infer({.op = "Pad",
                   .inputs = {Type({2, 3}), Int64s(2), {}, Int64s(1)},
                   .opset = 18,
                   .constants = {{}, Known({1, 2}), {}, Known({-1})}}),
            "float32 [2, 6]");
  EXPECT_THAT(Infer({.op = "Pad", .inputs = {Type({2}), Int64s(2)}}),
              NeedsInput(1));
  EXPECT_THAT(Infer({.op = "Pad",
                     .inputs = {Type({2}), Int64s(2), Type(DType::kInt8, {})},
                     .constants = {{}, Known({1, 2})}}),
              IsRefusal("float32 vs int8"));
}

TEST_F(MovementTest, NonZeroIsBoundedByTheElements) {
  const auto bound_of = [this](TensorType x) {
    const auto inferred =
        InferOp({.op = "NonZero", .inputs = {std::move(x)}}, symbols_);
    const SymbolicShape& shape = *inferred->outputs[0].shape;
    EXPECT_TRUE(symbols_.is_data_dependent(shape[1].symbol()));
    return std::pair(shape[0].extent(),
                     symbols_.upper_bound(shape[1].symbol()));
  };
  EXPECT_EQ(bound_of(Type({3, 4})), std::pair(int64_t{2}, int64_t{12}));
  EXPECT_EQ(bound_of(Type(std::vector<NamedDim>{})),
            std::pair(int64_t{0}, int64_t{1}));
  EXPECT_EQ(bound_of(Type({3, 0})), std::pair(int64_t{2}, int64_t{0}));
  EXPECT_EQ(bound_of(Type({"N", 4})),
            std::pair(int64_t{2}, SymbolTable::kUnbounded));
}

}  // namespace
}  // namespace tensord
