#include <gtest/gtest.h>

#include <vector>

#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

namespace tensord {
namespace {

OpCase MakeCase(TestTensor theta, const std::vector<int64_t>& size,
                bool aligns_corners) {
  return {
      .op = "AffineGrid",
      .inputs = {std::move(theta),
                 Tensor<int64_t>({static_cast<int64_t>(size.size())}, size)},
      .attributes = {{"align_corners", int64_t{aligns_corners}}},
      .opset = 20,
      .constants = {1}};
}

double PlaceOf(int64_t index, int64_t extent, bool aligns_corners) {
  const auto length = static_cast<double>(extent);
  const double step = aligns_corners ? 2 / (length - 1) : 2 / length;
  const double first = aligns_corners ? -1 : -1 + step / 2;
  return index == 0 ? first : first + static_cast<double>(index) * step;
}

TEST(AffineGridTest, MatchesTheDefinition) {
  for (const std::vector<int64_t>& size :
       std::vector<std::vector<int64_t>>{{2, 3, 4, 5},
                                         {1, 1, 1, 1},
                                         {2, 0, 1, 3},
                                         {1, 1, 70, 90},
                                         {2, 3, 2, 3, 4},
                                         {1, 1, 1, 2, 1}}) {
    const auto rank = static_cast<int64_t>(size.size()) - 2;
    for (bool aligns_corners : {false, true}) {
      for (DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16,
                          DType::kBFloat16}) {
        const TestTensor theta = Pattern(dtype, {size[0], rank, rank + 1});
        const int64_t depth = rank == 3 ? size[2] : 1;
        const int64_t height = size[rank];
        const int64_t width = size[rank + 1];
        std::vector<double> expected;
        for (int64_t n = 0; n < size[0]; ++n) {
          for (int64_t i = 0; i < depth * height * width; ++i) {
            const double places[] = {
                PlaceOf(i % width, width, aligns_corners),
                PlaceOf(i / width % height, height, aligns_corners),
                PlaceOf(i / width / height, depth, aligns_corners)};
            for (int64_t row = 0; row < rank; ++row) {
              const int64_t first = (n * rank + row) * (rank + 1);
              double sum = theta.At(first + rank);
              for (int64_t j = 0; j < rank; ++j) {
                sum += theta.At(first + j) * places[j];
              }
              expected.push_back(sum);
            }
          }
        }
        std::vector<int64_t> extents = {size[0]};
        extents.insert(extents.end(), size.begin() + 2, size.end());
        extents.push_back(rank);
        EXPECT_THAT(MustRunOp(MakeCase(theta, size, aligns_corners)),
                    IsNear(TensorOf(dtype, *Shape::Create(extents), expected),
                           ToleranceFor(dtype, OpFamily::kArithmetic)));
      }
    }
  }
}

TEST(AffineGridTest, AnEmptyImageHasNoPlaces) {
  EXPECT_EQ(MustRunOp(MakeCase(Pattern(DType::kFloat32, {1, 2, 3}),
                               {1, 1, 0, 4}, false))
                .shape,
            Shape({1, 0, 4, 2}));
}

}  // namespace
}  // namespace tensord
