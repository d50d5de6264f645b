#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

// Kernels that compute an epilogue behind their own result.
namespace tensord {
namespace {

using testing::HasSubstr;

TestTensor As(DType dtype, const TestTensor& tensor) {
  std::vector<double> values;
  for (int64_t i = 0; i < tensor.shape.element_count(); ++i) {
    values.push_back(tensor.At(i));
  }
  return TensorOf(dtype, tensor.shape, values);
}

// 0.5 * sigmoid(y * x1 + x2 - x3)
Expression Steps() {
  constexpr int32_t kNone = ExpressionStep::kNoOperand;
  return {.input_count = 4,
          .constants = {0.5},
          .steps = {{OpKind::kMul, {0, 1}},
                    {OpKind::kAdd, {5, 2}},
                    {OpKind::kSub, {6, 3}},
                    {OpKind::kSigmoid, {7, kNone}},
                    {OpKind::kMul, {4, 8}}}};
}

// What the steps make of y in double precision.
TestTensor Expected(const TestTensor& y, const std::vector<TestTensor>& x) {
  const auto run = [](const char* op, std::vector<TestTensor> inputs) {
    return MustRunOp({.op = op, .inputs = std::move(inputs)});
  };
  constexpr DType kWide = DType::kFloat64;
  TestTensor value = run("Mul", {As(kWide, y), As(kWide, x[0])});
  value = run("Add", {value, As(kWide, x[1])});
  value = run("Sub", {value, As(kWide, x[2])});
  value = run("Sigmoid", {value});
  return run("Mul", {value, TensorOf(kWide, Shape({}), {0.5})});
}

// Each kernel that takes the steps, beside itself without them: its own result
// is rounded.
void ExpectComputesSteps(OpCase test, const Shape& rows) {
  const auto plain = RunOpOnEveryKernel(test);
  ASSERT_THAT(plain, IsOk()) << test.op;
  const DType dtype = test.inputs[0].dtype;
  const Shape& y = (*plain)[0].outputs[0].shape;
  test.epilogue = Steps();
  test.epilogue_inputs = {Pattern(dtype, rows, 11), Pattern(dtype, y, 12),
                          TensorOf(dtype, Shape({1}), {0.25})};
  const auto fused = RunOpOnEveryKernel(test);
  ASSERT_THAT(fused, IsOk()) << test.op;
  for (const KernelOutputs& outputs : *fused) {
    const auto own = std::find_if(
        plain->begin(), plain->end(),
        [&](const KernelOutputs& o) { return o.kernel == outputs.kernel; });
    ASSERT_NE(own, plain->end()) << outputs.kernel;
    EXPECT_THAT(
        outputs.outputs[0],
        IsNear(As(dtype, Expected(own->outputs[0], test.epilogue_inputs)),
               ToleranceFor(dtype, OpFamily::kTranscendental)))
        << outputs.kernel;
  }
}

class EpilogueTest : public testing::TestWithParam<DType> {
 protected:
  static TestTensor X(Shape shape, uint64_t seed = 1) {
    return Pattern(GetParam(), std::move(shape), seed);
  }
};

TEST_P(EpilogueTest, BehindMatMul) {
  for (int64_t rows : {1, 3, 70}) {
    ExpectComputesSteps(
        {.op = "MatMul", .inputs = {X({2, rows, 9}), X({9, 33}, 2)}},
        Shape({33}));
  }
  ExpectComputesSteps({.op = "MatMul", .inputs = {X({0, 9}), X({9, 33}, 2)}},
                      Shape({33}));
}

TEST_P(EpilogueTest, BehindGemm) {
  for (int64_t rows : {1, 70}) {
    ExpectComputesSteps({.op = "Gemm", .inputs = {X({rows, 9}), X({9, 33}, 2)}},
                        Shape({33}));
    ExpectComputesSteps(
        {.op = "Gemm", .inputs = {X({rows, 9}), X({9, 33}, 2), X({33}, 3)}},
        Shape({rows, 1}));
  }
}

TEST_P(EpilogueTest, BehindConv) {
  for (int64_t kernel : {1, 3}) {
    // Weights are packed ahead where they are constant.
    for (const std::vector<int>& constants : {std::vector<int>{}, {1}}) {
      ExpectComputesSteps({.op = "Conv",
                           .inputs = {X({2, 3, 7, 11}),
                                      X({5, 3, kernel, kernel}, 2), X({5}, 3)},
                           .constants = constants},
                          Shape({5, 1, 1}));
    }
  }
  ExpectComputesSteps({.op = "Conv",
                       .inputs = {X({1, 4, 30}), X({4, 1, 3}, 2)},
                       .attributes = {{"group", int64_t{4}}}},
                      Shape({4, 1}));
}

TEST_P(EpilogueTest, BehindConvTranspose) {
  for (int64_t channels : {2, 24}) {
    ExpectComputesSteps({.op = "ConvTranspose",
                         .inputs = {X({2, channels, 5, 6}),
                                    X({channels, 3, 3, 3}, 2), X({3}, 3)},
                         .constants = {1}},
                        Shape({3, 1, 1}));
  }
}

INSTANTIATE_TEST_SUITE_P(Floats, EpilogueTest,
                         testing::Values(DType::kFloat32, DType::kFloat64,
                                         DType::kFloat16, DType::kBFloat16),
                         [](const auto& info) {
                           return std::string(DTypeName(info.param));
                         });

TEST(EpilogueRefusals, ASetOfStepsThatCannotBeDoneIsDeclined) {
  const TestTensor x = Pattern(DType::kFloat32, Shape({4, 4}));
  OpCase test{.op = "MatMul", .inputs = {x, x}};
  test.epilogue = Expression{
      .input_count = 1,
      .steps = {{OpKind::kSoftmax, {0, ExpressionStep::kNoOperand}}}};
  EXPECT_THAT(RunOp(test), StatusIs(absl::StatusCode::kUnimplemented,
                                    HasSubstr("no kernel accepts")));
  const TestTensor i = Pattern(DType::kInt32, Shape({4, 4}));
  test.inputs = {i, i};
  test.epilogue =
      Expression{.input_count = 1,
                 .steps = {{OpKind::kNeg, {0, ExpressionStep::kNoOperand}}}};
  EXPECT_THAT(RunOp(test), StatusIs(absl::StatusCode::kUnimplemented,
                                    HasSubstr("no kernel accepts")));
}

}  // namespace
}  // namespace tensord
