#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

namespace tensord {
namespace {

TEST(LrnTest, MatchesTheDefinition) {
  for (const Shape& shape :
       {Shape({2, 7, 3, 50}), Shape({1, 1, 4}), Shape({3, 5}), Shape({0, 5, 2}),
        Shape({2, 0, 2}), Shape({2, 3, 0})}) {
    for (int64_t size : {1, 2, 3, 4, 100}) {
      for (DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16,
                          DType::kBFloat16}) {
        SCOPED_TRACE(absl::StrCat(DTypeName(dtype), " ", shape.ToString(),
                                  ", size ", size));
        const float alpha = 0.5f, beta = 0.7f, bias = 2;
        const TestTensor x = Pattern(dtype, shape);
        const int64_t inner = shape.ElementCount(2, shape.rank());
        std::vector<double> expected;
        for (int64_t i = 0; i < shape.element_count(); ++i) {
          const int64_t c = i / inner % shape[1];
          double sum = 0;
          for (int64_t k = 0; k < shape[1]; ++k) {
            if (k < c - (size - 1) / 2 || k > c + size / 2) continue;
            const double element = x.At(i + (k - c) * inner);
            sum += element * element;
          }
          expected.push_back(x.At(i) /
                             std::pow(bias + double{alpha} / size * sum, beta));
        }
        EXPECT_THAT(MustRunOp({.op = "LRN",
                               .inputs = {x},
                               .attributes = {{"alpha", alpha},
                                              {"beta", beta},
                                              {"bias", bias},
                                              {"size", size}}}),
                    IsNear(TensorOf(dtype, shape, expected),
                           ToleranceFor(dtype, OpFamily::kTranscendental)));
      }
    }
  }
}

TEST(LrnTest, TheDefaultsAreTheStandards) {
  const TestTensor y =
      MustRunOp({.op = "LRN",
                 .inputs = {Tensor({1, 3, 1}, {100, 200, 300})},
                 .attributes = {{"size", int64_t{3}}}});
  const auto expected = [](double x, double sum) {
    return x / std::pow(1 + 0.0001 / 3 * sum, 0.75);
  };
  EXPECT_THAT(y,
              IsNear(TensorOf(DType::kFloat32, {1, 3, 1},
                              {expected(100, 5e4), expected(200, 14e4),
                               expected(300, 13e4)}),
                     ToleranceFor(DType::kFloat32, OpFamily::kTranscendental)));
}

}  // namespace
}  // namespace tensord
