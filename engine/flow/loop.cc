#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/flow/body.h"
#include "engine/flow/flow_ops.h"
#include "engine/flow/scan_output.h"
#include "engine/graph/status_macros.h"

// If and Loop, as the ONNX standard has them.

namespace tensord {
namespace {

// What a Loop is told before its first iteration.
struct LoopPlan {
  int64_t trips = std::numeric_limits<int64_t>::max();
  bool begins = true;
  std::vector<FlowValue> carried;
};

absl::StatusOr<LoopPlan> PlanLoop(const FlowNode& node) {
  LoopPlan plan;
  if (node.has_input(0)) {
    TENSORD_ASSIGN_OR_RETURN(plan.trips,
                             IntScalar(node.input(0), "its trip count"));
  }
  if (node.has_input(1)) {
    TENSORD_ASSIGN_OR_RETURN(plan.begins,
                             BoolScalar(node.input(1), "its condition"));
  }
  for (int i = 2; i < node.own_input_count(); ++i) {
    plan.carried.push_back(node.input(i));
  }
  const size_t made = node.node.bodies[0].graph->outputs.size();
  if (made < 1 + plan.carried.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "its body gives ", made, " outputs, and ", 1 + plan.carried.size(),
        " are the condition and what is carried"));
  }
  return plan;
}

// The inputs of an iteration: its number, the condition, what is carried.
absl::StatusOr<std::vector<FlowValue>> IterationInputs(
    int64_t trip, bool goes_on, std::vector<FlowValue> carried, FlowRun& run) {
  TENSORD_ASSIGN_OR_RETURN(FlowValue number, MakeInt64(trip, run));
  TENSORD_ASSIGN_OR_RETURN(FlowValue condition, MakeBool(goes_on, run));
  carried.insert(carried.begin(), {std::move(number), std::move(condition)});
  return carried;
}

}  // namespace

absl::StatusOr<std::vector<FlowValue>> RunIf(FlowNode& node) {
  TENSORD_ASSIGN_OR_RETURN(const bool condition,
                           BoolScalar(node.input(0), "its condition"));
  TENSORD_ASSIGN_OR_RETURN(std::vector<FlowValue> outputs,
                           RunBody(node, condition ? 0 : 1, {}));
  TENSORD_RETURN_IF_ERROR(CheckOutputCount(node, outputs.size()));
  return outputs;
}

// Inputs: trip count, condition (each may be left out), carried values. The
// body gives (condition, carried..., scan outputs...).
absl::StatusOr<std::vector<FlowValue>> RunLoop(FlowNode& node) {
  TENSORD_ASSIGN_OR_RETURN(LoopPlan plan, PlanLoop(node));
  std::vector<FlowValue>& carried = plan.carried;
  const size_t first_scan = 1 + carried.size();
  ScanOutputs scans(node.node.bodies[0].graph->outputs.size() - first_scan);

  bool goes_on = plan.begins;
  int64_t trip = 0;
  for (; trip < plan.trips && goes_on; ++trip) {
    TENSORD_RETURN_IF_ERROR(node.run.limits.Check());
    TENSORD_ASSIGN_OR_RETURN(
        std::vector<FlowValue> inputs,
        IterationInputs(trip, goes_on, std::move(carried), node.run));
    TENSORD_ASSIGN_OR_RETURN(const std::vector<FlowValue> outputs,
                             RunBody(node, 0, std::move(inputs)));
    TENSORD_ASSIGN_OR_RETURN(
        goes_on, BoolScalar(outputs[0], "the condition that its body gives"));
    carried.assign(outputs.begin() + 1,
                   outputs.begin() + static_cast<int64_t>(first_scan));
    TENSORD_RETURN_IF_ERROR(
        scans.Add(absl::MakeConstSpan(outputs).subspan(first_scan)));
  }

  std::vector<TensorType> types;
  if (trip == 0 && scans.size() > 0) {
    std::vector<TensorType> inputs = {{DType::kInt64, SymbolicShape()},
                                      {DType::kBool, SymbolicShape()}};
    for (const FlowValue& value : carried) inputs.push_back(TypeOf(value));
    types = BodyOutputTypes(node, std::move(inputs), first_scan);
  }
  std::vector<FlowValue> results = std::move(carried);
  TENSORD_RETURN_IF_ERROR(scans.AppendTo(
      results, std::vector<ScanPlace>(scans.size()), types, node.run));
  TENSORD_RETURN_IF_ERROR(CheckOutputCount(node, results.size()));
  return results;
}

}  // namespace tensord
