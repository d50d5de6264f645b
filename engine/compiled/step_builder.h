#ifndef TENSORD_ENGINE_COMPILED_STEP_BUILDER_H_
#define TENSORD_ENGINE_COMPILED_STEP_BUILDER_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/compiled/bind_node.h"
#include "engine/compiled/compiled_graph.h"
#include "engine/compiled/place_values.h"
#include "engine/compiled/schedule.h"
#include "engine/compiled/side_plan.h"
#include "engine/graph/graph.h"

namespace tensord {

// A bound node as a launch: its operands' places, sizes and cells.
Step MakeStep(const Graph& graph, const Schedule& schedule,
              const Placement& placement, NodeId node_id, int32_t launch_index,
              BoundNode bound);

// The stretches of segment `index` with the copies before them, sized for what
// is known of their extents.
// Errors: BoundShape's.
absl::StatusOr<std::vector<Stretch>> MakeStretches(const Inference& inference,
                                                   const SidePlan& sides,
                                                   const Placement& placement,
                                                   int index);

// Host bytes of a step, roughly: strings and vectors beyond the object.
inline constexpr uint64_t kStepFootprintBytes = sizeof(Step) + 512;

// What a prepared step's kernel state adds to that.
inline uint64_t StateFootprintBytes(const Step& step) {
  return step.node.state == nullptr ? 0 : step.node.state->footprint_bytes();
}

// What the states of a graph's kernels may take together, and take so far.
// Threading and ownership: a plain value.
struct StateBudget {
  uint64_t max_bytes;
  uint64_t used_bytes = 0;
};

// Runs the kernel's `prepare`, if it has one, into the step's node, on the
// device that the step runs on: `device`, or `host`.
// Errors: the kernel's, and kResourceExhausted when the state is above what the
//   budget has left; with the node's name.
absl::Status PrepareStep(const Graph& graph, Device& device, Device* host,
                         StateBudget& budget, Step& step);

}  // namespace tensord

#endif  // TENSORD_ENGINE_COMPILED_STEP_BUILDER_H_
