#ifndef TENSORD_ENGINE_COMPILED_SIDE_PLAN_H_
#define TENSORD_ENGINE_COMPILED_SIDE_PLAN_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "engine/compiled/bind_node.h"
#include "engine/compiled/compiled_graph.h"
#include "engine/compiled/schedule.h"
#include "engine/graph/graph.h"
#include "engine/infer/infer.h"

namespace tensord {

// One launch as the planner sees it, in order of launch over all segments.
struct Launch {
  NodeId node = kNoNode;
  const BoundNode* bound = nullptr;
};

// In which of a graph's two memories its launches run and its values are: that
// of its device, and the host's, where inputs come from, outputs go to, and
// nodes run that the device has no kernel for. A value is copied at most once
// each way, whoever reads it there.
//
// Threading and ownership: a plain value.
struct SidePlan {
  // False on a device whose memory the host addresses: there is one memory, the
  // device's, and nothing is ever copied.
  bool has_two = false;

  // The launches, cut where the side or the segment changes.
  struct PlannedStretch {
    bool runs_on_host = false;
    int32_t first_launch = 0;
    int32_t launch_count = 0;
    int32_t first_time_mark = 0;     // as in Stretch
    std::vector<ValueId> transfers;  // roots, to its side, before it starts
  };
  std::vector<PlannedStretch> stretches;
  int32_t time_mark_count = 0;
  std::vector<int32_t> segment_begins;  // in stretches, by segment; and the end

  // By value, for roots that are no constants: whether the bytes are there at
  // some time.
  std::vector<bool> is_on_device;
  std::vector<bool> is_on_host;
  // By value: an input of the graph that is copied to the device at the start,
  // and an output that is copied from it in the end.
  std::vector<bool> is_uploaded;
  std::vector<bool> is_downloaded;

  absl::Span<const PlannedStretch> StretchesOf(int segment) const {
    return absl::MakeSpan(stretches).subspan(
        segment_begins[segment],
        segment_begins[segment + 1] - segment_begins[segment]);
  }
};

// Pure. `has_two`: whether the host cannot address the device's memory.
SidePlan PlanSides(const Graph& graph, const Inference& inference,
                   const Schedule& schedule, absl::Span<const Launch> launches,
                   bool has_two);

// Puts nodes of the same side behind each other within their segments, as far
// as they do not depend on each other: every change of side waits for the
// device. `bound` is by launch, and is put in the same order.
void GroupBySide(const Graph& graph, Schedule& schedule,
                 std::vector<BoundNode>& bound);

// Calls `copy(root, is_to_host, before_launch)` for every copy of a run:
// inputs, those between two sides, and outputs (before_launch is then the
// number of launches).
void ForEachTransfer(
    const Graph& graph, const Schedule& schedule, const SidePlan& plan,
    absl::FunctionRef<void(ValueId, bool is_to_host, int32_t before_launch)>
        copy);

// The constant whose bytes a value has: its own, or its root's; kNoValue for
// none.
ValueId ConstantOf(const Inference& inference, const Schedule& schedule,
                   ValueId value);

}  // namespace tensord

#endif  // TENSORD_ENGINE_COMPILED_SIDE_PLAN_H_
