#include <gtest/gtest.h>

#include <vector>

#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

// One small example an operator, worked out by hand.
namespace tensord {
namespace {

using Ints = std::vector<int64_t>;

TEST(FirstValuesTest, ElementwiseOperators) {
  EXPECT_THAT(MustRunOp({.op = "Relu", .inputs = {Tensor({3}, {-1, 0, 2})}}),
              Near({0, 0, 2}, 0));
  EXPECT_THAT(
      MustRunOp({.op = "Add",
                 .inputs = {Tensor({2, 1}, {1, 5}), Tensor({2}, {1, 2})}}),
      Near({2, 3, 6, 7}, 0));
}

TEST(FirstValuesTest, ProductsAndNormalisation) {
  EXPECT_THAT(MustRunOp({.op = "Gemm",
                         .inputs = {Tensor({1, 2}, {1, 2}),
                                    Tensor({2, 2}, {1, 2, 3, 4}),
                                    Tensor({2}, {1, 1})}}),
              Near({8, 11}, 0));
  EXPECT_THAT(
      MustRunOp({.op = "Softmax", .inputs = {Tensor({1, 2}, {1000, 1001})}}),
      Near({0.2689, 0.7311}, 1e-4));
  EXPECT_THAT(MustRunOp({.op = "BatchNormalization",
                         .inputs = {Tensor({1, 2}, {1, 2}), Tensor({2}, {2, 2}),
                                    Tensor({2}, {1, 1}), Tensor({2}, {1, 1}),
                                    Tensor({2}, {1, 4})}}),
              Near({1, 2}, 1e-4));
}

TEST(FirstValuesTest, Pools) {
  const TestTensor x = Tensor({1, 1, 4}, {1, 5, 2, 3});
  EXPECT_THAT(MustRunOp({.op = "MaxPool",
                         .inputs = {x},
                         .attributes = {{"kernel_shape", Ints{2}}}}),
              Near({5, 5, 3}, 0));
  EXPECT_THAT(MustRunOp({.op = "AveragePool",
                         .inputs = {x},
                         .attributes = {{"kernel_shape", Ints{2}}}}),
              Near({3, 3.5, 2.5}, 0));
}

TEST(FirstValuesTest, Movement) {
  EXPECT_EQ(MustRunOp({.op = "Flatten",
                       .inputs = {Pattern(DType::kFloat32, {2, 3, 4})}})
                .shape,
            Shape({2, 12}));
  EXPECT_THAT(
      MustRunOp({.op = "Concat",
                 .inputs = {Tensor({2, 1}, {1, 5}), Tensor({2, 1}, {1, 2})},
                 .attributes = {{"axis", int64_t{1}}}}),
      Near({1, 1, 5, 2}, 0));
}

TEST(FirstValuesTest, NonZeroTellsHowManyThereAre) {
  const TestTensor y =
      MustRunOp({.op = "NonZero", .inputs = {Tensor({2, 2}, {1, 0, 3, 4})}});
  EXPECT_EQ(y.shape, Shape({2, 3}));
  EXPECT_THAT(y, Near({0, 1, 1, 0, 0, 1}, 0));
}

}  // namespace
}  // namespace tensord
