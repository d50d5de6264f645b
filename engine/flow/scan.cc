#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/flow/body.h"
#include "engine/flow/flow_ops.h"
#include "engine/flow/scan_output.h"
#include "engine/graph/status_macros.h"

// Scan, as the ONNX standard has it.

namespace tensord {
namespace {

// Lists of ScanParams may be shorter than what they speak of.
int64_t Listed(const Dims& values, size_t i) {
  return i < values.size() ? values[i] : 0;
}

struct ScanPlan {
  // One tensor that is walked along an axis, from either end.
  struct Walked {
    std::shared_ptr<FlowTensor> tensor;
    int axis = 0;
    bool is_reversed = false;
  };

  std::vector<Walked> walked;
  std::vector<FlowValue> state;
  std::vector<ScanPlace> places;  // of the scan outputs
  int64_t trips = 0;
};

absl::StatusOr<ScanPlan::Walked> WalkedInput(const FlowNode& node, int input,
                                             size_t i) {
  const auto& params = std::get<ScanParams>(node.node.params);
  const FlowValue& value = node.input(input);
  if (!value.is_tensor()) {
    return absl::InvalidArgumentError(
        absl::StrCat("scan input ", i, " is no tensor"));
  }
  const int rank = value.tensor->shape().rank();
  const int64_t axis = Listed(params.input_axes, i);
  if (axis < -rank || axis >= rank) {
    return absl::InvalidArgumentError(
        absl::StrCat("axis ", axis, " of scan input ", i, " is outside [",
                     -rank, ", ", rank, ")"));
  }
  return ScanPlan::Walked{
      .tensor = value.tensor,
      .axis = static_cast<int>(axis < 0 ? axis + rank : axis),
      .is_reversed = Listed(params.input_directions, i) == 1};
}

absl::StatusOr<ScanPlan> PlanScan(const FlowNode& node) {
  const auto& params = std::get<ScanParams>(node.node.params);
  const auto scanned_count = static_cast<int>(params.scan_input_count);
  const int state_count = node.own_input_count() - scanned_count;
  if (scanned_count < 1 || state_count < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("num_scan_inputs is ", scanned_count, " of ",
                     node.own_input_count(), " inputs"));
  }
  ScanPlan plan;
  for (int i = 0; i < state_count; ++i) plan.state.push_back(node.input(i));
  for (int i = 0; i < scanned_count; ++i) {
    TENSORD_ASSIGN_OR_RETURN(ScanPlan::Walked walked,
                             WalkedInput(node, state_count + i, i));
    const int64_t length = walked.tensor->shape()[walked.axis];
    if (i > 0 && length != plan.trips) {
      return absl::InvalidArgumentError(absl::StrCat(
          "scan inputs have lengths ", plan.trips, " vs ", length));
    }
    plan.trips = length;
    plan.walked.push_back(std::move(walked));
  }
  const size_t made = node.node.bodies[0].graph->outputs.size();
  if (made < plan.state.size()) {
    return absl::InvalidArgumentError(absl::StrCat("its body gives ", made,
                                                   " outputs, and there are ",
                                                   state_count, " states"));
  }
  for (size_t i = 0; i + plan.state.size() < made; ++i) {
    plan.places.push_back(
        {.axis = Listed(params.output_axes, i),
         .is_reversed = Listed(params.output_directions, i) == 1});
  }
  return plan;
}

// Of a slice, without the axis.
absl::StatusOr<Shape> SliceShape(const ScanPlan::Walked& walked) {
  const Shape& shape = walked.tensor->shape();
  Dims extents(shape.extents().begin(), shape.extents().end());
  extents.erase(extents.begin() + walked.axis);
  return Shape::Create(extents);
}

absl::Status AppendSlices(const ScanPlan& plan, int64_t trip,
                          std::vector<FlowValue>& inputs, FlowRun& run) {
  for (const ScanPlan::Walked& walked : plan.walked) {
    const int64_t at = walked.is_reversed ? plan.trips - 1 - trip : trip;
    TENSORD_ASSIGN_OR_RETURN(
        FlowValue slice, SliceTensor(*walked.tensor, walked.axis, at, 1, run));
    TENSORD_ASSIGN_OR_RETURN(const Shape shape, SliceShape(walked));
    TENSORD_ASSIGN_OR_RETURN(FlowValue squeezed,
                             WithShape(*slice.tensor, shape, run));
    inputs.push_back(std::move(squeezed));
  }
  return absl::OkStatus();
}

// Of the scan outputs, if there were anything to scan.
absl::StatusOr<std::vector<TensorType>> TypesWithoutTrips(
    FlowNode& node, const ScanPlan& plan) {
  std::vector<TensorType> inputs;
  for (const FlowValue& state : plan.state) inputs.push_back(TypeOf(state));
  for (const ScanPlan::Walked& walked : plan.walked) {
    TENSORD_ASSIGN_OR_RETURN(const Shape shape, SliceShape(walked));
    inputs.push_back({walked.tensor->dtype(), ToSymbolic(shape)});
  }
  return BodyOutputTypes(node, std::move(inputs), plan.state.size());
}

}  // namespace

// Inputs: state, then what is scanned. The body takes (state..., one slice of
// each scanned input) and gives (state..., one slice of each scan output).
absl::StatusOr<std::vector<FlowValue>> RunScan(FlowNode& node) {
  TENSORD_ASSIGN_OR_RETURN(ScanPlan plan, PlanScan(node));
  std::vector<TensorType> types;
  if (plan.trips == 0) {
    TENSORD_ASSIGN_OR_RETURN(types, TypesWithoutTrips(node, plan));
  }
  std::vector<FlowValue>& state = plan.state;
  const size_t state_count = state.size();
  ScanOutputs scans(plan.places.size());
  for (int64_t trip = 0; trip < plan.trips; ++trip) {
    TENSORD_RETURN_IF_ERROR(node.run.limits.Check());
    std::vector<FlowValue> inputs = std::move(state);
    TENSORD_RETURN_IF_ERROR(AppendSlices(plan, trip, inputs, node.run));
    TENSORD_ASSIGN_OR_RETURN(const std::vector<FlowValue> outputs,
                             RunBody(node, 0, std::move(inputs)));
    state.assign(outputs.begin(),
                 outputs.begin() + static_cast<int64_t>(state_count));
    TENSORD_RETURN_IF_ERROR(
        scans.Add(absl::MakeConstSpan(outputs).subspan(state_count)));
  }

  std::vector<FlowValue> results = std::move(state);
  TENSORD_RETURN_IF_ERROR(
      scans.AppendTo(results, plan.places, types, node.run));
  TENSORD_RETURN_IF_ERROR(CheckOutputCount(node, results.size()));
  return results;
}

}  // namespace tensord
