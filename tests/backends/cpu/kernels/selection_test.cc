#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

// Operators that choose elements: TopK, Compress, Unique, NonMaxSuppression,
// OneHot, Hardmax.
namespace tensord {
namespace {

using testing::HasSubstr;

std::vector<TestTensor> TopK(const TestTensor& x, int64_t k, int64_t axis,
                             int64_t largest, bool is_known) {
  auto outputs =
      RunOp({.op = "TopK",
             .inputs = {x, Tensor<int64_t>({1}, {k})},
             .attributes = {{"axis", axis}, {"largest", largest}},
             .constants = is_known ? std::vector<int>{1} : std::vector<int>{},
             .output_count = 2});
  EXPECT_THAT(outputs, IsOk());
  return outputs.ok() ? *std::move(outputs) : std::vector<TestTensor>(2);
}

TEST(TopKTest, EqualsComeByTheirPlaceAndNansAreGreatest) {
  const TestTensor x = Tensor({6}, {2, NAN, 5, 2, 5, -1});
  for (bool is_known : {false, true}) {
    const auto best = TopK(x, 4, 0, 1, is_known);
    EXPECT_THAT(best[0], Near({NAN, 5, 5, 2}, 0));
    EXPECT_THAT(best[1], Near({1, 2, 4, 0}, 0));
    const auto least = TopK(x, 6, 0, 0, is_known);
    EXPECT_THAT(least[0], Near({-1, 2, 2, 5, 5, NAN}, 0));
    EXPECT_THAT(least[1], Near({5, 0, 3, 2, 4, 1}, 0));
  }
}

TEST(TopKTest, LinesInTheMiddleOfTheShapeAreSortedEachByItself) {
  const TestTensor x = Pattern(DType::kInt32, {3, 17, 5});
  const auto sorted = TopK(x, 17, 1, 1, true);
  for (int64_t o = 0; o < 3; ++o) {
    for (int64_t i = 0; i < 5; ++i) {
      for (int64_t j = 0; j < 17; ++j) {
        const int64_t at = (o * 17 + j) * 5 + i;
        const auto from = static_cast<int64_t>(sorted[1].At(at));
        ASSERT_EQ(sorted[0].At(at), x.At((o * 17 + from) * 5 + i));
        if (j == 0) continue;
        ASSERT_LE(sorted[0].At(at), sorted[0].At(at - 5));
      }
    }
  }
}

// No line holds an element, so there is no workspace to sort in either.
TEST(TopKTest, ValuesAloneOfAnEmptyTensorAreEmpty) {
  const TestTensor y =
      MustRunOp({.op = "TopK",
                 .inputs = {Tensor({0, 3}, {}), Tensor<int64_t>({1}, {2})},
                 .constants = {1}});
  EXPECT_EQ(y.shape, Shape({0, 2}));
}

TEST(TopKTest, ValuesAloneNeedNoIndices) {
  EXPECT_THAT(
      MustRunOp({.op = "TopK",
                 .inputs = {Tensor({3}, {1, 3, 2}), Tensor<int64_t>({1}, {2})},
                 .constants = {1}}),
      Near({3, 2}, 0));
}

TEST(TopKTest, MoreThanThereIsIsRefused) {
  for (int64_t k : {int64_t{4}, int64_t{-1}, INT64_MAX, INT64_MIN}) {
    for (bool is_known : {false, true}) {
      EXPECT_THAT(
          RunOp(
              {.op = "TopK",
               .inputs = {Tensor({3}, {1, 3, 2}), Tensor<int64_t>({1}, {k})},
               .constants = is_known ? std::vector<int>{1} : std::vector<int>{},
               .output_count = 2}),
          StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("k is")));
    }
  }
}

TEST(CompressTest, SlicesAndElements) {
  const TestTensor x = Tensor({3, 2}, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(MustRunOp({.op = "Compress",
                         .inputs = {x, Tensor<bool>({3}, {false, true, true})},
                         .attributes = {{"axis", int64_t{0}}}}),
              Near({3, 4, 5, 6}, 0));
  EXPECT_THAT(MustRunOp({.op = "Compress",
                         .inputs = {x, Tensor<bool>({2}, {false, true})},
                         .attributes = {{"axis", int64_t{-1}}}}),
              Near({2, 4, 6}, 0));
  EXPECT_THAT(MustRunOp({.op = "Compress",
                         .inputs = {x, Tensor<bool>({5}, {false, true, false,
                                                          false, true})}}),
              Near({2, 5}, 0));
  EXPECT_THAT(
      MustRunOp({.op = "Compress",
                 .inputs = {x, Tensor<bool>({9}, {true, true, true, true, true,
                                                  true, true, true, true})}}),
      Near({1, 2, 3, 4, 5, 6}, 0));
}

TEST(UniqueTest, SortedOrByFirstOccurrence) {
  const TestTensor x = Tensor({6}, {2, 1, 1, 3, 4, 3});
  const auto unique = [&](int64_t sorted) {
    auto outputs = RunOp({.op = "Unique",
                          .inputs = {x},
                          .attributes = {{"sorted", sorted}},
                          .output_count = 4});
    EXPECT_THAT(outputs, IsOk());
    return *std::move(outputs);
  };
  const auto by_place = unique(0);
  EXPECT_THAT(by_place[0], Near({2, 1, 3, 4}, 0));
  EXPECT_THAT(by_place[1], Near({0, 1, 3, 4}, 0));
  EXPECT_THAT(by_place[2], Near({0, 1, 1, 2, 3, 2}, 0));
  EXPECT_THAT(by_place[3], Near({1, 2, 2, 1}, 0));
  const auto ascending = unique(1);
  EXPECT_THAT(ascending[0], Near({1, 2, 3, 4}, 0));
  EXPECT_THAT(ascending[1], Near({1, 0, 3, 4}, 0));
  EXPECT_THAT(ascending[2], Near({1, 0, 0, 2, 3, 2}, 0));
  EXPECT_THAT(ascending[3], Near({2, 1, 2, 1}, 0));
}

TEST(UniqueTest, SlicesNansAndNothing) {
  const auto slices = RunOp({.op = "Unique",
                             .inputs = {Tensor({3, 2}, {2, 3, 1, 0, 2, 3})},
                             .attributes = {{"axis", int64_t{0}}},
                             .output_count = 2});
  ASSERT_THAT(slices, IsOk());
  EXPECT_EQ((*slices)[0].shape, Shape({2, 2}));
  EXPECT_THAT((*slices)[0], Near({1, 0, 2, 3}, 0));
  EXPECT_THAT((*slices)[1], Near({1, 0}, 0));
  EXPECT_THAT(
      MustRunOp({.op = "Unique", .inputs = {Tensor({4}, {NAN, 1, NAN, 1})}}),
      Near({1, NAN}, 0));
  EXPECT_THAT(MustRunOp({.op = "Unique", .inputs = {Tensor<float>({0}, {})}}),
              Near({}, 0));
}

TEST(NonMaxSuppressionTest, TheBestOfEachClusterIsKept) {
  const TestTensor boxes =
      Tensor({1, 4, 4}, {0, 0, 1, 1,        // A
                         0, 0.1f, 1, 1.1f,  // overlaps A
                         2, 2, 3, 3,        // B
                         3, 3, 2, 2.05f});  // overlaps B, corners swapped
  const TestTensor scores = Tensor({1, 1, 4}, {0.5f, 0.9f, 0.3f, 0.3f});
  const auto run = [&](int64_t most, float overlap, float least) {
    return MustRunOp(
        {.op = "NonMaxSuppression",
         .inputs = {boxes, scores, Tensor<int64_t>({1}, {most}),
                    Tensor({1}, {overlap}), Tensor({1}, {least})}});
  };
  EXPECT_THAT(run(9, 0.5f, 0), Near({0, 0, 1, 0, 0, 2}, 0));
  EXPECT_THAT(run(1, 0.5f, 0), Near({0, 0, 1}, 0));
  EXPECT_THAT(run(INT64_MAX, 1, 0.4f), Near({0, 0, 1, 0, 0, 0}, 0));
  EXPECT_THAT(run(INT64_MIN, 0.5f, 0), Near({}, 0));
  EXPECT_THAT(
      RunOp({.op = "NonMaxSuppression",
             .inputs = {boxes, scores, Tensor<int64_t>({1}, {9}),
                        Tensor({1}, {NAN})}}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("overlap")));
}

TEST(NonMaxSuppressionTest, NansAreNeverTaken) {
  EXPECT_THAT(MustRunOp({.op = "NonMaxSuppression",
                         .inputs = {Tensor({1, 2, 4}, {0, 0, 1, 1, 5, 5, 6, 6}),
                                    Tensor({1, 1, 2}, {NAN, 0.1f}),
                                    Tensor<int64_t>({}, {9})}}),
              Near({0, 0, 1}, 0));
}

TEST(OneHotTest, AnyAxisAndIndicesFromTheEnd) {
  const auto one_hot = [](const TestTensor& indices, int64_t axis) {
    return MustRunOp(
        {.op = "OneHot",
         .inputs = {indices, Tensor<int64_t>({}, {3}), Tensor({2}, {0, 1})},
         .attributes = {{"axis", axis}},
         .constants = {1}});
  };
  EXPECT_THAT(one_hot(Tensor<int64_t>({2}, {0, -1}), -1),
              Near({1, 0, 0, 0, 0, 1}, 0));
  EXPECT_THAT(one_hot(Tensor<int32_t>({2}, {0, 2}), 0),
              Near({1, 0, 0, 0, 0, 1}, 0));
  EXPECT_THAT(one_hot(Tensor<int64_t>({3}, {3, INT64_MIN, INT64_MAX}), -1),
              Near({0, 0, 0, 0, 0, 0, 0, 0, 0}, 0));
  EXPECT_THAT(one_hot(Tensor({3}, {1.7f, NAN, INFINITY}), -1),
              Near({0, 1, 0, 1, 0, 0, 0, 0, 0}, 0));
}

TEST(OneHotTest, AnAbsurdDepthIsRefused) {
  for (int64_t depth : {int64_t{-1}, INT64_MAX}) {
    EXPECT_THAT(
        RunOp({.op = "OneHot",
               .inputs = {Tensor<int64_t>({1}, {0}),
                          Tensor<int64_t>({}, {depth}), Tensor({2}, {0, 1})},
               .constants = {1}}),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("depth is")));
  }
}

TEST(HardmaxTest, TheFirstGreatestAlongTheAxisOrInTheFlattenedRow) {
  const TestTensor x = Tensor({2, 2}, {1, 3, 3, 2});
  EXPECT_THAT(MustRunOp({.op = "Hardmax",
                         .inputs = {x},
                         .attributes = {{"axis", int64_t{0}}}}),
              Near({0, 1, 1, 0}, 0));
  EXPECT_THAT(MustRunOp({.op = "Hardmax",
                         .inputs = {x},
                         .attributes = {{"axis", int64_t{0}}},
                         .opset = 11}),
              Near({0, 1, 0, 0}, 0));
}

}  // namespace
}  // namespace tensord
