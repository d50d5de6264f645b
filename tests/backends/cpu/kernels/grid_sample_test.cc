#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

namespace tensord {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The definition, one output at a time and one dimension after the other.
struct Reference {
  const TestTensor& x;
  std::string mode;
  std::string padding;
  bool aligns_corners;

  int rank() const { return x.shape.rank() - 2; }
  int64_t extent(int d) const { return x.shape[d + 2]; }

  // Turns back at each border until it is between them.
  double Mirror(double at, int d) const {
    const double margin = aligns_corners ? 0 : 0.5;
    const double low = -margin;
    const double high = static_cast<double>(extent(d)) - 1 + margin;
    if (high <= low) return 0;
    while (at < low || at > high) {
      at = at < low ? 2 * low - at : 2 * high - at;
    }
    return at;
  }

  double Place(double coordinate, int d) const {
    const auto length = static_cast<double>(extent(d));
    double at = aligns_corners ? (coordinate + 1) / 2 * (length - 1)
                               : ((coordinate + 1) * length - 1) / 2;
    if (mode == "nearest") at = std::nearbyint(at);
    const double margin = aligns_corners ? 0 : 0.5;
    if (at >= -margin && at <= length - 1 + margin) return at;
    if (padding == "border") return std::clamp(at, 0.0, length - 1);
    if (padding == "reflection") return Mirror(at, d);
    return at;
  }

  double Weight(double distance) const {
    const double t = std::abs(distance);
    if (mode == "nearest") return t < 0.5 ? 1 : 0;
    if (mode == "linear") return std::max(0.0, 1 - t);
    if (t <= 1) return 1.25 * t * t * t - 2.25 * t * t + 1;
    return t < 2 ? -0.75 * t * t * t + 3.75 * t * t - 6 * t + 3 : 0;
  }

  // The part of x from element `first` on that dimensions d and up span.
  double Sum(const std::vector<double>& places, int d, int64_t first) const {
    if (d == rank()) return x.At(first);
    double sum = 0;
    for (int64_t k = -2; k <= 2; ++k) {
      int64_t at = static_cast<int64_t>(std::floor(places[d])) + k;
      const double weight = Weight(static_cast<double>(at) - places[d]);
      if (weight == 0) continue;
      if (at < 0 || at >= extent(d)) {
        if (padding == "zeros") continue;
        at = padding == "border"
                 ? std::clamp<int64_t>(at, 0, extent(d) - 1)
                 : static_cast<int64_t>(Mirror(static_cast<double>(at), d));
      }
      sum += weight * Sum(places, d + 1, first * extent(d) + at);
    }
    return sum;
  }

  std::vector<double> Run(const TestTensor& grid) const {
    const int64_t places = grid.shape.ElementCount(1, rank() + 1);
    std::vector<double> y;
    for (int64_t plane = 0; plane < x.shape[0] * x.shape[1]; ++plane) {
      for (int64_t i = 0; i < places; ++i) {
        const int64_t row = plane / x.shape[1] * places + i;
        std::vector<double> at;
        for (int d = 0; d < rank(); ++d) {
          at.push_back(Place(grid.At(row * rank() + rank() - 1 - d), d));
        }
        y.push_back(Sum(at, 0, plane));
      }
    }
    return y;
  }
};

OpCase MakeCase(TestTensor x, TestTensor grid, const std::string& mode,
                const std::string& padding, bool aligns_corners) {
  return {.op = "GridSample",
          .inputs = {std::move(x), std::move(grid)},
          .attributes = {{"mode", mode},
                         {"padding_mode", padding},
                         {"align_corners", int64_t{aligns_corners}}},
          .opset = 20};
}

Shape OutputShape(const Shape& x, const Shape& grid) {
  std::vector<int64_t> extents = {x[0], x[1]};
  for (int d = 1; d + 1 < grid.rank(); ++d) extents.push_back(grid[d]);
  return *Shape::Create(extents);
}

const char* const kModes[] = {"nearest", "linear", "cubic"};
const char* const kPaddings[] = {"zeros", "border", "reflection"};

void ExpectTheDefinition(const TestTensor& x, const TestTensor& grid) {
  for (const char* mode : kModes) {
    for (const char* padding : kPaddings) {
      for (bool aligns_corners : {false, true}) {
        const Reference reference = {x, mode, padding, aligns_corners};
        EXPECT_THAT(MustRunOp(MakeCase(x, grid, mode, padding, aligns_corners)),
                    IsNear(TensorOf(x.dtype, OutputShape(x.shape, grid.shape),
                                    reference.Run(grid)),
                           ToleranceFor(x.dtype, OpFamily::kContraction, 16)))
            << mode << " " << padding << " " << aligns_corners << " "
            << x.shape.ToString();
      }
    }
  }
}

TEST(GridSampleTest, MatchesTheDefinitionInEachNumberOfDimensions) {
  const DType kFloat = DType::kFloat32;
  ExpectTheDefinition(Pattern(kFloat, {2, 3, 5}), Pattern(kFloat, {2, 40, 1}));
  ExpectTheDefinition(Pattern(kFloat, {2, 3, 4, 6}),
                      Pattern(kFloat, {2, 5, 7, 2}));
  ExpectTheDefinition(Pattern(kFloat, {1, 2, 1, 2}),
                      Pattern(kFloat, {1, 8, 4, 2}));
  ExpectTheDefinition(Pattern(kFloat, {2, 2, 3, 2, 4}),
                      Pattern(kFloat, {2, 2, 3, 3, 3}));
  ExpectTheDefinition(Pattern(kFloat, {1, 1, 2, 3, 2, 2}),
                      Pattern(kFloat, {1, 2, 2, 2, 2, 4}));
}

TEST(GridSampleTest, MatchesTheDefinitionInEachDType) {
  for (DType dtype : {DType::kFloat64, DType::kFloat16, DType::kBFloat16}) {
    ExpectTheDefinition(Pattern(dtype, {1, 2, 4, 6}),
                        Pattern(dtype, {1, 5, 7, 2}));
    ExpectTheDefinition(Pattern(dtype, {1, 2, 4, 6}),
                        Pattern(DType::kFloat32, {1, 5, 7, 2}));
    ExpectTheDefinition(Pattern(DType::kFloat32, {1, 2, 4, 6}),
                        Pattern(dtype, {1, 5, 7, 2}));
  }
}

TEST(GridSampleTest, ManyPlacesAreSharedOut) {
  ExpectTheDefinition(Pattern(DType::kFloat32, {2, 1, 4, 4}),
                      Pattern(DType::kFloat32, {2, 130, 70, 2}));
}

TEST(GridSampleTest, NearestTakesTheEvenOneHalfway) {
  // At -0.5, 0.5, 1.5 and 2.5.
  const TestTensor grid =
      Tensor({1, 4, 1}, {-1, -1 + 2.0f / 4, -1 + 4.0f / 4, -1 + 6.0f / 4});
  EXPECT_THAT(MustRunOp(MakeCase(Tensor({1, 1, 4}, {1, 2, 3, 4}), grid,
                                 "nearest", "zeros", false)),
              Near({1, 1, 3, 3}, 0));
}

TEST(GridSampleTest, CoordinatesThatAreNoNumbersAreOutside) {
  const TestTensor x = Tensor({1, 1, 2, 2}, {1, 2, 3, 4});
  const TestTensor grid =
      Tensor({1, 1, 6, 2}, {NAN, -1, -1, NAN, kInfinity, kInfinity, -kInfinity,
                            -1, 3e38f, 3e38f, -3e38f, 3e38f});
  for (const char* mode : kModes) {
    for (bool aligns_corners : {false, true}) {
      EXPECT_THAT(MustRunOp(MakeCase(x, grid, mode, "zeros", aligns_corners)),
                  Near({0, 0, 0, 0, 0, 0}, 0))
          << mode;
      EXPECT_THAT(
          MustRunOp(MakeCase(x, grid, mode, "reflection", aligns_corners)),
          ::testing::Truly([](const TestTensor& y) {
            return std::all_of(
                y.values<float>().begin(), y.values<float>().end(),
                [](float value) { return value >= 0 && value <= 5; });
          }))
          << mode;
    }
    EXPECT_THAT(MustRunOp(MakeCase(x, grid, mode, "border", true)),
                Near({1, 1, 4, 1, 4, 3}, 0))
        << mode;
  }
}

TEST(GridSampleTest, AnImageWithoutElementsIsZero) {
  for (const char* padding : kPaddings) {
    EXPECT_THAT(MustRunOp(MakeCase(Tensor({1, 2, 0, 3}, {}),
                                   Pattern(DType::kFloat32, {1, 2, 1, 2}),
                                   "linear", padding, false)),
                Near({0, 0, 0, 0}, 0));
  }
}

TEST(GridSampleTest, NothingGivesNothing) {
  EXPECT_EQ(
      MustRunOp(MakeCase(Tensor({0, 2, 3, 3}, {}), Tensor({0, 4, 5, 2}, {}),
                         "cubic", "zeros", true))
          .shape,
      Shape({0, 2, 4, 5}));
  EXPECT_EQ(
      MustRunOp(MakeCase(Pattern(DType::kFloat32, {1, 2, 3, 3}),
                         Tensor({1, 0, 5, 2}, {}), "linear", "border", false))
          .shape,
      Shape({1, 2, 0, 5}));
}

}  // namespace
}  // namespace tensord
