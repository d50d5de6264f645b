#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/training_kernels.h"
#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

namespace tensord {
namespace {

using ::testing::HasSubstr;

constexpr const char* kOps[] = {"NegativeLogLikelihoodLoss",
                                "SoftmaxCrossEntropyLoss"};

struct LossCase {
  Shape scores;
  std::string reduction;
  bool has_weights = false;
  std::optional<int64_t> ignore_index;
};

int64_t ClassesOf(const LossCase& c) { return c.scores[1]; }
int64_t InnerOf(const LossCase& c) {
  return c.scores.ElementCount(2, c.scores.rank());
}

OpCase MakeCase(const std::string& op, const LossCase& c, DType dtype,
                DType index) {
  Dims dims = {c.scores[0]};
  for (int d = 2; d < c.scores.rank(); ++d) dims.push_back(c.scores[d]);
  const Shape samples = Shape::Create(dims).value();
  std::vector<double> targets;
  for (int64_t s = 0; s < samples.element_count(); ++s) {
    const bool is_ignored = c.ignore_index.has_value() && s % 3 == 1;
    targets.push_back(static_cast<double>(
        is_ignored ? *c.ignore_index : (s * 7 + s / 5) % ClassesOf(c)));
  }
  OpCase test{
      .op = op,
      .inputs = {Pattern(dtype, c.scores), TensorOf(index, samples, targets)},
      .attributes = {{"reduction", c.reduction}},
      .opset = 22};
  if (c.ignore_index.has_value()) {
    test.attributes.emplace_back("ignore_index", *c.ignore_index);
  }
  if (c.has_weights) {
    test.inputs.push_back(Pattern(dtype, {ClassesOf(c)}, 2));
  }
  return test;
}

struct Expected {
  std::vector<double> loss;
  std::vector<double> log_prob;
};

Expected Reference(const OpCase& test, const LossCase& c) {
  const TestTensor& x = test.inputs[0];
  const int64_t classes = ClassesOf(c);
  const int64_t inner = InnerOf(c);
  Expected expected;
  for (int64_t i = 0; i < x.shape.element_count(); ++i) {
    expected.log_prob.push_back(x.At(i));
  }
  double sum = 0;
  double weights = 0;
  for (int64_t s = 0; s < c.scores[0] * inner; ++s) {
    const int64_t first = s / inner * classes * inner + s % inner;
    double total = 0;
    for (int64_t k = 0; k < classes; ++k) {
      total += std::exp(x.At(first + k * inner));
    }
    if (test.op == kOps[1]) {
      for (int64_t k = 0; k < classes; ++k) {
        expected.log_prob[first + k * inner] -= std::log(total);
      }
    }
    const auto target = static_cast<int64_t>(test.inputs[1].At(s));
    double loss = 0;
    if (target != c.ignore_index) {
      const double weight = c.has_weights ? test.inputs[2].At(target) : 1;
      loss = -weight * expected.log_prob[first + target * inner];
      sum += loss;
      weights += weight;
    }
    expected.loss.push_back(loss);
  }
  if (c.reduction != "none") {
    expected.loss = {c.reduction == "mean" ? sum / weights : sum};
  }
  return expected;
}

void ExpectMatches(const LossCase& c, DType dtype, DType index) {
  for (const char* op : kOps) {
    SCOPED_TRACE(absl::StrCat(op, " ", c.scores.ToString(), " ", c.reduction,
                              " ", DTypeName(dtype)));
    OpCase test = MakeCase(op, c, dtype, index);
    const Expected expected = Reference(test, c);
    const Shape shape =
        c.reduction == "none" ? test.inputs[1].shape : Shape({});
    const auto samples = static_cast<int64_t>(expected.loss.size());
    const Tolerance tolerance =
        ToleranceFor(dtype, OpFamily::kReduction, ClassesOf(c) + samples);
    EXPECT_THAT(MustRunOp(test),
                IsNear(TensorOf(dtype, shape, expected.loss), tolerance));
    if (test.op != kOps[1]) continue;
    test.output_count = 2;
    const auto both = RunOp(test);
    ASSERT_THAT(both, IsOk());
    EXPECT_THAT((*both)[0],
                IsNear(TensorOf(dtype, shape, expected.loss), tolerance));
    EXPECT_THAT((*both)[1], IsNear(TensorOf(dtype, c.scores, expected.log_prob),
                                   tolerance));
  }
}

// The shapes have one sample more than what runs side by side, more samples
// than a block, and more classes than make a block.
TEST(LossTest, MatchesTheDefinition) {
  for (const Shape& scores :
       {Shape({3, 5}), Shape({2, 1}), Shape({4100, 3}), Shape({2, 3, 65}),
        Shape({2, 5000, 3}), Shape({3, 5000}), Shape({2, 4200, 65}),
        Shape({2, 3, 2, 3, 2, 1, 2})}) {
    for (const char* reduction : {"none", "mean", "sum"}) {
      for (bool has_weights : {false, true}) {
        for (const std::optional<int64_t> ignored :
             {std::optional<int64_t>(), std::optional<int64_t>(0)}) {
          ExpectMatches({scores, reduction, has_weights, ignored},
                        DType::kFloat32, DType::kInt64);
        }
      }
    }
  }
}

// A block has one sum. One of fewer samples than lie side by side would read a
// cache line for each class of each sample.
TEST(LossTest, ManyClassesLeaveNeighbouringSamplesTogether) {
  const auto workspace_bytes = [](int64_t classes) {
    const DType dtypes[] = {DType::kFloat32, DType::kInt64, DType::kFloat32};
    const Layout layouts[] = {Layout::Contiguous(Shape({2, classes, 256})),
                              Layout::Contiguous(Shape({2, 256})),
                              Layout::Contiguous(Shape())};
    const OpParams params = LossParams{};
    return LossWorkspaceBytes({.op = OpKind::kSoftmaxCrossEntropyLoss,
                               .dtypes = dtypes,
                               .input_count = 2,
                               .layouts = layouts,
                               .host_constants = {},
                               .params = params});
  };
  EXPECT_EQ(workspace_bytes(64), 2 * 256 / 64 * 2 * sizeof(double));
  EXPECT_EQ(workspace_bytes(8192), workspace_bytes(64));
}

TEST(LossTest, EveryDTypeMatchesTheDefinition) {
  for (DType dtype :
       {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16}) {
    for (DType index : {DType::kInt32, DType::kInt64}) {
      for (const char* reduction : {"none", "mean", "sum"}) {
        ExpectMatches({Shape({2, 6, 17}), reduction, true, 3}, dtype, index);
      }
    }
  }
}

TEST(LossTest, AnIgnoredIndexNeedNotBeAClass) {
  for (int64_t ignored : {int64_t{-1}, int64_t{-100}, int64_t{10}}) {
    for (const char* reduction : {"none", "mean", "sum"}) {
      ExpectMatches({Shape({4, 3, 5}), reduction, true, ignored},
                    DType::kFloat32, DType::kInt32);
    }
  }
}

TEST(LossTest, ATargetThatIsNoClassIsRefused) {
  for (const char* op : kOps) {
    for (int64_t target : {int64_t{-1}, int64_t{3}, int64_t{1} << 40,
                           std::numeric_limits<int64_t>::min()}) {
      OpCase test{.op = op,
                  .inputs = {Pattern(DType::kFloat32, {2, 3}),
                             Tensor<int64_t>({2}, {0, target})},
                  .attributes = {{"ignore_index", int64_t{-2}}}};
      EXPECT_THAT(RunOp(test),
                  StatusIs(absl::StatusCode::kInvalidArgument,
                           HasSubstr(absl::StrCat(
                               "target ", target,
                               " at position 1 of 2 is outside [0, 3)"))));
    }
  }
}

// An ignored sample counts for nothing, whatever its scores and weight.
TEST(LossTest, IgnoredInfinitiesAndWeightsAreNotRead) {
  for (const char* op : kOps) {
    OpCase test{
        .op = op,
        .inputs = {Tensor({2, 2}, {0, 0, INFINITY, NAN}),
                   Tensor<int64_t>({2}, {0, 1}), Tensor({2}, {1, INFINITY})},
        .attributes = {{"ignore_index", int64_t{1}}}};
    const double expected = op == kOps[0] ? 0 : std::log(2);
    EXPECT_THAT(MustRunOp(test), Near({expected}, 1e-6));
    test.attributes.emplace_back("reduction", "none");
    EXPECT_THAT(MustRunOp(test), Near({expected, 0}, 1e-6));
  }
}

TEST(LossTest, HugeScoresStayFinite) {
  EXPECT_THAT(MustRunOp({.op = kOps[1],
                         .inputs = {Tensor({1, 2}, {1e30f, 1e30f}),
                                    Tensor<int64_t>({1}, {1})}}),
              Near({std::log(2)}, 1e-6));
}

TEST(LossTest, NoSamplesHaveASumAndNoMean) {
  for (const char* op : kOps) {
    OpCase test{.op = op,
                .inputs = {Tensor({0, 3}, {}), Tensor<int64_t>({0}, {})},
                .attributes = {{"reduction", "sum"}}};
    EXPECT_THAT(MustRunOp(test), Near({0}, 0));
    test.attributes = {};
    EXPECT_THAT(MustRunOp(test), Near({NAN}, 0));
    test.attributes = {{"reduction", "none"}};
    EXPECT_EQ(MustRunOp(test).shape, Shape({0}));
    // Samples without a place have none either.
    test.inputs = {Tensor({2, 3, 0}, {}), Tensor<int64_t>({2, 0}, {})};
    EXPECT_EQ(MustRunOp(test).shape, Shape({2, 0}));
  }
}

TEST(LossTest, WithoutClassesOnlyIgnoredTargetsAreTaken) {
  for (const char* op : kOps) {
    OpCase test{
        .op = op,
        .inputs = {Tensor({2, 0}, {}), Tensor<int64_t>({2}, {7, 7})},
        .attributes = {{"reduction", "none"}, {"ignore_index", int64_t{7}}}};
    EXPECT_THAT(MustRunOp(test), Near({0, 0}, 0));
    test.inputs[1] = Tensor<int64_t>({2}, {7, 0});
    EXPECT_THAT(RunOp(test), StatusIs(absl::StatusCode::kInvalidArgument,
                                      HasSubstr("outside [0, 0)")));
  }
}

TEST(LossTest, LogProbabilitiesAloneNeedNoLoss) {
  for (const char* reduction : {"none", "mean"}) {
    const auto outputs =
        RunOp({.op = kOps[1],
               .inputs = {Tensor({1, 2}, {3, 3}), Tensor<int64_t>({1}, {0})},
               .attributes = {{"reduction", reduction}},
               .output_count = 2,
               .absent_outputs = {0}});
    ASSERT_THAT(outputs, IsOk());
    EXPECT_THAT((*outputs)[1], Near({-std::log(2), -std::log(2)}, 1e-6));
  }
}

}  // namespace
}  // namespace tensord
