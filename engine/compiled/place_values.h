#ifndef TENSORD_ENGINE_COMPILED_PLACE_VALUES_H_
#define TENSORD_ENGINE_COMPILED_PLACE_VALUES_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "engine/compiled/bind_node.h"
#include "engine/compiled/compiled_graph.h"
#include "engine/compiled/schedule.h"
#include "engine/compiled/side_plan.h"
#include "engine/graph/graph.h"
#include "engine/infer/infer.h"

namespace tensord {

// Where every value of a compiled graph is while it runs.
// Threading and ownership: a plain value.
struct Placement {
  // What is in one of the two memories.
  struct Memory {
    std::vector<Operand> values;   // by ValueId; views have their root's
    std::vector<ValueId> weights;  // the constants that are needed, in order
    uint64_t arena_bytes = 0;
  };
  Memory device;
  Memory host;  // empty where there is one memory only

  std::vector<uint64_t> workspaces;  // offsets in their arena, by launch
  std::vector<OutputCopy> output_copies;
  std::vector<int32_t> downloads;  // of outputs, by index, from their own place
  uint64_t arena_lower_bound_bytes = 0;  // of the device's

  const Memory& at(bool is_on_host) const { return is_on_host ? host : device; }
};

// Places values: inputs and weights where they are, outputs in the caller's
// buffers, everything else in one arena for each memory, with slots used again
// after the last reader and, where a kernel allows it, an output in its input's
// slot.
//
// With two memories an output of the graph is written to the caller's buffer in
// place where it comes to host memory before the end; else it has a place of
// its own on the device and is downloaded from there.
//
// Threading: pure. Sizes are those of the bound layouts, upper bounds where
// only the data can tell.
Placement PlaceValues(const Graph& graph, const Inference& inference,
                      const Schedule& schedule, const SidePlan& sides,
                      absl::Span<const Launch> launches);

}  // namespace tensord

#endif  // TENSORD_ENGINE_COMPILED_PLACE_VALUES_H_
