#ifndef TENSORD_ENGINE_COMPILED_STEP_BUILDER_H_
#define TENSORD_ENGINE_COMPILED_STEP_BUILDER_H_

#include "absl/status/status.h"
#include "engine/compiled/bind_node.h"
#include "engine/compiled/compiled_graph.h"
#include "engine/compiled/place_values.h"
#include "engine/compiled/schedule.h"
#include "engine/graph/graph.h"

namespace tensord {

// A bound node as a launch: its operands' places, sizes and cells.
Step MakeStep(const Graph& graph, const Schedule& schedule,
              const Placement& placement, NodeId node_id, int32_t launch_index,
              BoundNode bound);

// Runs the kernel's `prepare`, if it has one, into the step's node.
// Errors: the kernel's, with the node's name.
absl::Status PrepareStep(const Graph& graph, Device& device, Step& step);

}  // namespace tensord

#endif  // TENSORD_ENGINE_COMPILED_STEP_BUILDER_H_
