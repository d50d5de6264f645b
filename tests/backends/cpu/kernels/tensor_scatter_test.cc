#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

namespace tensord {
namespace {

using ::testing::HasSubstr;

OpCase MakeCase(TestTensor cache, TestTensor update,
                std::vector<int64_t> places, const char* mode) {
  OpCase test{.op = "TensorScatter",
              .inputs = {std::move(cache), std::move(update)},
              .attributes = {{"mode", mode}},
              .opset = 24};
  if (!places.empty()) {
    const auto count = static_cast<int64_t>(places.size());
    test.inputs.push_back(Tensor<int64_t>({count}, places));
  }
  return test;
}

// By the standard's own loop: the cache [2, 3, 7, 5], the update [2, 3, S, 5].
std::vector<double> Reference(const OpCase& test) {
  const TestTensor& cache = test.inputs[0];
  const TestTensor& update = test.inputs[1];
  const int64_t written = update.shape[2];
  std::vector<double> y;
  for (int64_t i = 0; i < cache.shape.element_count(); ++i) {
    y.push_back(cache.At(i));
  }
  for (int64_t outer = 0; outer < 6; ++outer) {
    const auto place = static_cast<int64_t>(
        test.inputs.size() > 2 ? test.inputs[2].At(outer / 3) : 0);
    for (int64_t s = 0; s < written; ++s) {
      const int64_t row = ((place + s) % 7 + 7) % 7;
      for (int64_t i = 0; i < 5; ++i) {
        y[(outer * 7 + row) * 5 + i] = update.At((outer * written + s) * 5 + i);
      }
    }
  }
  return y;
}

TEST(TensorScatterTest, MatchesTheDefinition) {
  for (DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16,
                      DType::kBFloat16, DType::kInt8, DType::kInt64}) {
    const TestTensor cache = Pattern(dtype, {2, 3, 7, 5}, 1);
    for (int64_t written : {0, 1, 4, 7}) {
      const TestTensor update = Pattern(dtype, {2, 3, written, 5}, 2);
      for (const std::vector<int64_t>& places :
           {std::vector<int64_t>{}, {0, 7 - written}}) {
        const OpCase test = MakeCase(cache, update, places, "linear");
        EXPECT_THAT(MustRunOp(test),
                    IsNear(TensorOf(dtype, cache.shape, Reference(test)), {}));
      }
      for (const std::vector<int64_t>& places :
           {std::vector<int64_t>{}, {6, 15}, {-1, -20}}) {
        const OpCase test = MakeCase(cache, update, places, "circular");
        EXPECT_THAT(MustRunOp(test),
                    IsNear(TensorOf(dtype, cache.shape, Reference(test)), {}));
      }
    }
  }
}

TEST(TensorScatterTest, TheSequenceMayBeAnyDimensionButTheFirst) {
  OpCase test = MakeCase(Tensor({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}),
                         Tensor({2, 2}, {-1, -2, -3, -4}), {1, 3}, "circular");
  test.attributes.emplace_back("axis", int64_t{1});
  EXPECT_THAT(MustRunOp(test), Near({1, -1, -2, 4, -4, 6, 7, -3}, 0));
}

TEST(TensorScatterTest, AnUpdateThatDoesNotFitIsRefused) {
  for (int64_t place :
       {int64_t{-1}, int64_t{3}, std::numeric_limits<int64_t>::max(),
        std::numeric_limits<int64_t>::min()}) {
    EXPECT_THAT(
        RunOp(MakeCase(Pattern(DType::kFloat32, {2, 4, 1}),
                       Pattern(DType::kFloat32, {2, 2, 1}), {2, place},
                       "linear")),
        StatusIs(absl::StatusCode::kInvalidArgument,
                 HasSubstr(absl::StrCat("write index ", place,
                                        " of batch 1 is outside [0, 2]"))));
  }
}

TEST(TensorScatterTest, ACircularPlaceMayBeAnyNumber) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();  // -2 mod 3
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();   // 1 mod 3
  EXPECT_THAT(MustRunOp(MakeCase(Tensor({2, 3, 1}, {1, 2, 3, 4, 5, 6}),
                                 Tensor({2, 2, 1}, {-1, -2, -3, -4}),
                                 {kLeast, kMost}, "circular")),
              Near({1, -1, -2, 4, -3, -4}, 0));
}

TEST(TensorScatterTest, AnEmptyCacheStaysEmpty) {
  for (const Shape& shape :
       {Shape({0, 3, 2}), Shape({2, 0, 2}), Shape({2, 3, 0})}) {
    const TestTensor empty = Pattern(DType::kFloat32, shape);
    EXPECT_EQ(MustRunOp(MakeCase(empty, empty, {}, "circular")).shape, shape);
  }
}

}  // namespace
}  // namespace tensord
