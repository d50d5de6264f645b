#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/flow/flow_ops.h"

// If, Loop and Scan, as the ONNX standard has them.

namespace tensord {
namespace {

absl::StatusOr<std::vector<FlowValue>> RunBody(FlowNode& node, int body,
                                               std::vector<FlowValue> inputs) {
  const absl::Span<const FlowValue> captured = node.captured(body);
  inputs.insert(inputs.end(), captured.begin(), captured.end());
  FlowProgram& program = node.program.Body(node.node_id, body);
  const size_t expected = program.graph().inputs.size();
  if (inputs.size() != expected) {
    return absl::InvalidArgumentError(absl::StrCat(
        "its body takes ", expected - captured.size(), " inputs and would get ",
        inputs.size() - captured.size()));
  }
  return program.Run(node.run, std::move(inputs));
}

// Scan outputs of a loop: one tensor an iteration, joined at the end.
class Accumulator {
 public:
  absl::Status Add(const FlowValue& value, int index) {
    if (!value.is_tensor()) {
      return absl::InvalidArgumentError(
          absl::StrCat("scan output ", index, " of its body is no tensor"));
    }
    tensors_.push_back(value.tensor);
    return absl::OkStatus();
  }

  // Of no iteration, the extents are those that the body declares, 0 where it
  // declares none.
  absl::StatusOr<FlowValue> Join(const Value& declared, int64_t axis,
                                 bool is_reversed, FlowRun& run) {
    if (is_reversed) std::reverse(tensors_.begin(), tensors_.end());
    if (!tensors_.empty()) {
      return JoinTensors(tensors_, axis, /*is_new_axis=*/true, run);
    }
    Dims extents;
    if (declared.type.shape.has_value()) {
      for (Dim dim : *declared.type.shape) {
        extents.push_back(dim.is_known() ? dim.extent() : 0);
      }
    }
    const int64_t rank = static_cast<int64_t>(extents.size()) + 1;
    const int64_t at = axis < 0 ? axis + rank : axis;
    if (at < 0 || at >= rank) {
      return absl::InvalidArgumentError(
          absl::StrCat("axis ", axis, " is outside [", -rank, ", ", rank, ")"));
    }
    extents.insert(extents.begin() + at, 0);
    absl::StatusOr<Shape> shape = Shape::Create(extents);
    if (!shape.ok()) return shape.status();
    const DType dtype = declared.type.dtype == DType::kUndefined
                            ? DType::kFloat32
                            : declared.type.dtype;
    absl::StatusOr<HostValue> empty = run.Allocate(dtype, *shape);
    if (!empty.ok()) return empty.status();
    return FlowValue{.tensor = run.Keep(*std::move(empty))};
  }

 private:
  std::vector<std::shared_ptr<FlowTensor>> tensors_;
};

absl::Status CheckOutputCount(const FlowNode& node, size_t made) {
  if (node.node.outputs.size() <= made) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("it has ", node.node.outputs.size(),
                   " outputs and its body gives ", made));
}

}  // namespace

absl::StatusOr<std::vector<FlowValue>> RunIf(FlowNode& node) {
  absl::StatusOr<bool> condition = BoolScalar(node.input(0), "its condition");
  if (!condition.ok()) return condition.status();
  absl::StatusOr<std::vector<FlowValue>> outputs =
      RunBody(node, *condition ? 0 : 1, {});
  if (!outputs.ok()) return outputs;
  if (absl::Status s = CheckOutputCount(node, outputs->size()); !s.ok()) {
    return s;
  }
  return outputs;
}

// Inputs: trip count, condition (each may be left out), carried values. The
// body takes (iteration, condition, carried...) and gives (condition,
// carried..., scan outputs...).
absl::StatusOr<std::vector<FlowValue>> RunLoop(FlowNode& node) {
  int64_t trips = std::numeric_limits<int64_t>::max();
  if (node.has_input(0)) {
    absl::StatusOr<int64_t> count = IntScalar(node.input(0), "its trip count");
    if (!count.ok()) return count.status();
    trips = *count;
  }
  bool goes_on = true;
  if (node.has_input(1)) {
    absl::StatusOr<bool> condition = BoolScalar(node.input(1), "its condition");
    if (!condition.ok()) return condition.status();
    goes_on = *condition;
  }
  std::vector<FlowValue> carried;
  for (int i = 2; i < node.own_input_count(); ++i) {
    carried.push_back(node.input(i));
  }
  const Graph& body = *node.node.bodies[0].graph;
  const size_t first_scan = 1 + carried.size();
  if (body.outputs.size() < first_scan) {
    return absl::InvalidArgumentError(
        absl::StrCat("its body gives ", body.outputs.size(), " outputs, and ",
                     first_scan, " are the condition and what is carried"));
  }
  std::vector<Accumulator> scans(body.outputs.size() - first_scan);

  for (int64_t trip = 0; trip < trips && goes_on; ++trip) {
    if (absl::Status s = node.run.limits.Check(); !s.ok()) return s;
    std::vector<FlowValue> inputs;
    absl::StatusOr<FlowValue> iteration = MakeInt64(trip, node.run);
    if (!iteration.ok()) return iteration.status();
    inputs.push_back(*std::move(iteration));
    absl::StatusOr<FlowValue> condition = MakeBool(goes_on, node.run);
    if (!condition.ok()) return condition.status();
    inputs.push_back(*std::move(condition));
    for (FlowValue& value : carried) inputs.push_back(std::move(value));
    absl::StatusOr<std::vector<FlowValue>> outputs =
        RunBody(node, 0, std::move(inputs));
    if (!outputs.ok()) return outputs;
    absl::StatusOr<bool> next =
        BoolScalar((*outputs)[0], "the condition that its body gives");
    if (!next.ok()) return next.status();
    goes_on = *next;
    for (size_t i = 0; i < carried.size(); ++i) {
      carried[i] = std::move((*outputs)[1 + i]);
    }
    for (size_t i = 0; i < scans.size(); ++i) {
      if (absl::Status s =
              scans[i].Add((*outputs)[first_scan + i], static_cast<int>(i));
          !s.ok()) {
        return s;
      }
    }
  }

  std::vector<FlowValue> results = std::move(carried);
  for (size_t i = 0; i < scans.size(); ++i) {
    absl::StatusOr<FlowValue> joined =
        scans[i].Join(body.value(body.outputs[first_scan + i]), /*axis=*/0,
                      /*is_reversed=*/false, node.run);
    if (!joined.ok()) return joined.status();
    results.push_back(*std::move(joined));
  }
  if (absl::Status s = CheckOutputCount(node, results.size()); !s.ok()) {
    return s;
  }
  return results;
}

// Inputs: state, then what is scanned. The body takes (state..., one slice of
// each scanned input) and gives (state..., one slice of each scan output).
absl::StatusOr<std::vector<FlowValue>> RunScan(FlowNode& node) {
  const auto& params = std::get<ScanParams>(node.node.params);
  const int scanned_count = static_cast<int>(params.scan_input_count);
  const int state_count = node.own_input_count() - scanned_count;
  if (scanned_count < 1 || state_count < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("num_scan_inputs is ", scanned_count, " of ",
                     node.own_input_count(), " inputs"));
  }
  const Graph& body = *node.node.bodies[0].graph;
  if (static_cast<int>(body.outputs.size()) < state_count) {
    return absl::InvalidArgumentError(
        absl::StrCat("its body gives ", body.outputs.size(),
                     " outputs, and there are ", state_count, " states"));
  }
  const auto listed = [](const Dims& values, int i) {
    return i < static_cast<int>(values.size()) ? values[i] : int64_t{0};
  };

  int64_t trips = -1;
  std::vector<int> axes(scanned_count);
  for (int i = 0; i < scanned_count; ++i) {
    const FlowValue& scanned = node.input(state_count + i);
    if (!scanned.is_tensor()) {
      return absl::InvalidArgumentError(
          absl::StrCat("scan input ", i, " is no tensor"));
    }
    const int rank = scanned.tensor->shape().rank();
    const int64_t axis = listed(params.input_axes, i);
    if (axis < -rank || axis >= rank) {
      return absl::InvalidArgumentError(
          absl::StrCat("axis ", axis, " of scan input ", i, " is outside [",
                       -rank, ", ", rank, ")"));
    }
    axes[i] = static_cast<int>(axis < 0 ? axis + rank : axis);
    const int64_t length = scanned.tensor->shape()[axes[i]];
    if (trips >= 0 && trips != length) {
      return absl::InvalidArgumentError(
          absl::StrCat("scan inputs have lengths ", trips, " vs ", length));
    }
    trips = length;
  }

  std::vector<FlowValue> state;
  for (int i = 0; i < state_count; ++i) state.push_back(node.input(i));
  std::vector<Accumulator> scans(body.outputs.size() - state_count);
  for (int64_t trip = 0; trip < trips; ++trip) {
    if (absl::Status s = node.run.limits.Check(); !s.ok()) return s;
    std::vector<FlowValue> inputs = std::move(state);
    for (int i = 0; i < scanned_count; ++i) {
      const FlowTensor& scanned = *node.input(state_count + i).tensor;
      const bool is_reversed = listed(params.input_directions, i) == 1;
      absl::StatusOr<FlowValue> slice = SliceTensor(
          scanned, axes[i], is_reversed ? trips - 1 - trip : trip, 1, node.run);
      if (!slice.ok()) return slice.status();
      Dims extents(scanned.shape().extents().begin(),
                   scanned.shape().extents().end());
      extents.erase(extents.begin() + axes[i]);
      absl::StatusOr<FlowValue> squeezed =
          WithShape(*slice->tensor, *Shape::Create(extents), node.run);
      if (!squeezed.ok()) return squeezed.status();
      inputs.push_back(*std::move(squeezed));
    }
    absl::StatusOr<std::vector<FlowValue>> outputs =
        RunBody(node, 0, std::move(inputs));
    if (!outputs.ok()) return outputs;
    state.assign(outputs->begin(), outputs->begin() + state_count);
    for (size_t i = 0; i < scans.size(); ++i) {
      if (absl::Status s =
              scans[i].Add((*outputs)[state_count + i], static_cast<int>(i));
          !s.ok()) {
        return s;
      }
    }
  }

  std::vector<FlowValue> results = std::move(state);
  for (size_t i = 0; i < scans.size(); ++i) {
    absl::StatusOr<FlowValue> joined = scans[i].Join(
        body.value(body.outputs[state_count + i]),
        listed(params.output_axes, static_cast<int>(i)),
        listed(params.output_directions, static_cast<int>(i)) == 1, node.run);
    if (!joined.ok()) return joined.status();
    results.push_back(*std::move(joined));
  }
  if (absl::Status s = CheckOutputCount(node, results.size()); !s.ok()) {
    return s;
  }
  return results;
}

}  // namespace tensord
