#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

// What engine/flow runs between two stages: control flow, sequences, optionals.
// Their attributes that hold graphs are read by the graph builder.

namespace tensord {
namespace {

absl::Status CheckDirections(const Dims& directions, absl::string_view name) {
  for (int64_t direction : directions) {
    if (direction != 0 && direction != 1) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, " has ", direction, ", not 0 or 1"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Dims> ReadDims(NodeReader& node, absl::string_view name) {
  absl::StatusOr<std::vector<int64_t>> values = node.Ints(name);
  if (!values.ok()) return values.status();
  return Dims(values->begin(), values->end());
}

// Scan of version 8 had a batch axis and sequence lengths; it was replaced a
// version later.
absl::StatusOr<OpParams> ReadScan(NodeReader& node) {
  if (node.opset() < 9) {
    return absl::UnimplementedError(
        "Scan of operator set 8 has another meaning and is not supported");
  }
  ScanParams params;
  TENSORD_ASSIGN_OR_RETURN(params.scan_input_count,
                           node.Int("num_scan_inputs", 0));
  if (params.scan_input_count < 1 ||
      params.scan_input_count > node.input_count()) {
    return absl::InvalidArgumentError(
        absl::StrCat("num_scan_inputs is ", params.scan_input_count, " of ",
                     node.input_count(), " inputs"));
  }
  TENSORD_ASSIGN_OR_RETURN(params.input_axes,
                           ReadDims(node, "scan_input_axes"));
  TENSORD_ASSIGN_OR_RETURN(params.input_directions,
                           ReadDims(node, "scan_input_directions"));
  TENSORD_ASSIGN_OR_RETURN(params.output_axes,
                           ReadDims(node, "scan_output_axes"));
  TENSORD_ASSIGN_OR_RETURN(params.output_directions,
                           ReadDims(node, "scan_output_directions"));
  TENSORD_RETURN_IF_ERROR(
      CheckDirections(params.input_directions, "scan_input_directions"));
  TENSORD_RETURN_IF_ERROR(
      CheckDirections(params.output_directions, "scan_output_directions"));
  return params;
}

absl::StatusOr<OpParams> ReadSequenceEmpty(NodeReader& node) {
  node.Ignore("dtype");
  return NoParams{};
}

// An optional of a type: without an input it holds nothing, whatever the type.
absl::StatusOr<OpParams> ReadOptional(NodeReader& node) {
  node.Ignore("type");
  return NoParams{};
}

absl::StatusOr<OpParams> ReadSplitToSequence(NodeReader& node) {
  SequenceParams params;
  TENSORD_ASSIGN_OR_RETURN(params.axis, node.Int("axis", 0));
  TENSORD_ASSIGN_OR_RETURN(params.keep_dims, node.Bool("keepdims", true));
  return params;
}

absl::StatusOr<OpParams> ReadConcatFromSequence(NodeReader& node) {
  SequenceParams params;
  if (!node.Has("axis")) {
    return absl::InvalidArgumentError("attribute 'axis' is missing");
  }
  TENSORD_ASSIGN_OR_RETURN(params.axis, node.Int("axis", 0));
  TENSORD_ASSIGN_OR_RETURN(params.new_axis, node.Bool("new_axis", false));
  return params;
}

OpDef Flow(OpKind op, int min_inputs, int max_inputs, int max_outputs = 1) {
  return {.op = op,
          .min_inputs = min_inputs,
          .max_inputs = max_inputs,
          .max_outputs = max_outputs,
          .is_flow = true,
          .is_pure = false};
}

}  // namespace

OpDef IfDef() {
  OpDef def = Flow(OpKind::kIf, 1, 1, OpDef::kVariadic);
  def.body_attributes = {"then_branch", "else_branch"};
  return def;
}

OpDef LoopDef() {
  OpDef def = Flow(OpKind::kLoop, 0, OpDef::kVariadic, OpDef::kVariadic);
  def.body_attributes = {"body"};
  return def;
}

OpDef ScanDef() {
  OpDef def = Flow(OpKind::kScan, 1, OpDef::kVariadic, OpDef::kVariadic);
  def.read = &ReadScan;
  def.body_attributes = {"body"};
  return def;
}

OpDef SequenceConstructDef() {
  return Flow(OpKind::kSequenceConstruct, 1, OpDef::kVariadic);
}

OpDef SequenceEmptyDef() {
  OpDef def = Flow(OpKind::kSequenceEmpty, 0, 0);
  def.read = &ReadSequenceEmpty;
  return def;
}

OpDef SequenceInsertDef() { return Flow(OpKind::kSequenceInsert, 2, 3); }
OpDef SequenceEraseDef() { return Flow(OpKind::kSequenceErase, 1, 2); }
OpDef SequenceAtDef() { return Flow(OpKind::kSequenceAt, 2, 2); }
OpDef SequenceLengthDef() { return Flow(OpKind::kSequenceLength, 1, 1); }

OpDef SplitToSequenceDef() {
  OpDef def = Flow(OpKind::kSplitToSequence, 1, 2);
  def.read = &ReadSplitToSequence;
  return def;
}

OpDef ConcatFromSequenceDef() {
  OpDef def = Flow(OpKind::kConcatFromSequence, 1, 1);
  def.read = &ReadConcatFromSequence;
  return def;
}

OpDef OptionalDef() {
  OpDef def = Flow(OpKind::kOptional, 0, 1);
  def.read = &ReadOptional;
  return def;
}

OpDef OptionalHasElementDef() {
  return Flow(OpKind::kOptionalHasElement, 0, 1);
}

OpDef OptionalGetElementDef() {
  return Flow(OpKind::kOptionalGetElement, 1, 1);
}

}  // namespace tensord
