#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

namespace tensord {
namespace {

using testing::HasSubstr;

TEST(GatherElementsTest, TakesOneElementForEachIndex) {
  const TestTensor x = Tensor({2, 2}, {1, 2, 3, 4});
  EXPECT_THAT(MustRunOp({.op = "GatherElements",
                         .inputs = {x, Tensor<int64_t>({2, 2}, {0, 0, -1, 0})},
                         .attributes = {{"axis", int64_t{1}}}}),
              Near({1, 1, 4, 3}, 0));
  EXPECT_THAT(MustRunOp({.op = "GatherElements",
                         .inputs = {x, Tensor<int32_t>({3, 1}, {1, 0, 1})}}),
              Near({3, 1, 3}, 0));
}

TEST(GatherNdTest, SlicesElementsAndBatches) {
  const TestTensor x = Tensor({2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_THAT(MustRunOp({.op = "GatherND",
                         .inputs = {x, Tensor<int64_t>({2, 1}, {1, -2})}}),
              Near({4, 5, 6, 7, 0, 1, 2, 3}, 0));
  EXPECT_THAT(
      MustRunOp({.op = "GatherND",
                 .inputs = {x, Tensor<int64_t>({2, 3}, {0, 0, 1, 1, 1, 0})}}),
      Near({1, 6}, 0));
  EXPECT_THAT(MustRunOp({.op = "GatherND",
                         .inputs = {x, Tensor<int64_t>({2, 1}, {1, 0})},
                         .attributes = {{"batch_dims", int64_t{1}}}}),
              Near({2, 3, 4, 5}, 0));
}

TEST(ScatterTest, EachReductionInItsOrder) {
  const TestTensor data = Tensor({1, 3}, {1, 2, 3});
  const auto scatter = [&](const std::string& reduction) {
    return MustRunOp(
        {.op = "ScatterElements",
         .inputs = {data, Tensor<int64_t>({1, 3}, {1, -2, 0}),
                    Tensor({1, 3}, {5, 7, 0})},
         .attributes = {{"axis", int64_t{1}}, {"reduction", reduction}},
         .opset = 18});
  };
  EXPECT_THAT(scatter("none"), Near({0, 7, 3}, 0));
  EXPECT_THAT(scatter("add"), Near({1, 14, 3}, 0));
  EXPECT_THAT(scatter("mul"), Near({0, 70, 3}, 0));
  EXPECT_THAT(scatter("max"), Near({1, 7, 3}, 0));
  EXPECT_THAT(scatter("min"), Near({0, 2, 3}, 0));
}

TEST(ScatterNdTest, ReplacesSlicesAndAddsElements) {
  const TestTensor data = Tensor({2, 2}, {1, 2, 3, 4});
  EXPECT_THAT(MustRunOp({.op = "ScatterND",
                         .inputs = {data, Tensor<int64_t>({1, 1}, {-1}),
                                    Tensor({1, 2}, {8, 9})}}),
              Near({1, 2, 8, 9}, 0));
  EXPECT_THAT(MustRunOp({.op = "ScatterND",
                         .inputs = {data, Tensor<int64_t>({2, 2}, {0, 1, 0, 1}),
                                    Tensor({2}, {10, 20})},
                         .attributes = {{"reduction", std::string("add")}},
                         .opset = 18}),
              Near({1, 32, 3, 4}, 0));
}

TEST(ScatterTest, IntegersWrapAndANanWins) {
  EXPECT_THAT(MustRunOp({.op = "ScatterElements",
                         .inputs = {Tensor<int32_t>({1}, {INT32_MAX}),
                                    Tensor<int64_t>({1}, {0}),
                                    Tensor<int32_t>({1}, {1})},
                         .attributes = {{"reduction", std::string("add")}},
                         .opset = 18}),
              Near({-2147483648.0}, 0));
  EXPECT_THAT(MustRunOp({.op = "ScatterElements",
                         .inputs = {Tensor({1}, {5}), Tensor<int64_t>({1}, {0}),
                                    Tensor({1}, {NAN})},
                         .attributes = {{"reduction", std::string("max")}},
                         .opset = 18}),
              Near({NAN}, 0));
}

// Every operator that takes indices, with one that is out of range.
TEST(IndexingTest, IndicesOutOfRangeAreRefused) {
  const TestTensor x = Tensor({2, 2}, {1, 2, 3, 4});
  for (int64_t index : {int64_t{2}, int64_t{-3}, INT64_MIN, INT64_MAX}) {
    const auto refused =
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("outside"));
    const TestTensor indices = Tensor<int64_t>({1, 1}, {index});
    EXPECT_THAT(RunOp({.op = "GatherElements", .inputs = {x, indices}}),
                refused);
    EXPECT_THAT(RunOp({.op = "GatherND", .inputs = {x, indices}}), refused);
    EXPECT_THAT(RunOp({.op = "ScatterElements",
                       .inputs = {x, indices, Tensor({1, 1}, {0})}}),
                refused);
    EXPECT_THAT(RunOp({.op = "ScatterND",
                       .inputs = {x, indices, Tensor({1, 2}, {0, 0})}}),
                refused);
  }
}

TEST(IndexingTest, NoIndicesGiveNothingAndChangeNothing) {
  const TestTensor x = Tensor({2, 2}, {1, 2, 3, 4});
  const TestTensor none = Tensor<int64_t>({0, 2}, {});
  EXPECT_THAT(MustRunOp({.op = "GatherElements", .inputs = {x, none}}),
              Near({}, 0));
  EXPECT_THAT(MustRunOp({.op = "GatherND", .inputs = {x, none}}), Near({}, 0));
  EXPECT_THAT(MustRunOp({.op = "ScatterElements",
                         .inputs = {x, none, Tensor<float>({0, 2}, {})}}),
              Near({1, 2, 3, 4}, 0));
  EXPECT_THAT(MustRunOp({.op = "ScatterND",
                         .inputs = {x, none, Tensor<float>({0}, {})}}),
              Near({1, 2, 3, 4}, 0));
}

TEST(DepthSpaceTest, BothOrdersAndBack) {
  const TestTensor deep = Tensor({1, 8, 1, 1}, {0, 1, 2, 3, 4, 5, 6, 7});
  const auto wide = [&](const std::string& mode) {
    return MustRunOp(
        {.op = "DepthToSpace",
         .inputs = {deep},
         .attributes = {{"blocksize", int64_t{2}}, {"mode", mode}}});
  };
  EXPECT_THAT(wide("DCR"), Near({0, 2, 4, 6, 1, 3, 5, 7}, 0));
  EXPECT_THAT(wide("CRD"), Near({0, 1, 2, 3, 4, 5, 6, 7}, 0));
  EXPECT_THAT(MustRunOp({.op = "SpaceToDepth",
                         .inputs = {wide("DCR")},
                         .attributes = {{"blocksize", int64_t{2}}}}),
              Near({0, 1, 2, 3, 4, 5, 6, 7}, 0));
}

TEST(DepthSpaceTest, ChannelsThatDoNotDivideAreRefused) {
  EXPECT_THAT(RunOp({.op = "DepthToSpace",
                     .inputs = {Pattern(DType::kFloat32, {1, 6, 1, 1})},
                     .attributes = {{"blocksize", int64_t{2}}}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("6 is no multiple of 4")));
}

}  // namespace
}  // namespace tensord
