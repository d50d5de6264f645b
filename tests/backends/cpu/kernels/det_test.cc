#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

namespace tensord {
namespace {

// By the minors of the first row: the definition, for few rows.
double Determinant(const std::vector<double>& a, int64_t m) {
  if (m == 0) return 1;
  double sum = 0;
  for (int64_t column = 0; column < m; ++column) {
    std::vector<double> minor;
    for (int64_t i = m; i < m * m; ++i) {
      if (i % m != column) minor.push_back(a[i]);
    }
    const double term = a[column] * Determinant(minor, m - 1);
    sum += column % 2 == 0 ? term : -term;
  }
  return sum;
}

TEST(DetTest, MatchesTheDefinition) {
  for (int64_t m : {0, 1, 2, 3, 4, 6}) {
    for (const Shape& batch :
         {Shape({}), Shape({3}), Shape({2, 40}), Shape({0})}) {
      std::vector<int64_t> extents(batch.extents().begin(),
                                   batch.extents().end());
      extents.insert(extents.end(), {m, m});
      for (DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16,
                          DType::kBFloat16}) {
        const TestTensor x = Pattern(dtype, *Shape::Create(extents));
        std::vector<double> expected;
        for (int64_t b = 0; b < batch.element_count(); ++b) {
          std::vector<double> matrix;
          for (int64_t i = 0; i < m * m; ++i) {
            matrix.push_back(x.At(b * m * m + i));
          }
          expected.push_back(Determinant(matrix, m));
        }
        EXPECT_THAT(MustRunOp({.op = "Det", .inputs = {x}}),
                    IsNear(TensorOf(dtype, batch, expected),
                           ToleranceFor(dtype, OpFamily::kContraction, m * m)))
            << m << " " << batch.ToString();
      }
    }
  }
}

TEST(DetTest, RowsAreExchangedWhereAPivotIsZero) {
  EXPECT_THAT(MustRunOp({.op = "Det",
                         .inputs = {Tensor({2, 3, 3}, {0, 2, 0,  //
                                                       3, 0, 0,  //
                                                       0, 0, 4,  //
                                                       0, 0, 5,  //
                                                       6, 0, 0,  //
                                                       0, 7, 0})}}),
              Near({-24, 210}, 0));
}

TEST(DetTest, ASingularMatrixHasZero) {
  EXPECT_THAT(
      MustRunOp({.op = "Det",
                 .inputs = {Tensor({2, 2, 2}, {1, 2, 2, 4, 0, 1, 0, 3})}}),
      Near({0, 0}, 0));
}

TEST(DetTest, ALargeMatrixIsSharedOut) {
  // Ones above the diagonal change nothing.
  constexpr int64_t kRows = 200;
  std::vector<float> a(kRows * kRows, 0);
  for (int64_t i = 0; i < kRows; ++i) {
    for (int64_t j = i; j < kRows; ++j) a[i * kRows + j] = 1;
  }
  // The first two rows the other way round, and the first one added to all.
  for (int64_t j = 0; j < kRows; ++j) {
    for (int64_t i = 1; i < kRows; ++i) a[i * kRows + j] += a[j];
    std::swap(a[j], a[kRows + j]);
  }
  EXPECT_THAT(MustRunOp({.op = "Det", .inputs = {Tensor({kRows, kRows}, a)}}),
              Near({-1}, 1e-6));
}

TEST(DetTest, ANanStays) {
  const TestTensor y =
      MustRunOp({.op = "Det", .inputs = {Tensor({2, 2}, {0, 1, 1, NAN})}});
  EXPECT_TRUE(std::isnan(y.At(0)));
}

}  // namespace
}  // namespace tensord
