#include "engine/onnx/batch_normalization.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/engine/onnx/model_text.h"
#include "tests/support/matchers.h"

namespace tensord {
namespace {

using testing::HasSubstr;

constexpr char kTraining[] =
    "attribute { name: 'training_mode' type: INT i: 1 }";

std::string Model(const Shape& x, DType dtype, DType statistics,
                  const std::string& node, int opset = 15) {
  std::string graph;
  for (const char* name : {"x", "scale", "bias", "mean", "var"}) {
    const bool is_x = name == std::string("x");
    absl::StrAppend(&graph, "input { name: '", name,
                    "' type { tensor_type { elem_type: ",
                    static_cast<int>(is_x ? dtype : statistics), " shape { ");
    for (int d = 0; d < (is_x ? x.rank() : 1); ++d) {
      absl::StrAppend(&graph, "dim {} ");
    }
    absl::StrAppend(&graph, "} } } } ");
  }
  return absl::StrCat("opset_import { version: ", opset, " } graph { ", graph,
                      "node { name: 'n' op_type: 'BatchNormalization' ", node,
                      "} ");
}

constexpr char kOperands[] = "input: ['x', 'scale', 'bias', 'mean', 'var'] ";
constexpr char kOutputs[] = "output: ['y', 'new_mean', 'new_var'] ";
constexpr char kResults[] =
    "output { name: 'y' } output { name: 'new_mean' } output { name: 'new_var' "
    "} }";

std::vector<TestTensor> Inputs(const Shape& x, DType dtype, DType statistics) {
  std::vector<TestTensor> inputs = {Pattern(dtype, x, 1)};
  for (int i = 0; i < 4; ++i) {
    inputs.push_back(Pattern(statistics, {x[1]}, i + 2));
  }
  return inputs;
}

struct Expected {
  std::vector<double> y, mean, variance;
};

Expected Reference(const std::vector<TestTensor>& inputs, double epsilon,
                   double momentum) {
  const TestTensor& x = inputs[0];
  const int64_t channels = x.shape[1];
  const int64_t inner = x.shape.ElementCount(2, x.shape.rank());
  const int64_t elements = x.shape.element_count();
  const double count = static_cast<double>(elements) / channels;
  std::vector<double> mean(channels), variance(channels);
  const auto channel_of = [&](int64_t i) { return i / inner % channels; };
  for (int64_t i = 0; i < elements; ++i) mean[channel_of(i)] += x.At(i) / count;
  for (int64_t i = 0; i < elements; ++i) {
    variance[channel_of(i)] +=
        std::pow(x.At(i) - mean[channel_of(i)], 2) / count;
  }
  Expected expected;
  for (int64_t i = 0; i < elements; ++i) {
    const int64_t c = channel_of(i);
    expected.y.push_back((x.At(i) - mean[c]) /
                             std::sqrt(variance[c] + epsilon) *
                             inputs[1].At(c) +
                         inputs[2].At(c));
  }
  for (int64_t c = 0; c < channels; ++c) {
    expected.mean.push_back(inputs[3].At(c) * momentum +
                            mean[c] * (1 - momentum));
    expected.variance.push_back(inputs[4].At(c) * momentum +
                                variance[c] * (1 - momentum));
  }
  return expected;
}

TEST(BatchNormalizationTrainingTest, MatchesTheDefinition) {
  for (const Shape& shape : {Shape({5, 3}), Shape({2, 3, 4, 5})}) {
    for (const auto& [dtype, statistics] :
         {std::pair(DType::kFloat32, DType::kFloat32),
          std::pair(DType::kFloat64, DType::kFloat64),
          std::pair(DType::kFloat16, DType::kFloat32)}) {
      for (int opset : {14, 15, 22}) {
        const std::vector<TestTensor> inputs = Inputs(shape, dtype, statistics);
        const auto outputs = RunText(
            Model(shape, dtype, statistics,
                  absl::StrCat(kOperands, kOutputs, kTraining,
                               "attribute { name: 'epsilon' type: FLOAT f: "
                               "0.125 } attribute { name: 'momentum' type: "
                               "FLOAT f: 0.75 }"),
                  opset) +
                kResults,
            inputs);
        ASSERT_THAT(outputs, IsOk());
        const Expected expected = Reference(inputs, 0.125, 0.75);
        EXPECT_THAT((*outputs)[0],
                    IsNear(TensorOf(dtype, shape, expected.y),
                           ToleranceFor(dtype, OpFamily::kReduction)));
        EXPECT_THAT((*outputs)[1],
                    IsNear(TensorOf(statistics, {3}, expected.mean),
                           ToleranceFor(statistics, OpFamily::kReduction)));
        EXPECT_THAT((*outputs)[2],
                    IsNear(TensorOf(statistics, {3}, expected.variance),
                           ToleranceFor(statistics, OpFamily::kReduction)));
      }
    }
  }
}

TEST(BatchNormalizationTrainingTest, DefaultsAreTheStandards) {
  const Shape shape({4, 2});
  const std::vector<TestTensor> inputs =
      Inputs(shape, DType::kFloat32, DType::kFloat32);
  const auto outputs = RunText(
      Model(
          shape, DType::kFloat32, DType::kFloat32,
          absl::StrCat(kOperands, "output: ['y', '', 'new_var'] ", kTraining)) +
          "output { name: 'y' } output { name: 'new_var' } }",
      inputs);
  ASSERT_THAT(outputs, IsOk());
  const Expected expected = Reference(inputs, 1e-5, 0.9);
  EXPECT_THAT((*outputs)[0], Near(expected.y, 1e-5));
  EXPECT_THAT((*outputs)[1], Near(expected.variance, 1e-6));
}

std::string RefusalOfNode(const std::string& node, int opset = 15) {
  return RefusalOf(
      Model(Shape({4, 2}), DType::kFloat32, DType::kFloat32, node, opset) +
      "output { name: 'y' } }");
}

TEST(BatchNormalizationTrainingTest, RefusesWhatTheOperatorDoesNotHave) {
  const std::string y = "output: 'y' ";
  EXPECT_EQ(RefusalOfNode(absl::StrCat(kOperands, y, kTraining)), "");
  EXPECT_THAT(RefusalOfNode(
                  absl::StrCat("input: ['x', 'scale', 'bias'] ", y, kTraining)),
              HasSubstr("node 'n' (BatchNormalization): 3 inputs and 1"));
  EXPECT_THAT(RefusalOfNode(absl::StrCat(
                  "input: ['x', 'scale', '', 'mean', 'var'] ", y, kTraining)),
              HasSubstr("where it has 5, all given"));
  EXPECT_THAT(RefusalOfNode(absl::StrCat(
                  kOperands, "output: ['y', 'a', 'b', 'c'] ", kTraining)),
              HasSubstr("5 inputs and 4 outputs"));
  EXPECT_THAT(RefusalOfNode(
                  absl::StrCat(kOperands, y, kTraining,
                               "attribute { name: 'spatial' type: INT i: 1 }")),
              HasSubstr("attribute 'spatial': it has no such"));
  EXPECT_THAT(RefusalOfNode(absl::StrCat(
                  kOperands, y, kTraining,
                  "attribute { name: 'momentum' type: INT i: 1 }")),
              HasSubstr("momentum"));
  // Before operator set 14 there was no such attribute.
  EXPECT_THAT(RefusalOfNode(absl::StrCat(kOperands, y, kTraining), 13),
              HasSubstr("training_mode"));
}

TEST(BatchNormalizationTrainingTest, InferenceStaysOneNode) {
  const auto def =
      ReadText(Model(Shape({4, 2}), DType::kFloat32, DType::kFloat32,
                     absl::StrCat(kOperands,
                                  "output: 'y' attribute { name: "
                                  "'training_mode' type: INT i: 0 }")) +
               "output { name: 'y' } }");
  ASSERT_THAT(def, IsOk());
  EXPECT_EQ(NodesOf(*def),
            "BatchNormalization(x, scale, bias, mean, var) -> y");
}

TEST(BatchNormalizationTrainingTest, StatisticsOfOtherChannelsAreRefused) {
  const Shape shape({4, 2});
  std::vector<TestTensor> inputs =
      Inputs(shape, DType::kFloat32, DType::kFloat32);
  inputs[3] = Pattern(DType::kFloat32, {1});
  EXPECT_EQ(RunText(Model(shape, DType::kFloat32, DType::kFloat32,
                          absl::StrCat(kOperands, kOutputs, kTraining)) +
                        kResults,
                    inputs)
                .status()
                .code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace tensord
