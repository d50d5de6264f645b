#include <limits>

#include "tests/engine/ops/infer_test.h"

namespace tensord {
namespace {

using RandomOpsTest = InferTest;

TEST_F(RandomOpsTest, ShapesAreAttributes) {
  const auto draw = [this](Ints shape, int64_t dtype) {
    return Infer(
        {.op = "RandomNormal",
         .inputs = {},
         .attributes = {{"shape", std::move(shape)}, {"dtype", dtype}}});
  };
  EXPECT_EQ(draw({2, 3}, 1), "float32 [2, 3]");
  EXPECT_EQ(draw({}, 16), "bfloat16 []");
  EXPECT_THAT(draw({2, -3}, 1), IsRefusal("dimension 1 is -3, below 0"));
  EXPECT_THAT(draw({std::numeric_limits<int64_t>::max(), 3}, 1),
              IsRefusal("has more than"));
  EXPECT_THAT(draw({2}, 7), IsRefusal("numbers of dtype int64 are not drawn"));
  EXPECT_THAT(draw({2}, 99), IsRefusal("'dtype' is 99, which is no dtype"));
  EXPECT_THAT(Infer({.op = "RandomUniform", .inputs = {}}),
              IsRefusal("'shape' is missing"));
}

TEST_F(RandomOpsTest, LikeFollowsItsInput) {
  EXPECT_EQ(Infer({.op = "RandomUniformLike", .inputs = {Type({"N", 3})}}),
            "float32 [N, 3]");
  EXPECT_EQ(Infer({.op = "RandomNormalLike",
                   .inputs = {Type(DType::kInt8, {"N"})},
                   .attributes = {{"dtype", int64_t{11}}}}),
            "float64 [N]");
  EXPECT_THAT(
      Infer({.op = "RandomNormalLike", .inputs = {Type(DType::kInt8, {"N"})}}),
      IsRefusal("numbers of dtype int8 are not drawn"));
  EXPECT_EQ(Infer({.op = "Bernoulli",
                   .inputs = {Type({"N"})},
                   .attributes = {{"dtype", int64_t{9}}, {"seed", 1.0f}}}),
            "bool [N]");
  EXPECT_THAT(Infer({.op = "Bernoulli", .inputs = {Type(DType::kInt32, {2})}}),
              IsRefusal("input 0 has dtype int32"));
}

TEST_F(RandomOpsTest, RefusesNoDistribution) {
  const auto draw = [this](const std::string& op, const std::string& name,
                           float value) {
    return Infer(
        {.op = op, .inputs = {Type({2})}, .attributes = {{name, value}}});
  };
  EXPECT_THAT(draw("RandomUniformLike", "low", 2),
              IsRefusal("'low' and 'high' are 2 and 1"));
  EXPECT_THAT(draw("RandomUniformLike", "high", INFINITY),
              IsRefusal("'low' and 'high' are 0 and inf"));
  EXPECT_THAT(draw("RandomNormalLike", "scale", -1),
              IsRefusal("'mean' and 'scale' are 0 and -1"));
  EXPECT_THAT(draw("RandomNormalLike", "mean", NAN),
              IsRefusal("'mean' and 'scale' are nan and 1"));
  EXPECT_THAT(draw("RandomNormalLike", "low", 0), IsRefusal("low"));
}

TEST_F(RandomOpsTest, MultinomialHasSamplesOfEachRow) {
  const auto draw = [this](TensorType x, int64_t samples, int64_t dtype = 6) {
    return Infer({.op = "Multinomial",
                  .inputs = {std::move(x)},
                  .attributes = {{"sample_size", samples}, {"dtype", dtype}}});
  };
  EXPECT_EQ(draw(Type({"N", 10}), 4), "int32 [N, 4]");
  EXPECT_EQ(draw(Type({2, 10}), 0, 7), "int64 [2, 0]");
  EXPECT_THAT(draw(Type({2, 10}), -1), IsRefusal("'sample_size' is -1"));
  EXPECT_THAT(draw(Type({2, 10}), std::numeric_limits<int64_t>::max()),
              IsRefusal("'sample_size' is 92233720"));
  EXPECT_THAT(draw(Type({2, 10}), 4, 1),
              IsRefusal("numbers of dtype float32 are not drawn"));
  EXPECT_THAT(draw(Type({2, 0}), 4),
              IsRefusal("there are 0 classes to draw from"));
  EXPECT_THAT(draw(Type({2}), 4), IsRefusal("input 0 has rank 1, not 2"));
}

}  // namespace
}  // namespace tensord
