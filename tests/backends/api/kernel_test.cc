#include "backends/api/kernel.h"

#include <gtest/gtest.h>

#include <vector>

namespace tensord {
namespace {

constexpr DType kF32 = DType::kFloat32;
constexpr DType kI64 = DType::kInt64;
constexpr DType kNone = DType::kUndefined;

bool Matches(const DTypeSignature& signature, const std::vector<DType>& inputs,
             const std::vector<DType>& outputs) {
  return signature.Matches(inputs, outputs);
}

TEST(DTypeSignatureTest, MatchesWhatIsListed) {
  constexpr DTypeSignature kGather = Takes({kF32, kI64}, {kF32});
  EXPECT_TRUE(Matches(kGather, {kF32, kI64}, {kF32}));
  EXPECT_FALSE(Matches(kGather, {kF32, kF32}, {kF32}));
  EXPECT_FALSE(Matches(kGather, {kI64, kI64}, {kF32}));
  EXPECT_FALSE(Matches(kGather, {kF32, kI64}, {kI64}));
}

TEST(DTypeSignatureTest, TheLastOneStandsForAnyNumberOfFurtherOnes) {
  EXPECT_TRUE(Matches(All(kF32), {kF32, kF32, kF32}, {kF32, kF32}));
  EXPECT_FALSE(Matches(All(kF32), {kF32, kF32, kI64}, {kF32}));
  EXPECT_TRUE(Matches(Takes({kF32, kI64}, {kF32}), {kF32, kI64, kI64}, {kF32}));
}

TEST(DTypeSignatureTest, AbsentOperandsMatchEverything) {
  EXPECT_TRUE(Matches(Takes({kF32, kI64}, {kF32}), {kF32, kNone}, {kF32}));
  EXPECT_TRUE(Matches(Takes({kF32, kI64}, {kF32}), {kF32}, {kF32}));
  EXPECT_TRUE(Matches(All(kF32), {kF32}, {kNone, kF32}));
}

TEST(DTypeSignatureTest, ListingNothingTakesNothing) {
  EXPECT_TRUE(Matches(Takes({}, {kF32}), {}, {kF32}));
  EXPECT_FALSE(Matches(Takes({}, {kF32}), {kF32}, {kF32}));
  EXPECT_FALSE(Matches(Takes({kF32}, {}), {kF32}, {kF32}));
}

TEST(DTypeSignatureTest, AnyTakesEverything) {
  EXPECT_TRUE(Matches(AnyDTypes(), {}, {}));
  EXPECT_TRUE(Matches(AnyDTypes(), {kF32, DType::kString}, {kI64}));
}

TEST(NodeSiteTest, OutputsFollowInputs) {
  const std::vector<DType> dtypes = {kF32, kNone, kI64};
  const std::vector<Layout> layouts = {Layout::Contiguous(Shape({2})), Layout(),
                                       Layout::Contiguous(Shape({3}))};
  const float constant = 1;
  const std::vector<const std::byte*> constants = {
      reinterpret_cast<const std::byte*>(&constant)};
  const OpParams params = AxisParams{1};
  const NodeSite site{OpKind::kTopK, dtypes, 2, layouts, constants, params};
  EXPECT_EQ(site.input_dtype(0), kF32);
  EXPECT_EQ(site.output_dtype(0), kI64);
  EXPECT_EQ(site.output(0).shape, Shape({3}));
  EXPECT_TRUE(site.has_input(0));
  EXPECT_FALSE(site.has_input(1));  // absent
  EXPECT_FALSE(site.has_input(2));  // an output
  EXPECT_NE(site.host_constant(0), nullptr);
  EXPECT_EQ(site.host_constant(1), nullptr);
}

}  // namespace
}  // namespace tensord
