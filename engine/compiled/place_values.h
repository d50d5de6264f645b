#ifndef TENSORD_ENGINE_COMPILED_PLACE_VALUES_H_
#define TENSORD_ENGINE_COMPILED_PLACE_VALUES_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "engine/compiled/bind_node.h"
#include "engine/compiled/compiled_graph.h"
#include "engine/compiled/schedule.h"
#include "engine/graph/graph.h"
#include "engine/infer/infer.h"

namespace tensord {

// Where every value of a compiled graph is while it runs.
// Threading and ownership: a plain value.
struct Placement {
  std::vector<Operand> values;       // by ValueId; views have their root's
  std::vector<ValueId> weights;      // the constants that are needed, in order
  std::vector<uint64_t> workspaces;  // arena offsets, by launch
  std::vector<OutputCopy> output_copies;
  uint64_t arena_bytes = 0;
  uint64_t arena_lower_bound_bytes = 0;
};

// One launch as the planner sees it, in order of launch over all segments.
struct Launch {
  NodeId node = kNoNode;
  const BoundNode* bound = nullptr;
};

// Places values: inputs and weights where they are, outputs in the caller's
// buffers, everything else in one arena, with slots used again after the last
// reader and, where a kernel allows it, an output in its input's slot.
//
// Threading: pure. Sizes are those of the bound layouts, upper bounds where
// only the data can tell.
Placement PlaceValues(const Graph& graph, const Inference& inference,
                      const Schedule& schedule,
                      absl::Span<const Launch> launches);

}  // namespace tensord

#endif  // TENSORD_ENGINE_COMPILED_PLACE_VALUES_H_
