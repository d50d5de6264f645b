#include "tests/engine/ops/infer_test.h"

// Element-wise operators, products, normalisation.
namespace tensord {
namespace {

using ArithmeticTest = InferTest;
using ::testing::MatchesRegex;

TEST_F(ArithmeticTest, BinaryBroadcasts) {
  const auto add = [this](TensorType a, TensorType b) {
    return Infer({.op = "Add", .inputs = {std::move(a), std::move(b)}});
  };
  EXPECT_EQ(add(Type({2, 3}), Type({3})), "float32 [2, 3]");
  EXPECT_EQ(add(Type({2, 1}), Type({1, 3})), "float32 [2, 3]");
  EXPECT_EQ(add(Type({1}), Type({0})), "float32 [0]");
  EXPECT_EQ(add(Type({"N", 1}), Type({"N", 4})), "float32 [N, 4]");
  EXPECT_EQ(add(Type({"N"}), Type({1})), "float32 [N]");
  EXPECT_EQ(add(Type({"N"}), Type({5})), "float32 [5]");
  EXPECT_THAT(add(Type({"N"}), Type({"M"})),
              MatchesRegex("float32 \\[\\?[0-9]+\\]"));
  EXPECT_THAT(add(Type({2, 3}), Type({2})),
              IsRefusal("cannot broadcast [2, 3] with [2]: extents 3 vs 2 in "
                        "dimension -1"));
  EXPECT_THAT(add(Type({0}), Type({2})), IsRefusal("extents 0 vs 2"));
}

TEST_F(ArithmeticTest, BinaryDTypesAgree) {
  EXPECT_THAT(
      Infer({.op = "Mul", .inputs = {Type({1}), Type(DType::kInt32, {1})}}),
      IsRefusal("inputs 0 and 1 have dtypes float32 vs int32"));
  EXPECT_THAT(
      Infer({.op = "Mul",
             .inputs = {Type(DType::kBool, {1}), Type(DType::kBool, {1})}}),
      IsRefusal("dtype bool"));
  EXPECT_EQ(
      Infer({.op = "Pow", .inputs = {Type({2}), Type(DType::kInt64, {})}}),
      "float32 [2]");
}

TEST_F(ArithmeticTest, BoundsOfDataDependentExtentsSurviveBroadcasting) {
  SymbolicShape counted = {symbols_.DataDependent(7)};
  SymbolicShape other = {symbols_.DataDependent(9)};
  const auto inferred = InferOp(
      {.op = "Add",
       .inputs = {{DType::kFloat32, counted}, {DType::kFloat32, other}}},
      symbols_);
  ASSERT_THAT(inferred, IsOk());
  const Dim dim = (*inferred->outputs[0].shape)[0];
  EXPECT_EQ(symbols_.upper_bound(dim.symbol()), 9);
  EXPECT_TRUE(symbols_.is_data_dependent(dim.symbol()));
}

TEST_F(ArithmeticTest, GemmInEachVersion) {
  for (int64_t opset : {7, 9, 11, 13}) {
    EXPECT_EQ(Infer({.op = "Gemm",
                     .inputs = {Type({"N", 64}), Type({10, 64}), Type({10})},
                     .attributes = {{"alpha", 1.0f},
                                    {"beta", 1.0f},
                                    {"transB", int64_t{1}}},
                     .opset = opset}),
              "float32 [N, 10]");
  }
  EXPECT_EQ(Infer({.op = "Gemm",
                   .inputs = {Type({3, 2}), Type({3, 4})},
                   .attributes = {{"transA", int64_t{1}}},
                   .opset = 11}),
            "float32 [2, 4]");
  EXPECT_THAT(
      Infer(
          {.op = "Gemm", .inputs = {Type({2, 3}), Type({3, 4})}, .opset = 10}),
      IsRefusal("input 2 (C) is missing"));
}

TEST_F(ArithmeticTest, GemmRefusesWhatDoesNotFit) {
  const auto gemm = [this](TensorType a, TensorType b, TensorType c) {
    return Infer({.op = "Gemm", .inputs = {a, b, c}});
  };
  EXPECT_THAT(gemm(Type({2, 512}), Type({768, 4}), Type({4})),
              IsRefusal("inner extents 512 vs 768"));
  EXPECT_THAT(gemm(Type({2, 3, 4}), Type({4, 4}), Type({4})),
              IsRefusal("input 0 has rank 3, not 2"));
  EXPECT_THAT(gemm(Type({2, 3}), Type({3, 4}), Type({5})),
              IsRefusal("extents 4 vs 5"));
  EXPECT_THAT(gemm(Type({1, 3}), Type({3, 4}), Type({2, 4})),
              IsRefusal("rows of y and C: 1 vs 2"));
  EXPECT_THAT(gemm(Type({1, 3}), Type({3, 4}), Type({1, 1, 4})),
              IsRefusal("input 2 has rank 3, not 0 to 2"));
  EXPECT_THAT(Infer({.op = "Gemm",
                     .inputs = {Type({1, 1}), Type({1, 1})},
                     .attributes = {{"transA", int64_t{3}}}}),
              IsRefusal("'transA' is 3, not 0 or 1"));
}

TEST_F(ArithmeticTest, MatMulFollowsNumpy) {
  const auto matmul = [this](TensorType a, TensorType b) {
    return Infer({.op = "MatMul", .inputs = {std::move(a), std::move(b)}});
  };
  EXPECT_EQ(matmul(Type({"B", 1, 2, "K"}), Type({5, "K", 4})),
            "float32 [B, 5, 2, 4]");
  EXPECT_EQ(matmul(Type({3}), Type({3})), "float32 []");
  EXPECT_EQ(matmul(Type({3}), Type({5, 3, 4})), "float32 [5, 4]");
  EXPECT_EQ(matmul(Type({5, 2, 3}), Type({3})), "float32 [5, 2]");
  EXPECT_EQ(matmul(Type({"S", "E"}), Type({"E", "S"})), "float32 [S, S]");
  EXPECT_THAT(matmul(Type({2, 3}), Type({4, 5})),
              IsRefusal("inner extents 3 vs 4"));
  EXPECT_THAT(matmul(Type({2, 2, 3}), Type({3, 3, 5})),
              IsRefusal("extents 2 vs 3"));
  EXPECT_THAT(matmul(Type(std::vector<NamedDim>{}), Type({1})),
              IsRefusal("rank 0, not 1 or more"));
}

TEST_F(ArithmeticTest, SoftmaxAxes) {
  const auto softmax = [this](int64_t axis, int64_t opset, int rank = 2) {
    return Infer({.op = "Softmax",
                  .inputs = {rank == 2 ? Type({"N", 4}) : Type({4})},
                  .attributes = {{"axis", axis}},
                  .opset = opset});
  };
  EXPECT_EQ(softmax(-2, 13), "float32 [N, 4]");
  EXPECT_EQ(softmax(2, 11), "float32 [N, 4]");
  EXPECT_THAT(softmax(2, 13), IsRefusal("axis 2 is outside [-2, 2)"));
  EXPECT_THAT(softmax(-3, 13), IsRefusal("axis -3"));
  EXPECT_THAT(softmax(3, 11), IsRefusal("axis 3"));
  EXPECT_EQ(softmax(1, 9, 1), "float32 [4]");
}

TEST_F(ArithmeticTest, BatchNormalizationInEachVersion) {
  const auto normalize = [this](std::string name, Attribute value,
                                int64_t opset, int outputs = 1) {
    return Infer({.op = "BatchNormalization",
                  .inputs = {Type({"N", 3, 4}), Type({3}), Type({3}), Type({3}),
                             Type({3})},
                  .attributes = {{std::move(name), std::move(value)}},
                  .opset = opset,
                  .output_count = outputs});
  };
  EXPECT_EQ(normalize("momentum", 0.9f, 9), "float32 [N, 3, 4]");
  EXPECT_EQ(normalize("spatial", int64_t{1}, 7), "float32 [N, 3, 4]");
  EXPECT_THAT(normalize("spatial", int64_t{0}, 7), IsUnsupported("'spatial'"));
  EXPECT_THAT(normalize("spatial", int64_t{1}, 9), IsRefusal("spatial"));
  EXPECT_EQ(normalize("training_mode", int64_t{0}, 15), "float32 [N, 3, 4]");
  EXPECT_THAT(normalize("training_mode", int64_t{1}, 14),
              IsUnsupported("'training_mode' is 1"));
  EXPECT_THAT(normalize("momentum", 0.9f, 9, 5), IsUnsupported("5 outputs"));
  EXPECT_THAT(normalize("epsilon", -1.0f, 9), IsRefusal("'epsilon' is -1"));
  EXPECT_EQ(normalize("is_test", int64_t{1}, 6), "float32 [N, 3, 4]");
  EXPECT_THAT(normalize("is_test", int64_t{0}, 6),
              IsUnsupported("'is_test' is 0"));
}

TEST_F(ArithmeticTest, BatchNormalizationChecksItsStatistics) {
  EXPECT_THAT(Infer({.op = "BatchNormalization",
                     .inputs = {Type({2, 3}), Type({3}), Type({3}), Type({4}),
                                Type({3})}}),
              IsRefusal("channels vs extent of the mean: 3 vs 4"));
  EXPECT_THAT(Infer({.op = "BatchNormalization",
                     .inputs = {Type({2, 3}), Type({3}), Type({3, 1}),
                                Type({3}), Type({3})}}),
              IsRefusal("input 2 has rank 2, not 1"));
}

}  // namespace
}  // namespace tensord
