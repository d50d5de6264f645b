#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

// 16-bit floats in kernels whose formulas are tested with float32: they must
// give what float32 gives for the same numbers, rounded.
namespace tensord {
namespace {

TestTensor As(DType dtype, const TestTensor& tensor) {
  std::vector<double> values;
  for (int64_t i = 0; i < tensor.shape.element_count(); ++i) {
    values.push_back(tensor.At(i));
  }
  return TensorOf(dtype, tensor.shape, values);
}

// The inputs are float32; of them, the kept ones stay so.
void ExpectRoundsFloat32(OpCase test,
                         const std::vector<int>& kept_inputs = {}) {
  const auto wide = RunOp(test);
  ASSERT_THAT(wide, IsOk()) << test.op;
  const std::vector<TestTensor> inputs = test.inputs;
  for (DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      const bool is_kept = std::count(kept_inputs.begin(), kept_inputs.end(),
                                      static_cast<int>(i)) > 0;
      if (inputs[i].dtype == DType::kFloat32 && !is_kept) {
        test.inputs[i] = As(dtype, inputs[i]);
      }
    }
    const auto narrow = RunOp(test);
    ASSERT_THAT(narrow, IsOk()) << test.op << " " << DTypeName(dtype);
    ASSERT_EQ(narrow->size(), wide->size());
    for (size_t i = 0; i < wide->size(); ++i) {
      const TestTensor& expected = (*wide)[i];
      if (expected.dtype == DType::kFloat32) {
        EXPECT_THAT((*narrow)[i],
                    IsNear(As(dtype, expected),
                           ToleranceFor(dtype, OpFamily::kTranscendental)))
            << test.op << " " << DTypeName(dtype);
      } else {
        EXPECT_EQ((*narrow)[i], expected) << test.op;
      }
    }
  }
}

TestTensor X(Shape shape) { return Pattern(DType::kFloat32, std::move(shape)); }

TEST(HalfTest, Reductions) {
  for (const char* op :
       {"ReduceL1", "ReduceL2", "ReduceLogSumExp", "ReduceMax", "ReduceMean",
        "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare"}) {
    for (int64_t axis : {0, 1, 2}) {
      ExpectRoundsFloat32(
          {.op = op,
           .inputs = {X({3, 5, 17}), Tensor<int64_t>({1}, {axis})},
           .opset = 18,
           .constants = {1}});
    }
  }
  ExpectRoundsFloat32({.op = "ReduceLogSum",
                       .inputs = {Tensor({1, 3}, {1, 2.5f, 4})},
                       .opset = 18});
}

// Their sum passes the greatest number of 16 bits; their mean does not.
TEST(HalfTest, AMeanMayPassThroughLargeNumbers) {
  EXPECT_THAT(MustRunOp({.op = "ReduceMean",
                         .inputs = {TensorOf(DType::kFloat16, {3},
                                             {60000, 60000, 30000})},
                         .opset = 18}),
              IsNear(TensorOf(DType::kFloat16, {1}, {50000}), {}));
}

TEST(HalfTest, SelectionsAndTheirIndices) {
  for (int64_t axis : {0, 1}) {
    ExpectRoundsFloat32({.op = "ArgMax",
                         .inputs = {X({4, 70})},
                         .attributes = {{"axis", axis}}});
    ExpectRoundsFloat32({.op = "ArgMin",
                         .inputs = {X({4, 70})},
                         .attributes = {{"axis", axis}}});
    ExpectRoundsFloat32({.op = "TopK",
                         .inputs = {X({4, 7}), Tensor<int64_t>({1}, {3})},
                         .attributes = {{"axis", axis}},
                         .constants = {1},
                         .output_count = 2});
    ExpectRoundsFloat32({.op = "Hardmax",
                         .inputs = {X({4, 7})},
                         .attributes = {{"axis", axis}}});
  }
  ExpectRoundsFloat32(
      {.op = "NonZero", .inputs = {Tensor({2, 3}, {0, 1, -0.0f, 2, 0, -3})}});
}

TEST(HalfTest, NansAreGreatest) {
  const std::vector<double> values = {1, NAN, 3};
  for (DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    const TestTensor x = TensorOf(dtype, {3}, values);
    EXPECT_THAT(MustRunOp({.op = "ArgMax", .inputs = {x}}), Near({1}, 0));
    EXPECT_THAT(MustRunOp({.op = "ReduceMax", .inputs = {x}, .opset = 18}),
                Near({NAN}, 0));
  }
}

TEST(HalfTest, UniqueSortsNumbersRatherThanBits) {
  const auto outputs =
      RunOp({.op = "Unique",
             .inputs = {TensorOf(DType::kFloat16, {5}, {2, -1, 0.5, -1, -3})},
             .output_count = 2});
  ASSERT_THAT(outputs, IsOk());
  EXPECT_THAT((*outputs)[0], Near({-3, -1, 0.5, 2}, 0));
  EXPECT_THAT((*outputs)[1], Near({4, 1, 2, 0}, 0));
}

TEST(HalfTest, SumsOnTheWayAreFloat32) {
  for (const char* op : {"CumSum", "CumProd"}) {
    for (int64_t exclusive : {0, 1}) {
      ExpectRoundsFloat32({.op = op,
                           .inputs = {X({3, 50}), Tensor<int64_t>({}, {1})},
                           .attributes = {{"exclusive", exclusive}},
                           .constants = {1}});
    }
  }
  ExpectRoundsFloat32({.op = "Col2Im",
                       .inputs = {X({1, 9, 9}), Tensor<int64_t>({2}, {5, 5}),
                                  Tensor<int64_t>({2}, {3, 3})},
                       .opset = 18,
                       .constants = {1, 2}});
}

TEST(HalfTest, ScatterCombinesNumbers) {
  for (const char* reduction : {"add", "mul", "max", "min"}) {
    ExpectRoundsFloat32({.op = "ScatterElements",
                         .inputs = {X({2, 3}), Tensor<int64_t>({2, 1}, {2, 1}),
                                    Pattern(DType::kFloat32, {2, 1}, 2)},
                         .attributes = {{"axis", int64_t{1}},
                                        {"reduction", std::string(reduction)}},
                         .opset = 18});
    ExpectRoundsFloat32({.op = "ScatterND",
                         .inputs = {X({4}), Tensor<int64_t>({2, 1}, {2, 0}),
                                    Pattern(DType::kFloat32, {2}, 2)},
                         .attributes = {{"reduction", std::string(reduction)}},
                         .opset = 18});
  }
}

TEST(HalfTest, ResizeInEveryMode) {
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    ExpectRoundsFloat32({.op = "Resize",
                         .inputs = {X({1, 2, 4, 5}), TestTensor(), TestTensor(),
                                    Tensor<int64_t>({4}, {1, 2, 7, 3})},
                         .attributes = {{"mode", std::string(mode)}},
                         .opset = 19,
                         .constants = {3}});
  }
  ExpectRoundsFloat32(
      {.op = "Resize",
       .inputs = {Tensor({3}, {1, 2, 3}), Tensor({2}, {0.5f, 1.5f}),
                  TestTensor(), Tensor<int64_t>({1}, {3})},
       .attributes = {{"mode", std::string("linear")},
                      {"coordinate_transformation_mode",
                       std::string("tf_crop_and_resize")},
                      {"extrapolation_value", 9.5f}},
       .constants = {1, 3}},
      /*kept_inputs=*/{1});
}

TEST(HalfTest, MeanVarianceNormalization) {
  for (DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    EXPECT_THAT(MustRunOp({.op = "MeanVarianceNormalization",
                           .inputs = {TensorOf(dtype, {1, 2, 1, 2},
                                               {1, 3, 100, 104})}}),
                IsNear(TensorOf(dtype, {1, 2, 1, 2}, {-1, 1, -1, 1}), {}));
  }
}

TEST(HalfTest, IndicesAndDiagonals) {
  EXPECT_THAT(MustRunOp({.op = "OneHot",
                         .inputs = {TensorOf(DType::kFloat16, {2}, {1, -1}),
                                    TensorOf(DType::kFloat16, {1}, {3}),
                                    Tensor({2}, {0, 5})},
                         .constants = {1}}),
              Near({0, 5, 0, 0, 0, 5}, 0));
  for (DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    EXPECT_EQ(MustRunOp({.op = "EyeLike", .inputs = {Pattern(dtype, {2, 2})}}),
              TensorOf(dtype, {2, 2}, {1, 0, 0, 1}));
  }
}

}  // namespace
}  // namespace tensord
