#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

// Operators that move elements or read shapes.
namespace tensord {
namespace {

using ::testing::HasSubstr;
using Ints = std::vector<int64_t>;

constexpr DType kDTypes[] = {DType::kFloat32, DType::kFloat64, DType::kInt8,
                             DType::kInt16,   DType::kInt32,   DType::kInt64,
                             DType::kUInt8,   DType::kUInt16,  DType::kUInt32,
                             DType::kUInt64,  DType::kBool,    DType::kFloat16,
                             DType::kBFloat16};

// The multi-index of a flat one.
Ints IndexOf(const Shape& shape, int64_t flat) {
  Ints index(shape.rank());
  for (int d = shape.rank() - 1; d >= 0; --d) {
    index[d] = flat % shape[d];
    flat /= shape[d];
  }
  return index;
}
int64_t FlatOf(const Shape& shape, const Ints& index) {
  int64_t flat = 0;
  for (int d = 0; d < shape.rank(); ++d) flat = flat * shape[d] + index[d];
  return flat;
}

TEST(ConcatTest, MatchesTheDefinitionForEveryDType) {
  for (DType dtype : kDTypes) {
    for (int64_t axis : {0, 1, 2, -1}) {
      const int at = static_cast<int>(axis < 0 ? axis + 3 : axis);
      OpCase test{.op = "Concat", .attributes = {{"axis", axis}}};
      Dims y_dims = {2, 3, 5};
      y_dims[at] = 0;
      for (int64_t extent : {1, 0, 17, 4}) {
        Dims dims = {2, 3, 5};
        dims[at] = extent;
        y_dims[at] += extent;
        test.inputs.push_back(
            Pattern(dtype, Shape::Create(dims).value(), extent + 1));
      }
      const Shape shape = Shape::Create(y_dims).value();
      std::vector<double> expected;
      for (int64_t i = 0; i < shape.element_count(); ++i) {
        Ints index = IndexOf(shape, i);
        size_t k = 0;
        while (index[at] >= test.inputs[k].shape[at]) {
          index[at] -= test.inputs[k++].shape[at];
        }
        expected.push_back(
            test.inputs[k].At(FlatOf(test.inputs[k].shape, index)));
      }
      EXPECT_EQ(MustRunOp(test), TensorOf(dtype, shape, expected))
          << DTypeName(dtype) << " axis " << axis;
    }
  }
}

TEST(ConcatTest, LargeRowsAreSharedOut) {
  const TestTensor a = Pattern(DType::kFloat32, {3, 50000}, 1);
  const TestTensor b = Pattern(DType::kFloat32, {3, 40001}, 2);
  const TestTensor y = MustRunOp(
      {.op = "Concat", .inputs = {a, b}, .attributes = {{"axis", int64_t{1}}}});
  for (int64_t i = 0; i < y.shape.element_count(); ++i) {
    const int64_t row = i / 90001, column = i % 90001;
    ASSERT_EQ(y.At(i), column < 50000 ? a.At(row * 50000 + column)
                                      : b.At(row * 40001 + column - 50000));
  }
}

TEST(TransposeTest, MatchesTheDefinitionForEveryPermutation) {
  const Shape shapes[] = {{},           {5},           {0, 3},
                          {33, 65},     {2, 3, 4},     {1, 5, 1, 7},
                          {2, 3, 4, 5}, {3, 40, 1, 35}};
  for (const Shape& shape : shapes) {
    Ints permutation;
    for (int d = 0; d < shape.rank(); ++d) permutation.push_back(d);
    do {
      const TestTensor x = Pattern(DType::kFloat32, shape);
      Dims dims;
      for (int64_t d : permutation) dims.push_back(shape[d]);
      const Shape y_shape = Shape::Create(dims).value();
      std::vector<double> expected;
      for (int64_t i = 0; i < shape.element_count(); ++i) {
        const Ints y_index = IndexOf(y_shape, i);
        Ints x_index(shape.rank());
        for (int d = 0; d < shape.rank(); ++d) {
          x_index[permutation[d]] = y_index[d];
        }
        expected.push_back(x.At(FlatOf(shape, x_index)));
      }
      EXPECT_EQ(MustRunOp({.op = "Transpose",
                           .inputs = {x},
                           .attributes = {{"perm", permutation}}}),
                TensorOf(DType::kFloat32, y_shape, expected))
          << shape.ToString() << " " << testing::PrintToString(permutation);
    } while (std::next_permutation(permutation.begin(), permutation.end()));
  }
}

TEST(TransposeTest, EveryDTypeAndTheDefaultOrder) {
  for (DType dtype : kDTypes) {
    const TestTensor x = Pattern(dtype, {2, 3});
    std::vector<double> expected;
    for (int64_t i : {0, 3, 1, 4, 2, 5}) expected.push_back(x.At(i));
    EXPECT_EQ(MustRunOp({.op = "Transpose", .inputs = {x}}),
              TensorOf(dtype, {3, 2}, expected));
  }
}

TEST(GatherTest, MatchesTheDefinition) {
  const TestTensor indices = Tensor<int64_t>({2, 2}, {2, 0, -1, -3});
  for (DType dtype : kDTypes) {
    const TestTensor x = Pattern(dtype, {3, 3, 3});
    for (int64_t axis : {0, 1, 2, -1}) {
      const int at = static_cast<int>(axis < 0 ? axis + 3 : axis);
      const Shape y_shape = at == 0   ? Shape({2, 2, 3, 3})
                            : at == 1 ? Shape({3, 2, 2, 3})
                                      : Shape({3, 3, 2, 2});
      std::vector<double> expected;
      for (int64_t i = 0; i < 36; ++i) {
        Ints index = IndexOf(y_shape, i);
        const int64_t picked =
            static_cast<int64_t>(indices.At(index[at] * 2 + index[at + 1]));
        index[at] = picked < 0 ? picked + 3 : picked;
        index.erase(index.begin() + at + 1);
        expected.push_back(x.At(FlatOf(x.shape, index)));
      }
      EXPECT_EQ(MustRunOp({.op = "Gather",
                           .inputs = {x, indices},
                           .attributes = {{"axis", axis}}}),
                TensorOf(dtype, y_shape, expected));
    }
  }
}

TEST(GatherTest, ScalarIndicesTakeTheAxisAway) {
  EXPECT_EQ(
      MustRunOp({.op = "Gather",
                 .inputs = {Tensor({3}, {5, 6, 7}), Tensor<int32_t>({}, {1})}}),
      Tensor({}, {6}));
}

TEST(GatherTest, EmptyOperands) {
  EXPECT_EQ(
      MustRunOp({.op = "Gather",
                 .inputs = {Tensor({0, 2}, {}), Tensor<int64_t>({0}, {})}})
          .shape,
      Shape({0, 2}));
  EXPECT_EQ(
      MustRunOp({.op = "Gather",
                 .inputs = {Tensor({2, 0}, {}), Tensor<int64_t>({1}, {1})}})
          .shape,
      Shape({1, 0}));
}

TEST(GatherTest, AnIndexOutOfRangeIsTheClientsErrorWithTheNumbers) {
  for (int64_t bad : {int64_t{3}, int64_t{-4}, INT64_MAX, INT64_MIN}) {
    EXPECT_THAT(RunOp({.op = "Gather",
                       .inputs = {Tensor({3}, {5, 6, 7}),
                                  Tensor<int64_t>({2}, {0, bad})}}),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr(absl::StrCat(
                             "index ", bad,
                             " at position 1 of 2 is outside [-3, 3)"))));
  }
  EXPECT_THAT(
      RunOp({.op = "Gather",
             .inputs = {Tensor({0, 2}, {}), Tensor<int32_t>({1}, {0})}}),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("outside [0, 0)")));
}

struct PadCase {
  std::string mode;
  Shape x;
  Ints pads;
  Shape y;
};

int64_t Source(const std::string& mode, int64_t i, int64_t extent) {
  // One step at a time, as the definition does.
  while (mode != "constant" && (i < 0 || i >= extent)) {
    if (mode == "edge") i = i < 0 ? 0 : extent - 1;
    if (mode == "wrap") i = i < 0 ? i + extent : i - extent;
    if (mode == "reflect") i = i < 0 ? -i : 2 * (extent - 1) - i;
    if (extent == 1) i = 0;
  }
  return i;
}

const PadCase kPads[] = {
    {"constant", {2, 3}, {1, 2, 0, 1}, {3, 6}},
    {"constant", {2, 3}, {0, 0, 0, 0}, {2, 3}},
    {"constant", {2, 0}, {0, 1, 0, 1}, {2, 2}},
    {"constant", {0, 3}, {2, 0, 0, 1}, {2, 4}},
    {"constant", {4, 5}, {-1, 2, -2, -3}, {1, 4}},
    {"constant", {2}, {-2, 3}, {3}},
    {"constant", {2}, {5, -4}, {3}},
    {"constant", {1, 2, 1, 3}, {0, 1, 2, 0, 0, 0, 1, 2}, {1, 3, 4, 5}},
    {"edge", {2, 3}, {1, 2, 2, 1}, {5, 6}},
    {"edge", {3}, {-1, 2}, {4}},
    {"reflect", {3, 4}, {2, 3, 1, 2}, {6, 9}},
    {"reflect", {3}, {5, 6}, {14}},
    {"reflect", {1}, {2, 2}, {5}},
    {"wrap", {3, 2}, {2, 1, 4, 3}, {9, 6}},
};

TEST(PadTest, EveryModeMatchesTheDefinition) {
  for (const PadCase& c : kPads) {
    const TestTensor x = Pattern(DType::kFloat32, c.x);
    std::vector<double> expected;
    for (int64_t i = 0; i < c.y.element_count(); ++i) {
      Ints index = IndexOf(c.y, i);
      bool is_outside = false;
      for (int d = 0; d < c.x.rank(); ++d) {
        index[d] = Source(c.mode, index[d] - c.pads[d], c.x[d]);
        is_outside |= index[d] < 0 || index[d] >= c.x[d];
      }
      expected.push_back(is_outside ? 9 : x.At(FlatOf(c.x, index)));
    }
    const int64_t pad_count = static_cast<int64_t>(c.pads.size());
    EXPECT_EQ(MustRunOp({.op = "Pad",
                         .inputs = {x, Tensor<int64_t>({pad_count}, c.pads),
                                    Tensor({}, {9})},
                         .attributes = {{"mode", c.mode}},
                         .opset = 19,
                         .constants = {1}}),
              TensorOf(DType::kFloat32, c.y, expected))
        << c.mode << " " << c.x.ToString() << " "
        << testing::PrintToString(c.pads);
  }
}

TEST(PadTest, EveryDTypeWithAxesOfEitherKind) {
  for (DType dtype : kDTypes) {
    for (DType axes : {DType::kInt32, DType::kInt64}) {
      EXPECT_EQ(MustRunOp({.op = "Pad",
                           .inputs = {TensorOf(dtype, {1, 2}, {1, 1}),
                                      Tensor<int64_t>({2}, {1, 0}),
                                      TestTensor(), TensorOf(axes, {1}, {-1})},
                           .opset = 18,
                           .constants = {1, 3}}),
                TensorOf(dtype, {1, 3}, {0, 1, 1}));
    }
  }
}

TEST(PadTest, AttributesOfOldVersionsBecomeInputs) {
  EXPECT_EQ(MustRunOp({.op = "Pad",
                       .inputs = {Tensor({2}, {1, 2})},
                       .attributes = {{"pads", Ints{1, 1}}, {"value", 5.0f}},
                       .opset = 9}),
            Tensor({4}, {5, 1, 2, 5}));
}

TEST(PadTest, AScalarHasNothingToPad) {
  EXPECT_EQ(MustRunOp({.op = "Pad",
                       .inputs = {Tensor({}, {4}), Tensor<int64_t>({0}, {})},
                       .constants = {1}}),
            Tensor({}, {4}));
}

TEST(NonZeroTest, FindsThemInOrder) {
  const TestTensor y = MustRunOp(
      {.op = "NonZero", .inputs = {Tensor({2, 3}, {0, 2, 0, -1, -0.0f, NAN})}});
  EXPECT_EQ(y, Tensor<int64_t>({2, 3}, {0, 1, 1, 1, 0, 2}));
}

TEST(NonZeroTest, EveryDTypeNoneAllAndEmpty) {
  for (DType dtype : kDTypes) {
    if (dtype == DType::kFloat16 || dtype == DType::kBFloat16) continue;
    EXPECT_EQ(MustRunOp({.op = "NonZero",
                         .inputs = {TensorOf(dtype, {3}, {1, 0, 1})}}),
              Tensor<int64_t>({1, 2}, {0, 2}));
    EXPECT_EQ(MustRunOp({.op = "NonZero",
                         .inputs = {TensorOf(dtype, {2, 2}, {0, 0, 0, 0})}}),
              Tensor<int64_t>({2, 0}, {}));
    EXPECT_EQ(
        MustRunOp({.op = "NonZero", .inputs = {TensorOf(dtype, {0}, {})}}),
        Tensor<int64_t>({1, 0}, {}));
  }
  EXPECT_EQ(MustRunOp({.op = "NonZero", .inputs = {Tensor({}, {5})}}).shape,
            Shape({0, 1}));
}

TEST(ShapeTest, TheKernelReadsTheLayout) {
  EXPECT_EQ(
      MustRunOp({.op = "Shape", .inputs = {Pattern(DType::kBool, {2, 0, 5})}}),
      Tensor<int64_t>({3}, {2, 0, 5}));
  EXPECT_EQ(
      MustRunOp({.op = "Shape",
                 .inputs = {Pattern(DType::kFloat16, {2, 3, 5})},
                 .attributes = {{"start", int64_t{-2}}, {"end", int64_t{-1}}}}),
      Tensor<int64_t>({1}, {3}));
}

TEST(IdentityTest, IsAView) {
  const TestTensor x = Pattern(DType::kInt8, {3, 2});
  EXPECT_EQ(MustRunOp({.op = "Identity", .inputs = {x}}), x);
}

}  // namespace
}  // namespace tensord
