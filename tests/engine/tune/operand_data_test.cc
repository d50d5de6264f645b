#include "engine/tune/operand_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "absl/strings/str_cat.h"
#include "tests/support/matchers.h"
#include "tests/support/tensor.h"

namespace tensord {
namespace {

using ::testing::HasSubstr;

// Input `i` of a node, filled.
absl::StatusOr<TestTensor> Filled(OpKind op, std::vector<DType> dtypes,
                                  std::vector<Shape> shapes, int i,
                                  uint64_t seed = 1) {
  std::vector<Layout> layouts;
  for (const Shape& shape : shapes) {
    layouts.push_back(Layout::Contiguous(shape));
  }
  const OpParams params = NoParams();
  const NodeSite site{.op = op,
                      .dtypes = dtypes,
                      .input_count = static_cast<int>(dtypes.size()) - 1,
                      .layouts = layouts,
                      .params = params};
  std::vector<std::byte> bytes(ByteSize(dtypes[i], shapes[i].element_count()));
  if (absl::Status s = FillOperand(site, i, seed, absl::MakeSpan(bytes));
      !s.ok()) {
    return s;
  }
  return TensorOfBytes(dtypes[i], shapes[i], bytes.data(), bytes.size());
}

TEST(FillOperand, FloatsHaveBothSignsAndAMagnitudeNearOne) {
  for (DType dtype :
       {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16}) {
    const auto x =
        Filled(OpKind::kRelu, {dtype, dtype}, {Shape{1000}, Shape{1000}}, 0);
    ASSERT_THAT(x, IsOk());
    int negative = 0;
    for (int i = 0; i < 1000; ++i) {
      ASSERT_GE(std::abs(x->At(i)), 0x1p-7);
      ASSERT_LE(std::abs(x->At(i)), 1);
      negative += x->At(i) < 0;
    }
    EXPECT_GT(negative, 300);
    EXPECT_LT(negative, 700);
  }
}

TEST(FillOperand, StaysInTheRangeOfTheOperator) {
  const auto positive = [](OpKind op, int i, double least) {
    const std::vector<DType> dtypes(8, DType::kFloat32);
    const std::vector<Shape> shapes(8, Shape{100});
    const auto x = Filled(op, dtypes, shapes, i);
    ASSERT_THAT(x, IsOk());
    for (int k = 0; k < 100; ++k) ASSERT_GE(x->At(k), least);
  };
  positive(OpKind::kLog, 0, 0x1p-7);
  positive(OpKind::kSqrt, 0, 0x1p-7);
  positive(OpKind::kAcosh, 0, 1);
  positive(OpKind::kBatchNormalization, 4, 0x1p-7);
  positive(OpKind::kQLinearMatMul, 6, 0x1p-7);
}

TEST(FillOperand, IndicesAreValidAlongEveryDimension) {
  for (DType index : {DType::kInt32, DType::kInt64}) {
    const auto indices =
        Filled(OpKind::kGather, {DType::kFloat32, index, DType::kFloat32},
               {Shape{7, 3, 5}, Shape{200}, Shape{200, 3, 5}}, 1);
    ASSERT_THAT(indices, IsOk());
    std::set<double> seen;
    for (int i = 0; i < 200; ++i) seen.insert(indices->At(i));
    EXPECT_EQ(seen, (std::set<double>{0, 1, 2}));
  }
}

TEST(FillOperand, BytesHaveTheirWholeRange) {
  const auto x = Filled(OpKind::kMatMulInteger,
                        {DType::kInt8, DType::kInt8, DType::kInt32},
                        {Shape{64, 64}, Shape{64, 64}, Shape{64, 64}}, 0);
  ASSERT_THAT(x, IsOk());
  std::set<double> seen;
  for (int i = 0; i < 64 * 64; ++i) seen.insert(x->At(i));
  EXPECT_GT(seen.size(), 250);
}

TEST(FillOperand, ShapesAndWhatHasNoNumbersAreNotMadeUp) {
  EXPECT_THAT(Filled(OpKind::kReshape,
                     {DType::kFloat32, DType::kInt64, DType::kFloat32},
                     {Shape{6}, Shape{2}, Shape{2, 3}}, 1),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("input 1 of Reshape may be a shape")));
  EXPECT_THAT(
      Filled(OpKind::kGather, {DType::kFloat32, DType::kInt64, DType::kFloat32},
             {Shape{0, 2}, Shape{0}, Shape{0, 2}}, 1),
      StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("input 1")));
  EXPECT_THAT(
      Filled(OpKind::kIdentity, {DType::kFloat8E4M3FN, DType::kFloat8E4M3FN},
             {Shape{2}, Shape{2}}, 0),
      StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("float8e4m3fn")));
}

TEST(FillOperand, TheSameSeedGivesTheSameBytes) {
  const auto fill = [](uint64_t seed) {
    return Filled(OpKind::kRelu, {DType::kFloat32, DType::kFloat32},
                  {Shape{50}, Shape{50}}, 0, seed)
        ->bytes;
  };
  EXPECT_EQ(fill(1), fill(1));
  EXPECT_NE(fill(1), fill(2));
}

}  // namespace
}  // namespace tensord
