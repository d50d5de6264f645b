#include "backends/cuda/kernels/simple_epilogue.h"

#include "absl/strings/str_cat.h"

namespace tensord::cuda {
namespace {

// The number of the other operand of an Add that reads `current`; -1 for
// another step.
int32_t OtherOperand(const ExpressionStep& step, int32_t current) {
  if (step.op != OpKind::kAdd) return -1;
  if (step.operands[0] == current && step.operands[1] != current) {
    return step.operands[1];
  }
  if (step.operands[1] == current && step.operands[0] != current) {
    return step.operands[0];
  }
  return -1;
}

// Whether the step is an activation; its place in the epilogue is filled then.
bool ReadActivation(const ExpressionStep& step, SimpleEpilogue& epilogue) {
  switch (step.op) {
    case OpKind::kRelu:
      epilogue.activation = Activation::kRelu;
      return true;
    case OpKind::kClip:
      epilogue.activation = Activation::kClip;
      epilogue.low = static_cast<float>(step.parameters[0]);
      epilogue.high = static_cast<float>(step.parameters[1]);
      return true;
    case OpKind::kGelu:
      epilogue.activation =
          step.parameters[0] != 0 ? Activation::kGeluByTanh : Activation::kGelu;
      return true;
    default:
      return false;
  }
}

}  // namespace

absl::StatusOr<SimpleEpilogue> MatchSimpleEpilogue(const OpParams& params) {
  SimpleEpilogue result;
  if (params.epilogue == nullptr) return result;
  const Expression& expression = params.epilogue->expression;
  int32_t current = 0;
  for (size_t i = 0; i < expression.steps.size(); ++i) {
    const ExpressionStep& step = expression.steps[i];
    const auto declined = [&] {
      return absl::UnimplementedError(
          absl::StrCat("an epilogue with ", OpKindName(step.op), " at step ", i,
                       " of ", expression.steps.size()));
    };
    if (result.activation != Activation::kNone) return declined();
    if (const int32_t other = OtherOperand(step, current); other > 0) {
      if (other >= expression.input_count ||
          result.addend_count == SimpleEpilogue::kMaxAddends) {
        return declined();
      }
      result.addend_inputs[result.addend_count++] =
          params.epilogue->own_input_count + other - 1;
    } else if (step.operands[0] != current || !ReadActivation(step, result)) {
      return declined();
    }
    current = expression.FirstStepValue() + static_cast<int32_t>(i);
  }
  return result;
}

AddendForm FormOfAddend(const Shape& addend, const Shape& y,
                        int channel_dimension) {
  if (addend.element_count() == y[channel_dimension]) {
    const int skipped = y.rank() - addend.rank();
    if (channel_dimension >= skipped &&
        addend[channel_dimension - skipped] == y[channel_dimension]) {
      return AddendForm::kPerChannel;
    }
  }
  return addend.element_count() == y.element_count() ? AddendForm::kWhole
                                                     : AddendForm::kOther;
}

}  // namespace tensord::cuda
