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
using Ints = std::vector<int64_t>;

TEST(EyeLikeTest, TheDiagonalThatIsAskedFor) {
  const TestTensor x = Pattern(DType::kInt32, {2, 3});
  const auto eye = [&](int64_t k) {
    return MustRunOp({.op = "EyeLike",
                      .inputs = {x},
                      .attributes = {{"k", k}, {"dtype", int64_t{1}}}});
  };
  EXPECT_EQ(eye(0).dtype, DType::kFloat32);
  EXPECT_THAT(eye(0), Near({1, 0, 0, 0, 1, 0}, 0));
  EXPECT_THAT(eye(2), Near({0, 0, 1, 0, 0, 0}, 0));
  EXPECT_THAT(eye(-1), Near({0, 0, 0, 1, 0, 0}, 0));
  EXPECT_THAT(eye(INT64_MIN), Near({0, 0, 0, 0, 0, 0}, 0));
  EXPECT_THAT(eye(INT64_MAX), Near({0, 0, 0, 0, 0, 0}, 0));
}

TEST(ReverseSequenceTest, EachBatchByItsLength) {
  const TestTensor x = Tensor({3, 2}, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(MustRunOp({.op = "ReverseSequence",
                         .inputs = {x, Tensor<int64_t>({2}, {3, 2})}}),
              Near({5, 4, 3, 2, 1, 6}, 0));
  EXPECT_THAT(MustRunOp({.op = "ReverseSequence",
                         .inputs = {x, Tensor<int64_t>({3}, {2, 0, 1})},
                         .attributes = {{"batch_axis", int64_t{0}},
                                        {"time_axis", int64_t{1}}}}),
              Near({2, 1, 3, 4, 5, 6}, 0));
  for (int64_t length : {int64_t{-1}, int64_t{4}, INT64_MIN}) {
    EXPECT_THAT(
        RunOp({.op = "ReverseSequence",
               .inputs = {x, Tensor<int64_t>({2}, {0, length})}}),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("length 1 is")));
  }
}

TEST(CenterCropPadTest, CropsOneAxisAndPadsTheOther) {
  const TestTensor x = Tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(MustRunOp({.op = "CenterCropPad",
                         .inputs = {x, Tensor<int64_t>({2}, {3, 1})},
                         .opset = 18,
                         .constants = {1}}),
              Near({2, 5, 0}, 0));
  EXPECT_THAT(MustRunOp({.op = "CenterCropPad",
                         .inputs = {x, Tensor<int32_t>({1}, {4})},
                         .attributes = {{"axes", Ints{-1}}},
                         .opset = 18,
                         .constants = {1}}),
              Near({1, 2, 3, 0, 4, 5, 6, 0}, 0));
}

TEST(MeanVarianceNormalizationTest, EachGroupHasMeanZeroAndVarianceOne) {
  const TestTensor y =
      MustRunOp({.op = "MeanVarianceNormalization",
                 .inputs = {Tensor({2, 1, 2, 2}, {1001, 1003, 1001, 1003, 1001,
                                                  1003, 1001, 1003})}});
  EXPECT_THAT(y, Near({-1, 1, -1, 1, -1, 1, -1, 1}, 1e-5));
  EXPECT_THAT(MustRunOp({.op = "MeanVarianceNormalization",
                         .inputs = {Tensor({2, 2}, {1, 5, 3, 5})},
                         .attributes = {{"axes", Ints{0}}}}),
              Near({-1, 0, 1, 0}, 1e-5));
}

}  // namespace
}  // namespace tensord
