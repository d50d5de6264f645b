// ElementwiseChain, and the tables of chain.h.

#include "backends/vulkan/kernels/chain.h"

#include <array>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/vulkan/kernels/row_list.h"
#include "backends/vulkan/kernels/rows.h"
#include "vulkan/shader_codes.h"

namespace tensord::vulkan {
namespace {

// chain.glsl's.
constexpr uint32_t kPrevious = 0;
constexpr uint32_t kOwn = 1;
constexpr uint32_t kConstant = 2;
constexpr uint32_t kFirstPlace = 8;
constexpr uint32_t kFirstInput = 16;
constexpr uint32_t kNoPlace = 255;

absl::Status CheckSize(const Expression& expression, int input_count) {
  const auto check = [](int64_t count, absl::string_view what, int most) {
    return count <= most ? absl::OkStatus()
                         : absl::UnimplementedError(absl::StrCat(
                               count, " ", what, " are above ", most));
  };
  for (const absl::Status& status :
       {check(static_cast<int64_t>(expression.steps.size()), "steps",
              ChainTable::kMostSteps),
        check(input_count, "inputs", ChainTable::kMostInputs),
        check(AssignPlaces(expression).count, "results at once",
              ChainTable::kMostPlaces)}) {
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// `input` is dense and broadcasts to y.
absl::Status SetDigits(const Shape& input, const Shape& y,
                       ChainTable::Input& result) {
  // Runs of dimensions that are one to the input, innermost first.
  std::vector<ChainTable::Digit> parts;
  uint32_t divisor = 1;
  uint32_t stride = 1;
  for (int d = y.rank() - 1; d >= 0; --d) {
    if (y[d] == 1) continue;
    const int own = d - (y.rank() - input.rank());
    const auto extent = static_cast<uint32_t>(own < 0 ? 1 : input[own]);
    const uint32_t step = extent == 1 ? 0 : stride;
    if (!parts.empty() &&
        step == parts.back().stride * (step == 0 ? 1 : parts.back().extent)) {
      parts.back().extent *= static_cast<uint32_t>(y[d]);
    } else {
      parts.push_back({divisor, static_cast<uint32_t>(y[d]), step});
    }
    divisor *= static_cast<uint32_t>(y[d]);
    stride *= extent;
  }
  for (const ChainTable::Digit& part : parts) {
    if (part.stride == 0) continue;
    if (result.digit_count == ChainTable::kMostDigits) {
      return absl::UnimplementedError(
          absl::StrCat("it broadcasts ", input.ToString(), " in more than ",
                       ChainTable::kMostDigits, " runs of dimensions"));
    }
    result.digits[result.digit_count++] = part;
  }
  return absl::OkStatus();
}

bool IsReadLater(const Expression& expression, int32_t number, size_t next) {
  for (size_t s = next; s < expression.steps.size(); ++s) {
    const auto& operands = expression.steps[s].operands;
    if (operands[0] == number || operands[1] == number) return true;
  }
  return false;
}

absl::Status PlanChain(const NodeSite& site, Plan& plan) {
  const auto& expression = std::get<Expression>(site.params);
  absl::StatusOr<ChainTable> table =
      MakeChainTable(site, expression, /*first_input=*/0, /*first_number=*/0);
  if (!table.ok()) return table.status();
  const int64_t count = site.output(0).shape.element_count();
  struct {
    uint32_t count;
  } arguments = {static_cast<uint32_t>(count)};
  plan.Add(shaders::k_chain, {256, static_cast<uint32_t>(site.output_dtype(0))},
           GroupsFor(count),
           {plan.Out(0), plan.Table(*table), plan.In(0), plan.In(1), plan.In(2),
            plan.In(3), plan.In(4), plan.In(5), plan.In(6), plan.In(7)},
           arguments);
  return absl::OkStatus();
}

KernelCost ChainCost(const NodeSite& site) {
  constexpr double kStepFlops = 20;
  const auto& expression = std::get<Expression>(site.params);
  return CostByElements(
      site, kStepFlops * static_cast<double>(expression.steps.size()));
}

RowList Rows() {
  RowList rows;
  rows.AddAll<&PlanChain>(OpKind::kElementwiseChain, "elementwise_chain",
                          kFloats,
                          {.source = "backends/vulkan/kernels/chain.cc",
                           .cost = &ChainCost,
                           .caps = {.in_place_inputs = 0xff}});
  return rows;
}

}  // namespace

std::optional<uint32_t> StepNumber(OpKind op) {
  switch (op) {
#define STEP(name, number) \
  case OpKind::k##name:    \
    return number;
#include "backends/vulkan/kernels/step_list.glsl"
#undef STEP
    default:
      return std::nullopt;
  }
}

std::array<float, 2> StepParameters(const OpParams& params) {
  if (const auto* alpha = std::get_if<AlphaParams>(&params)) {
    return {alpha->alpha, 0};
  }
  if (const auto* hard = std::get_if<HardSigmoidParams>(&params)) {
    return {hard->alpha, hard->beta};
  }
  if (const auto* selu = std::get_if<SeluParams>(&params)) {
    return {selu->alpha, selu->gamma};
  }
  if (const auto* gelu = std::get_if<GeluParams>(&params)) {
    return {gelu->approximates_by_tanh ? 1.0f : 0.0f, 0};
  }
  return {};
}

absl::StatusOr<ChainTable> MakeChainTable(const NodeSite& site,
                                          const Expression& expression,
                                          int first_input, int first_number) {
  const int input_count = expression.input_count - first_number;
  if (absl::Status s = CheckSize(expression, input_count); !s.ok()) return s;
  const ExpressionPlaces places = AssignPlaces(expression);
  const int32_t first_step = expression.FirstStepValue();
  ChainTable table = {};
  table.step_count = static_cast<uint32_t>(expression.steps.size());
  for (size_t s = 0; s < expression.steps.size(); ++s) {
    const ExpressionStep& from = expression.steps[s];
    ChainTable::Step& step = table.steps[s];
    const std::optional<uint32_t> number = StepNumber(from.op);
    if (!number.has_value()) {
      return absl::UnimplementedError(absl::StrCat(
          OpKindName(from.op), " is not among the element-wise steps"));
    }
    step.op = *number;
    const int32_t last = first_step + static_cast<int32_t>(s) - 1;
    for (int side = 0; side < 2; ++side) {
      const int32_t operand = from.operands[side];
      step.parameters[side] = static_cast<float>(from.parameters[side]);
      if (operand == ExpressionStep::kNoOperand) {
        step.operands[side] = kConstant;
      } else if (operand < first_number) {
        step.operands[side] = kOwn;
      } else if (operand < expression.input_count) {
        step.operands[side] = kFirstInput + operand - first_number;
      } else if (operand < first_step) {
        step.operands[side] = kConstant;
        step.constants[side] = static_cast<float>(
            expression.constants[operand - expression.input_count]);
      } else {
        step.operands[side] =
            operand == last ? kPrevious
                            : kFirstPlace + places.place[operand - first_step];
      }
    }
    step.place = IsReadLater(expression, last + 1, s + 2)
                     ? static_cast<uint32_t>(places.place[s])
                     : kNoPlace;
  }
  for (int k = 0; k < input_count; ++k) {
    absl::Status status = SetDigits(site.input(first_input + k).shape,
                                    site.output(0).shape, table.inputs[k]);
    if (!status.ok()) return status;
  }
  return table;
}

absl::StatusOr<PlannedEpilogue> PlanEpilogue(const NodeSite& site, Plan& plan) {
  PlannedEpilogue planned;
  if (site.params.epilogue == nullptr) return planned;
  const Epilogue& epilogue = *site.params.epilogue;
  const int count = epilogue.expression.input_count - 1;
  if (count > PlannedEpilogue::kMostInputs) {
    return absl::UnimplementedError(absl::StrCat("its epilogue has ", count,
                                                 " inputs, above ",
                                                 PlannedEpilogue::kMostInputs));
  }
  absl::StatusOr<ChainTable> table =
      MakeChainTable(site, epilogue.expression, epilogue.own_input_count,
                     /*first_number=*/1);
  if (!table.ok()) return table.status();
  planned.table = plan.Table(*table);
  for (int k = 0; k < count; ++k) {
    planned.inputs[k] = plan.In(epilogue.own_input_count + k);
  }
  return planned;
}

double EpilogueFlops(const NodeSite& site) {
  if (site.params.epilogue == nullptr) return 0;
  constexpr double kStepFlops = 10;
  return kStepFlops *
         static_cast<double>(site.params.epilogue->expression.steps.size()) *
         static_cast<double>(site.output(0).shape.element_count());
}

absl::Span<const KernelEntry> ChainRows() {
  static const auto* const rows = new RowList(Rows());
  return rows->rows();
}

}  // namespace tensord::vulkan
