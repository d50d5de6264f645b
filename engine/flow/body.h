#ifndef TENSORD_ENGINE_FLOW_BODY_H_
#define TENSORD_ENGINE_FLOW_BODY_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/flow/flow_ops.h"

namespace tensord {

// What If, Loop and Scan share. All on the lane's thread.

// Runs a body of the node on its own inputs; what it captures is added.
absl::StatusOr<std::vector<FlowValue>> RunBody(FlowNode& node, int body,
                                               std::vector<FlowValue> inputs);

// The types of what body 0 gives behind its first `skipped` outputs, for own
// inputs of these types (without a shape where there is no tensor): as
// inference has them, else as declared. For the scan outputs of a loop that
// never runs its body.
std::vector<TensorType> BodyOutputTypes(FlowNode& node,
                                        std::vector<TensorType> inputs,
                                        size_t skipped);

TensorType TypeOf(const FlowValue& value);

// kInvalidArgument when the node has more outputs than were made.
absl::Status CheckOutputCount(const FlowNode& node, size_t made);

}  // namespace tensord

#endif  // TENSORD_ENGINE_FLOW_BODY_H_
