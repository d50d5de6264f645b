#ifndef TENSORD_ENGINE_FLOW_FLOW_OPS_H_
#define TENSORD_ENGINE_FLOW_FLOW_OPS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/flow/flow_program.h"
#include "engine/flow/flow_value.h"
#include "engine/graph/graph.h"

namespace tensord {

// One node that runs between two stages, with its operands. Borrows all but the
// operands; the lane's thread.
struct FlowNode {
  FlowProgram& program;
  NodeId node_id;
  const Node& node;
  std::vector<FlowValue> inputs;  // own, then captured
  FlowRun& run;

  int own_input_count() const {
    return node.bodies.empty() ? static_cast<int>(inputs.size())
                               : node.own_input_count;
  }
  // An operand that may be left out.
  const FlowValue& input(int i) const;
  bool has_input(int i) const {
    return i < own_input_count() && node.inputs[i] != kNoValue;
  }
  // What a body captures, in its order.
  absl::Span<const FlowValue> captured(int body) const;
};

// The outputs of the node, in order.
// Errors: kInvalidArgument with the numbers for operands that do not fit;
//   otherwise those of FlowProgram::Run.
absl::StatusOr<std::vector<FlowValue>> RunFlowOp(FlowNode& node);

// By family; RunFlowOp calls them.
absl::StatusOr<std::vector<FlowValue>> RunIf(FlowNode& node);
absl::StatusOr<std::vector<FlowValue>> RunLoop(FlowNode& node);
absl::StatusOr<std::vector<FlowValue>> RunScan(FlowNode& node);
absl::StatusOr<std::vector<FlowValue>> RunSequenceOp(FlowNode& node);

// Shared by the families.

// The one element of a tensor operand; kInvalidArgument that names `what`.
absl::StatusOr<bool> BoolScalar(const FlowValue& value, const char* what);
absl::StatusOr<int64_t> IntScalar(const FlowValue& value, const char* what);

// int64 scalar and bool scalar.
absl::StatusOr<FlowValue> MakeInt64(int64_t number, FlowRun& run);
absl::StatusOr<FlowValue> MakeBool(bool truth, FlowRun& run);

// The tensors side by side along `axis`; with `is_new_axis`, each gets it
// first. All of one dtype and, but for the axis, one shape. At least one
// tensor.
absl::StatusOr<FlowValue> JoinTensors(
    absl::Span<const std::shared_ptr<FlowTensor>> tensors, int64_t axis,
    bool is_new_axis, FlowRun& run);

// Elements [begin, begin + count) along `axis`.
absl::StatusOr<FlowValue> SliceTensor(const FlowTensor& tensor, int axis,
                                      int64_t begin, int64_t count,
                                      FlowRun& run);

// The same bytes in another shape of as many elements.
absl::StatusOr<FlowValue> WithShape(const FlowTensor& tensor,
                                    const Shape& shape, FlowRun& run);

}  // namespace tensord

#endif  // TENSORD_ENGINE_FLOW_FLOW_OPS_H_
