#include "backends/cuda/kernels/epilogue.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/cuda/kernels/expression_steps.h"

namespace tensord::cuda {
namespace {

bool IsFloating(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat64 ||
         dtype == DType::kFloat16 || dtype == DType::kBFloat16;
}

// How many of a few neighbours lie within one cycle of `extent`.
int RunWithin(int64_t extent) {
  int run = DeviceEpilogue::kMaxRun;
  while (extent % run != 0) run /= 2;
  return run;
}

// `input` is dense and broadcasts to y. False where that takes more digits than
// there is room for.
bool SetDigits(const Shape& input, const Shape& y, EpilogueInput& result) {
  // Runs of dimensions that are one to the input, innermost first.
  std::vector<EpilogueInput::Digit> parts;
  int64_t divisor = 1;
  int64_t stride = 1;
  for (int d = y.rank() - 1; d >= 0; --d) {
    if (y[d] == 1) continue;
    const int own = d - (y.rank() - input.rank());
    const int64_t extent = own < 0 ? 1 : input[own];
    const int64_t step = extent == 1 ? 0 : stride;
    if (!parts.empty() &&
        step == parts.back().stride * (step == 0 ? 1 : parts.back().extent)) {
      parts.back().extent *= y[d];
    } else {
      parts.push_back({divisor, y[d], step});
    }
    divisor *= y[d];
    stride *= extent;
  }
  result.digit_count = 0;
  result.run_length = DeviceEpilogue::kMaxRun;
  result.run_step = 0;
  if (!parts.empty()) {
    result.run_length = parts.size() == 1
                            ? 8
                            : RunWithin(std::max<int64_t>(parts[0].extent, 1));
    result.run_step = static_cast<int>(parts[0].stride);
  }
  result.is_same = parts.size() == 1 && parts[0].stride == 1;
  for (const EpilogueInput::Digit& part : parts) {
    if (part.stride == 0) continue;
    if (result.digit_count == EpilogueInput::kMaxDigits) return false;
    result.digits[result.digit_count++] = part;
  }
  return true;
}

// Where a step finds value `number` of the expression. `last` is the number of
// the step before's result.
uint8_t OperandOf(const Expression& expression, const ExpressionPlaces& places,
                  int32_t number, int32_t last, double& constant) {
  if (number == ExpressionStep::kNoOperand || number == last) {
    return EpilogueStep::kPrevious;
  }
  if (number == 0) return EpilogueStep::kOwn;
  if (number < expression.input_count) {
    return static_cast<uint8_t>(EpilogueStep::kFirstInput + number - 1);
  }
  const int32_t first = expression.FirstStepValue();
  if (number < first) {
    constant = expression.constants[number - expression.input_count];
    return EpilogueStep::kConstant;
  }
  return static_cast<uint8_t>(EpilogueStep::kFirstPlace +
                              places.place[number - first]);
}

void SetSteps(const Expression& expression, DeviceEpilogue& result) {
  const ExpressionPlaces places = AssignPlaces(expression);
  const int32_t first = expression.FirstStepValue();
  result.step_count = static_cast<int>(expression.steps.size());
  for (int s = 0; s < result.step_count; ++s) {
    const ExpressionStep& from = expression.steps[s];
    EpilogueStep& step = result.steps[s];
    step.op = from.op;
    const int32_t last = s == 0 ? 0 : first + s - 1;
    for (int k = 0; k < 2; ++k) {
      step.operands[k] = OperandOf(expression, places, from.operands[k], last,
                                   step.constants[k]);
      step.parameters[k] = from.parameters[k];
    }
    // Who reads it later than the next step?
    step.place = EpilogueStep::kNoPlace;
    for (int later = s + 2; later < result.step_count; ++later) {
      const auto& operands = expression.steps[later].operands;
      if (operands[0] == first + s || operands[1] == first + s) {
        step.place = static_cast<int8_t>(places.place[s]);
      }
    }
  }
}

// What ApplySimpleSteps() knows.
bool IsSimple(const EpilogueStep& step) {
  switch (step.op) {
    case OpKind::kAdd:
    case OpKind::kSub:
    case OpKind::kMul:
    case OpKind::kRelu:
    case OpKind::kClip:
    case OpKind::kHardSwish:
      break;
    default:
      return false;
  }
  const auto is_beside = [](uint8_t operand) {
    return operand == EpilogueStep::kConstant ||
           operand >= EpilogueStep::kFirstInput;
  };
  const bool is_first = step.operands[0] == EpilogueStep::kPrevious;
  const uint8_t other = step.operands[is_first ? 1 : 0];
  // A step of one operand names the result before as both.
  const bool has_one = step.op == OpKind::kRelu || step.op == OpKind::kClip ||
                       step.op == OpKind::kHardSwish;
  return (is_first || step.operands[1] == EpilogueStep::kPrevious) &&
         (has_one || is_beside(other)) && step.place == EpilogueStep::kNoPlace;
}

bool IsSimple(const DeviceEpilogue& epilogue) {
  for (int s = 0; s < epilogue.step_count; ++s) {
    if (!IsSimple(epilogue.steps[s])) return false;
  }
  for (int i = 0; i < epilogue.input_count; ++i) {
    if (epilogue.inputs[i].run_length < DeviceEpilogue::kMaxRun) return false;
  }
  return true;
}

absl::Status CheckSize(const Expression& expression) {
  const auto refuse = [](size_t count, absl::string_view what, int most) {
    return absl::UnimplementedError(
        absl::StrCat("its epilogue has ", count, " ", what, ", above ", most));
  };
  if (expression.steps.size() > DeviceEpilogue::kMaxSteps) {
    return refuse(expression.steps.size(), "steps", DeviceEpilogue::kMaxSteps);
  }
  if (expression.input_count - 1 > DeviceEpilogue::kMaxInputs) {
    return refuse(expression.input_count - 1, "inputs",
                  DeviceEpilogue::kMaxInputs);
  }
  const int32_t places = AssignPlaces(expression).count;
  if (places > DeviceEpilogue::kMaxPlaces) {
    return refuse(places, "results at once", DeviceEpilogue::kMaxPlaces);
  }
  for (const ExpressionStep& step : expression.steps) {
    if (IsExpressionStep(step.op)) continue;
    return absl::UnimplementedError(absl::StrCat(
        OpKindName(step.op), " is not among the element-wise steps"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status AcceptsEpilogue(const NodeSite& site) {
  if (site.params.epilogue == nullptr) return absl::OkStatus();
  if (!IsFloating(site.output_dtype(0))) {
    return absl::UnimplementedError(
        absl::StrCat("there are no element-wise steps for ",
                     DTypeName(site.output_dtype(0))));
  }
  const Epilogue& epilogue = *site.params.epilogue;
  if (absl::Status status = CheckSize(epilogue.expression); !status.ok()) {
    return status;
  }
  if (site.layouts.empty()) return absl::OkStatus();
  for (int i = 1; i < epilogue.expression.input_count; ++i) {
    const Shape& input = site.input(epilogue.own_input_count + i - 1).shape;
    EpilogueInput digits;
    if (SetDigits(input, site.output(0).shape, digits)) continue;
    return absl::UnimplementedError(absl::StrCat(
        "its epilogue broadcasts ", input.ToString(), " in more than ",
        EpilogueInput::kMaxDigits, " runs of dimensions"));
  }
  return absl::OkStatus();
}

EpilogueState::EpilogueState(const NodeSite& site) {
  if (site.params.epilogue == nullptr) return;
  const Epilogue& from = *site.params.epilogue;
  const Shape& y = site.output(0).shape;
  element_bytes = static_cast<int>(ByteSize(site.output_dtype(0), 1));
  epilogue.is_small = y.element_count() <= INT32_MAX;
  SetSteps(from.expression, epilogue);
  epilogue.input_count = from.expression.input_count - 1;
  for (int i = 1; i < from.expression.input_count; ++i) {
    SetDigits(site.input(from.own_input_count + i - 1).shape, y,
              epilogue.inputs[i - 1]);
  }
  epilogue.is_simple = IsSimple(epilogue);
}

absl::StatusOr<std::unique_ptr<KernelState>> PrepareEpilogue(
    const NodeSite& site, Device&) {
  if (site.params.epilogue == nullptr) return nullptr;
  return std::make_unique<EpilogueState>(site);
}

DeviceEpilogue EpilogueOf(const KernelCall& call) {
  if (call.params.epilogue == nullptr) return {};
  const auto& state = static_cast<const EpilogueState&>(*call.state);
  DeviceEpilogue epilogue = state.epilogue;
  const int own = call.params.epilogue->own_input_count;
  for (int i = own; i < static_cast<int>(call.inputs.size()); ++i) {
    epilogue.inputs[i - own].data =
        call.inputs[i].address() +
        call.input_layout(i).offset * state.element_bytes;
  }
  return epilogue;
}

double EpilogueFlops(const NodeSite& site) {
  if (site.params.epilogue == nullptr) return 0;
  constexpr double kStepFlops = 10;
  return kStepFlops *
         static_cast<double>(site.params.epilogue->expression.steps.size()) *
         static_cast<double>(site.output(0).shape.element_count());
}

}  // namespace tensord::cuda
