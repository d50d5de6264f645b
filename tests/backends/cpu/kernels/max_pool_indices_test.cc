#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/support/kernel_runner.h"
#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

namespace tensord {
namespace {

using Ints = std::vector<int64_t>;

std::vector<TestTensor> RunBoth(OpCase test) {
  test.output_count = 2;
  absl::StatusOr<std::vector<TestTensor>> outputs = RunOp(test);
  if (outputs.ok()) return *std::move(outputs);
  ADD_FAILURE() << outputs.status();
  return {{}, {}};
}

TEST(MaxPoolIndicesTest, CountRowsFirstOrColumnsFirst) {
  // 1 to 25 in 5 rows: the maxima of 2 by 2 windows are 7, 9, 17, 19.
  std::vector<float> values(25);
  for (int i = 0; i < 25; ++i) values[i] = static_cast<float>(i + 1);
  OpCase test{
      .op = "MaxPool",
      .inputs = {Tensor({1, 1, 5, 5}, values)},
      .attributes = {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}}};
  std::vector<TestTensor> outputs = RunBoth(test);
  EXPECT_THAT(outputs[0], Near({7, 9, 17, 19}, 0));
  EXPECT_EQ(outputs[1], Tensor<int64_t>({1, 1, 2, 2}, {6, 8, 16, 18}));
  test.attributes.push_back({"storage_order", int64_t{1}});
  outputs = RunBoth(test);
  EXPECT_EQ(outputs[1], Tensor<int64_t>({1, 1, 2, 2}, {6, 16, 8, 18}));
}

TEST(MaxPoolIndicesTest, PointAtTheMaximumInEveryDType) {
  const Shape shape({2, 3, 4, 5, 6});
  for (DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16,
                      DType::kBFloat16, DType::kInt8, DType::kUInt8}) {
    for (int64_t order : {0, 1}) {
      const TestTensor x = Pattern(dtype, shape);
      const OpCase test{.op = "MaxPool",
                        .inputs = {x},
                        .attributes = {{"kernel_shape", Ints{2, 3, 2}},
                                       {"strides", Ints{1, 2, 1}},
                                       {"dilations", Ints{2, 1, 3}},
                                       {"pads", Ints{1, 1, 0, 0, 1, 1}},
                                       {"storage_order", order}}};
      const std::vector<TestTensor> outputs = RunBoth(test);
      EXPECT_EQ(outputs[0], MustRunOp(test)) << DTypeName(dtype);
      for (int64_t i = 0; i < outputs[0].shape.element_count(); ++i) {
        const auto index = static_cast<int64_t>(outputs[1].At(i));
        const int64_t plane = index / 120;
        int64_t at = index % 120;
        if (order == 1) {  // 4 is the fastest extent, then 5
          at = (at % 4 * 5 + at / 4 % 5) * 6 + at / 20;
        }
        EXPECT_EQ(plane, i / (outputs[0].shape.element_count() / 6));
        ASSERT_EQ(x.At(plane * 120 + at), outputs[0].At(i)) << i;
      }
    }
  }
}

TEST(MaxPoolIndicesTest, TheFirstOfEqualOnesIsTaken) {
  const std::vector<TestTensor> outputs =
      RunBoth({.op = "MaxPool",
               .inputs = {Tensor({1, 1, 5}, {1, 3, 3, -INFINITY, -INFINITY})},
               .attributes = {{"kernel_shape", Ints{2}}}});
  EXPECT_THAT(outputs[0], Near({3, 3, 3, -INFINITY}, 0));
  EXPECT_EQ(outputs[1], Tensor<int64_t>({1, 1, 4}, {1, 1, 2, 3}));
}

TEST(MaxPoolIndicesTest, NaNsAreLeftOutAndPaddingHasNoIndex) {
  const std::vector<TestTensor> outputs = RunBoth(
      {.op = "MaxPool",
       .inputs = {Tensor({1, 1, 3}, {NAN, 2, NAN})},
       .attributes = {{"kernel_shape", Ints{2}}, {"pads", Ints{2, 0}}}});
  EXPECT_EQ(outputs[1], Tensor<int64_t>({1, 1, 4}, {-1, 0, 1, 1}));
  EXPECT_THAT(outputs[0], Near({-INFINITY, -INFINITY, 2, 2}, 0));
}

TEST(MaxPoolIndicesTest, TheMaximaMayBeAbsent) {
  const absl::StatusOr<std::vector<TestTensor>> outputs =
      RunOp({.op = "MaxPool",
             .inputs = {Tensor({1, 1, 4}, {1, 4, 2, 3})},
             .attributes = {{"kernel_shape", Ints{2}}, {"strides", Ints{2}}},
             .output_count = 2,
             .absent_outputs = {0}});
  ASSERT_THAT(outputs, IsOk());
  EXPECT_EQ((*outputs)[1], Tensor<int64_t>({1, 1, 2}, {1, 3}));
}

TEST(MaxUnpoolTest, PutsMaximaBackWhereTheyWere) {
  for (DType dtype :
       {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16}) {
    const TestTensor x = Pattern(dtype, {2, 3, 6, 8});
    const std::vector<std::pair<std::string, Attribute>> attributes = {
        {"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}};
    const std::vector<TestTensor> pooled =
        RunBoth({.op = "MaxPool", .inputs = {x}, .attributes = attributes});
    const TestTensor y = MustRunOp({.op = "MaxUnpool",
                                    .inputs = {pooled[0], pooled[1]},
                                    .attributes = attributes});
    ASSERT_EQ(y.shape, x.shape);
    std::vector<double> expected(x.shape.element_count());
    for (int64_t i = 0; i < pooled[0].shape.element_count(); ++i) {
      expected[static_cast<int64_t>(pooled[1].At(i))] = pooled[0].At(i);
    }
    EXPECT_THAT(y, IsNear(TensorOf(dtype, x.shape, expected), Tolerance{}));
  }
}

TEST(MaxUnpoolTest, AnOutputShapeMayHaveMoreThanTheIndicesCount) {
  OpCase test{
      .op = "MaxUnpool",
      .inputs = {Tensor({1, 1, 2}, {5, 6}), Tensor<int64_t>({1, 1, 2}, {3, 0}),
                 Tensor<int64_t>({3}, {1, 1, 4})},
      .attributes = {{"kernel_shape", Ints{2}}, {"strides", Ints{2}}},
      .constants = {2}};
  EXPECT_THAT(MustRunOp(test), Near({6, 0, 0, 5}, 0));
  test.inputs[2] = Tensor<int64_t>({3}, {1, 1, 6});
  EXPECT_THAT(MustRunOp(test), Near({6, 0, 0, 5, 0, 0}, 0));
  test.inputs[1] = Tensor<int64_t>({1, 1, 2}, {3, 4});
  EXPECT_THAT(RunOp(test),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       ::testing::HasSubstr("index 4 at 1 is outside [0, 4)")));
  test.inputs[2] = Tensor<int64_t>({3}, {1, 1, 3});
  EXPECT_THAT(RunOp(test),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       ::testing::HasSubstr("output_shape has 3 in dimension 2"
                                            ", where the attributes give 4")));
  test.inputs[2] = Tensor<int64_t>({3}, {1, 2, 4});
  EXPECT_THAT(RunOp(test),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       ::testing::HasSubstr("output_shape has 2 in dimension 1"
                                            ", where the attributes give 1")));
}

TEST(MaxUnpoolTest, EveryPlaneOfALargerOutputHasItsOwnElements) {
  // Two channels of 2 by 2, in planes of 3 by 4.
  EXPECT_THAT(MustRunOp({.op = "MaxUnpool",
                         .inputs = {Tensor({1, 2, 1, 1}, {5, 6}),
                                    Tensor<int64_t>({1, 2, 1, 1}, {3, 4 + 2}),
                                    Tensor<int64_t>({4}, {1, 2, 3, 4})},
                         .attributes = {{"kernel_shape", Ints{2, 2}}},
                         .constants = {2}}),
              Near({0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0,  //
                    0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0},
                   0));
}

TEST(MaxUnpoolTest, IndicesOutsideTheOutputAreRefused) {
  for (int64_t index : {int64_t{-1}, int64_t{4}, INT64_MIN, INT64_MAX}) {
    EXPECT_THAT(RunOp({.op = "MaxUnpool",
                       .inputs = {Tensor({1, 1, 2}, {5, 6}),
                                  Tensor<int64_t>({1, 1, 2}, {0, index})},
                       .attributes = {{"kernel_shape", Ints{2}},
                                      {"strides", Ints{2}}}}),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         ::testing::HasSubstr(absl::StrCat(
                             "index ", index, " at 1 is outside [0, 4)"))));
  }
}

TEST(MaxUnpoolTest, OfEqualIndicesTheLastWins) {
  EXPECT_THAT(MustRunOp({.op = "MaxUnpool",
                         .inputs = {Tensor({1, 1, 2}, {5, 6}),
                                    Tensor<int64_t>({1, 1, 2}, {1, 1})},
                         .attributes = {{"kernel_shape", Ints{1}}}}),
              Near({0, 6}, 0));
}

// The kernel would write them past the end of the node's outputs.
TEST(MaxPoolIndicesTest, AreNotFoundForNodesWithoutThem) {
  PoolParams params;
  params.kernel_shape = {2, 2};
  TestNode node{.op = OpKind::kMaxPool,
                .inputs = {Pattern(DType::kFloat32, Shape({1, 1, 4, 4}))},
                .outputs = {{DType::kFloat32, Shape({1, 1, 3, 3})}},
                .params = params};
  const Backend& backend = *CpuTestDevice().backend;
  EXPECT_EQ(KernelsFor(backend, node).size(), 1u);
  node.outputs.push_back({DType::kUndefined, Shape()});
  EXPECT_EQ(KernelsFor(backend, node).size(), 1u);
  node.outputs[1] = {DType::kInt64, Shape({1, 1, 3, 3})};
  EXPECT_EQ(KernelsFor(backend, node).size(), 1u);
}

}  // namespace
}  // namespace tensord
