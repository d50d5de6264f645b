#include "backends/cuda/kernels/simple_epilogue.h"

#include <memory>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tensord::cuda {
namespace {

using ::testing::ElementsAre;

constexpr int32_t kNone = ExpressionStep::kNoOperand;

OpParams Behind(int own_inputs, int32_t input_count,
                std::vector<ExpressionStep> steps,
                std::vector<double> constants = {}) {
  auto epilogue = std::make_shared<Epilogue>();
  epilogue->own_input_count = own_inputs;
  epilogue->expression.input_count = input_count;
  epilogue->expression.constants = std::move(constants);
  epilogue->expression.steps = std::move(steps);
  OpParams params;
  params.epilogue = std::move(epilogue);
  return params;
}

TEST(SimpleEpilogue, OfANodeWithoutOneIsEmpty) {
  const auto epilogue = MatchSimpleEpilogue(OpParams());
  ASSERT_TRUE(epilogue.ok());
  EXPECT_TRUE(epilogue->addends().empty());
  EXPECT_EQ(epilogue->activation, Activation::kNone);
}

TEST(SimpleEpilogue, NamesTheNodesInputs) {
  const auto epilogue = MatchSimpleEpilogue(Behind(
      3, 3,
      {{.op = OpKind::kAdd, .operands = {0, 2}},
       {.op = OpKind::kAdd, .operands = {1, 3}},
       {.op = OpKind::kClip, .operands = {4, kNone}, .parameters = {0, 6}}}));
  ASSERT_TRUE(epilogue.ok()) << epilogue.status();
  EXPECT_THAT(epilogue->addends(), ElementsAre(4, 3));
  EXPECT_EQ(epilogue->activation, Activation::kClip);
  EXPECT_EQ(epilogue->low, 0);
  EXPECT_EQ(epilogue->high, 6);
}

TEST(SimpleEpilogue, DeclinesWhatIsNotOfTheForm) {
  const std::vector<std::vector<ExpressionStep>> others = {
      // An activation before a sum.
      {{.op = OpKind::kRelu, .operands = {0, kNone}},
       {.op = OpKind::kAdd, .operands = {2, 1}}},
      // The result twice.
      {{.op = OpKind::kAdd, .operands = {0, 0}}},
      // Another operator of two.
      {{.op = OpKind::kMul, .operands = {0, 1}}},
      // A step that does not read the one before.
      {{.op = OpKind::kAdd, .operands = {0, 1}},
       {.op = OpKind::kRelu, .operands = {0, kNone}}},
      {{.op = OpKind::kRelu, .operands = {1, kNone}}}};
  for (size_t i = 0; i < others.size(); ++i) {
    EXPECT_FALSE(MatchSimpleEpilogue(Behind(2, 2, others[i])).ok()) << i;
  }
  // A constant that is added.
  EXPECT_FALSE(
      MatchSimpleEpilogue(
          Behind(2, 1, {{.op = OpKind::kAdd, .operands = {0, 1}}}, {0.5}))
          .ok());
}

TEST(SimpleEpilogue, AVectorIsPerChannelOnlyInTheChannelsPlace) {
  const Shape first{2, 8, 4, 4};
  EXPECT_EQ(FormOfAddend({8, 1, 1}, first, 1), AddendForm::kPerChannel);
  EXPECT_EQ(FormOfAddend({1, 8, 1, 1}, first, 1), AddendForm::kPerChannel);
  EXPECT_EQ(FormOfAddend({8}, first, 1), AddendForm::kOther);
  EXPECT_EQ(FormOfAddend({2, 8, 4, 4}, first, 1), AddendForm::kWhole);
  EXPECT_EQ(FormOfAddend({8, 4, 4}, first, 1), AddendForm::kOther);
  const Shape last{2, 4, 4, 8};
  EXPECT_EQ(FormOfAddend({8}, last, 3), AddendForm::kPerChannel);
  EXPECT_EQ(FormOfAddend({1}, last, 3), AddendForm::kOther);
}

}  // namespace
}  // namespace tensord::cuda
