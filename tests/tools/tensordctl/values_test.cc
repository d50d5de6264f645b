// Random tensors, comparing them, and their largest elements.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "clients/cpp/tensors.h"
#include "tools/tensordctl/compare.h"
#include "tools/tensordctl/elements.h"
#include "tools/tensordctl/random_tensor.h"
#include "tools/tensordctl/top_classes.h"

namespace tensord::ctl {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

v1::Tensor Floats(std::vector<float> values) {
  return MakeTensor<float>({static_cast<int64_t>(values.size())},
                           absl::MakeConstSpan(values));
}

TEST(RandomTensor, IsNormal) {
  const auto values =
      *AsDoubles(*RandomTensor(v1::DTYPE_FLOAT32, {100, 100}, 1));
  double sum = 0, squares = 0;
  for (double value : values) {
    sum += value;
    squares += value * value;
  }
  const double n = static_cast<double>(values.size());
  // Five standard deviations of the mean and of the variance of 10,000 samples.
  EXPECT_NEAR(sum / n, 0, 0.05);
  EXPECT_NEAR(squares / n, 1, 0.08);
}

TEST(RandomTensor, DependsOnItsSeedAlone) {
  const auto one = *RandomTensor(v1::DTYPE_FLOAT32, {16}, 1);
  EXPECT_EQ(one.data(), RandomTensor(v1::DTYPE_FLOAT32, {16}, 1)->data());
  EXPECT_NE(one.data(), RandomTensor(v1::DTYPE_FLOAT32, {16}, 2)->data());
}

TEST(RandomTensor, HasSmallIntegersAndBothBooleans) {
  EXPECT_THAT(*AsDoubles(*RandomTensor(v1::DTYPE_INT8, {1000}, 1)),
              Each(AllOf(Ge(0), Le(9))));
  const auto booleans = RandomTensor(v1::DTYPE_BOOL, {100}, 1)->data();
  EXPECT_NE(booleans.find('\0'), std::string::npos);
  EXPECT_NE(booleans.find('\1'), std::string::npos);
}

TEST(RandomTensor, RefusesWhatItCannotMake) {
  EXPECT_EQ(RandomTensor(v1::DTYPE_STRING, {1}, 1).status().code(),
            absl::StatusCode::kUnimplemented);
  EXPECT_THAT(
      RandomTensor(v1::DTYPE_FLOAT32, {1 << 20, 1 << 20}, 1).status().message(),
      AllOf(HasSubstr("4.00 TiB"), HasSubstr("1.00 GiB")));
  EXPECT_TRUE(RandomTensor(v1::DTYPE_FLOAT32, {0, 5}, 1).ok());
}

TEST(Compare, TakesWhatIsWithinTolerance) {
  const Tolerance tolerance = {.rtol = 0.1, .atol = 0.01};
  const auto difference =
      Compare(Floats({1.f, 0.f}), Floats({1.1f, 0.0099f}), tolerance);
  EXPECT_TRUE(difference.is_within());
  EXPECT_NEAR(difference.max_abs, 0.1, 1e-6);
}

TEST(Compare, TellsTheWorstElementOutside) {
  const auto difference =
      Compare(Floats({1.f, 2.f, 3.f}), Floats({1.5f, 2.f, 4.f}), {});
  EXPECT_FALSE(difference.is_within());
  EXPECT_EQ(difference.outside_count, 2);
  EXPECT_EQ(difference.element_count, 3);
  EXPECT_EQ(difference.worst_index, 2);
  EXPECT_EQ(difference.worst_expected, 3);
  EXPECT_EQ(difference.worst_actual, 4);
  EXPECT_EQ(difference.max_abs, 1);
}

TEST(Compare, TakesEqualInfinitiesAndNans) {
  EXPECT_TRUE(Compare(Floats({kNan, kInfinity}), Floats({kNan, kInfinity}), {})
                  .is_within());
}

TEST(Compare, DoesNotLetToleranceHideWhatIsNotFinite) {
  const Tolerance loose = {.rtol = 1, .atol = 1e30};
  EXPECT_FALSE(Compare(Floats({kInfinity}), Floats({1.f}), loose).is_within());
  EXPECT_FALSE(Compare(Floats({1.f}), Floats({kInfinity}), loose).is_within());
  EXPECT_FALSE(Compare(Floats({1.f}), Floats({kNan}), loose).is_within());
  EXPECT_FALSE(Compare(Floats({kNan}), Floats({1.f}), loose).is_within());
  EXPECT_FALSE(
      Compare(Floats({kInfinity}), Floats({-kInfinity}), loose).is_within());
}

TEST(Compare, NamesOtherTypesAndShapes) {
  const auto other_shape = MakeTensor<float>({1, 1}, {1.f});
  EXPECT_THAT(Compare(Floats({1.f}), other_shape, {}).mismatch,
              HasSubstr("expected float32[1], got float32[1,1]"));
  const auto other_dtype = MakeTensor<int32_t>({1}, {1});
  EXPECT_THAT(Compare(Floats({1.f}), other_dtype, {}).mismatch,
              HasSubstr("got int32[1]"));
}

TEST(Compare, ComparesStringsByTheirBytes) {
  v1::Tensor text;
  text.set_dtype(v1::DTYPE_STRING);
  text.set_data("abc");
  v1::Tensor other = text;
  EXPECT_TRUE(Compare(text, other, {}).is_within());
  other.set_data("abd");
  EXPECT_FALSE(Compare(text, other, {}).is_within());
}

TEST(TopClasses, AreTheLargestOfEachRow) {
  const auto tensor =
      MakeTensor<float>({2, 3}, {0.1f, 0.7f, 0.2f, 0.5f, 0.f, 0.5f});
  const auto rows = *TopClasses(tensor, 2);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_THAT(rows[0], ElementsAre(Field(&ScoredClass::index, 1),
                                   Field(&ScoredClass::index, 2)));
  // Equal scores: the first index first.
  EXPECT_THAT(rows[1], ElementsAre(Field(&ScoredClass::index, 0),
                                   Field(&ScoredClass::index, 2)));
}

TEST(TopClasses, PutNansLastAndTakeFewerWhereThereAreFewer) {
  const auto rows = *TopClasses(Floats({kNan, 1.f, kNan, 2.f}), 10);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_THAT(rows[0], ElementsAre(Field(&ScoredClass::index, 3),
                                   Field(&ScoredClass::index, 1),
                                   Field(&ScoredClass::index, 0),
                                   Field(&ScoredClass::index, 2)));
}

TEST(TopClasses, HaveARowForAScalarAndNoneForNothing) {
  EXPECT_EQ(TopClasses(MakeTensor<float>({}, {1.f}), 3)->size(), 1u);
  EXPECT_EQ(TopClasses(MakeTensor<float>({2, 0}, {}), 3)->size(), 0u);
  EXPECT_EQ(TopClasses(MakeTensor<float>({0, 2}, {}), 3)->size(), 0u);
}

}  // namespace
}  // namespace tensord::ctl
