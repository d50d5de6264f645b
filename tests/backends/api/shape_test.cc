#include "backends/api/shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "backends/api/layout.h"
#include "tests/support/matchers.h"

namespace tensord {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<Shape> Create(const std::vector<int64_t>& extents) {
  return Shape::Create(extents);
}

TEST(ShapeTest, AScalarHasOneElement) {
  EXPECT_EQ(Shape().element_count(), 1);
  EXPECT_EQ(Create({})->element_count(), 1);
  EXPECT_EQ(Shape().rank(), 0);
  EXPECT_EQ(Shape().ToString(), "[]");
}

TEST(ShapeTest, CountsElements) {
  const Shape shape({2, 3, 4});
  EXPECT_EQ(shape.element_count(), 24);
  EXPECT_EQ(shape.ElementCount(0, 2), 6);
  EXPECT_EQ(shape.ElementCount(1, 1), 1);
  EXPECT_EQ(shape.ToString(), "[2, 3, 4]");
  EXPECT_EQ(Shape({2, 0, 4}).element_count(), 0);
}

TEST(ShapeTest, RefusesNegativeExtents) {
  EXPECT_THAT(Create({2, -1}), StatusIs(absl::StatusCode::kInvalidArgument,
                                        HasSubstr("dimension 1 is -1")));
  EXPECT_THAT(Create({INT64_MIN}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("-9")));
}

TEST(ShapeTest, RefusesRanksAboveTheLimit) {
  EXPECT_THAT(Create(std::vector<int64_t>(kMaxRank, 1)), IsOk());
  EXPECT_THAT(Create(std::vector<int64_t>(kMaxRank + 1, 1)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("rank 17 is above the limit of 16")));
}

TEST(ShapeTest, RefusesMoreElementsThanTheLimitWithoutOverflow) {
  EXPECT_THAT(Create({kMaxElementCount}), IsOk());
  EXPECT_THAT(Create({kMaxElementCount / 2, 2}), IsOk());
  for (const std::vector<int64_t>& extents :
       std::vector<std::vector<int64_t>>{{kMaxElementCount + 1},
                                         {kMaxElementCount, 2},
                                         {INT64_MAX},
                                         {INT64_MAX, INT64_MAX, INT64_MAX},
                                         {int64_t{1} << 32, int64_t{1} << 32},
                                         // A zero hides no overflow elsewhere.
                                         {0, INT64_MAX},
                                         {INT64_MAX, 0},
                                         {kMaxElementCount, 0, 2}}) {
    EXPECT_THAT(Create(extents), StatusIs(absl::StatusCode::kInvalidArgument,
                                          HasSubstr("281474976710656")));
  }
}

TEST(ShapeDeathTest, ALiteralThatIsNoShapeAborts) {
  EXPECT_DEATH(Shape({-1}), "dimension 0 is -1");
}

TEST(LayoutTest, ContiguousStridesAreRowMajor) {
  const Layout layout = Layout::Contiguous(Shape({2, 3, 4}), 5);
  EXPECT_THAT(layout.strides, ElementsAre(12, 4, 1));
  EXPECT_EQ(layout.offset, 5);
  EXPECT_TRUE(layout.IsContiguous());
  EXPECT_TRUE(Layout::Contiguous(Shape()).IsContiguous());
}

TEST(LayoutTest, AnExtentOfZeroMakesNoStrideOfZero) {
  EXPECT_THAT(Layout::Contiguous(Shape({2, 0, 4})).strides,
              ElementsAre(4, 4, 1));
}

TEST(LayoutTest, ExtentsOfOneMayHaveAnyStride) {
  Layout layout{Shape({1, 3, 1}), {99, 1, 0}, 0};
  EXPECT_TRUE(layout.IsContiguous());
  layout.strides[1] = 2;
  EXPECT_FALSE(layout.IsContiguous());
}

TEST(LayoutTest, AnEmptyTensorIsContiguousWhateverItsStrides) {
  EXPECT_TRUE((Layout{Shape({3, 0}), {7, 7}, 0}).IsContiguous());
}

TEST(LayoutTest, TransposedAndBroadcastAreNotContiguous) {
  EXPECT_FALSE((Layout{Shape({3, 2}), {1, 3}, 0}).IsContiguous());
  EXPECT_FALSE((Layout{Shape({3, 2}), {0, 1}, 0}).IsContiguous());
  EXPECT_FALSE((Layout{Shape({3, 2}), {4, 1}, 0}).IsContiguous());
}

TEST(LayoutTest, EqualityLooksAtEverything) {
  const Layout layout = Layout::Contiguous(Shape({2, 2}));
  EXPECT_TRUE(layout == Layout::Contiguous(Shape({2, 2})));
  EXPECT_FALSE(layout == Layout::Contiguous(Shape({2, 2}), 1));
  EXPECT_FALSE(layout == Layout::Contiguous(Shape({4})));
}

}  // namespace
}  // namespace tensord
