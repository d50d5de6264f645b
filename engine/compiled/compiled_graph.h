#ifndef TENSORD_ENGINE_COMPILED_COMPILED_GRAPH_H_
#define TENSORD_ENGINE_COMPILED_COMPILED_GRAPH_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "backends/api/device_id.h"
#include "backends/api/layout.h"
#include "backends/api/storage.h"
#include "engine/compiled/compiled_node.h"
#include "engine/compiled/explain.h"
#include "engine/graph/graph.h"
#include "engine/memory/weight_store.h"

namespace tensord {

class FlowProgram;

// Where an operand's bytes are when a graph runs.
struct Operand {
  enum class Place : uint8_t { kAbsent, kInput, kOutput, kArena, kWeight };

  Place place = Place::kAbsent;
  int32_t index = 0;          // of the input, output or weight
  uint64_t offset_bytes = 0;  // in the arena
  uint64_t size_bytes = 0;
};

// One launch: a compiled node with the places of its operands.
struct Step {
  CompiledNode node;
  NodeId node_id = kNoNode;
  absl::InlinedVector<Operand, 6> operands;  // inputs, then outputs
  absl::InlinedVector<Layout, 6> layouts;    // parallel to operands
  uint64_t workspace_offset = 0;             // in the arena
  uint64_t workspace_bytes = 0;
  int32_t extent_cell_index = 0;  // in the execution's extent cells
  int32_t extent_cell_count = 0;  // 0: no data-dependent extent
  // What `prepare` may read: per input, null where the value is not known. Kept
  // alive by CompiledGraph::host_constants.
  absl::InlinedVector<const std::byte*, 6> host_constants;
};

// A graph output that is also an input, a weight or another output's view: its
// bytes are copied after the last launch.
struct OutputCopy {
  Operand source;
  int32_t output_index = 0;
};

// An extent that a step writes and a later segment is specialised by.
struct ExtentBinding {
  ValueId value = kNoValue;
  int32_t dimension = 0;
  int32_t extent_cell_index = 0;
  int64_t upper_bound = 0;
};

// A stretch of steps whose extents are all known when it starts.
struct Segment {
  std::vector<Step> steps;
};

// The segments after the first: compiled when their extents are known, kept for
// the next run with the same.
//
// Threading: Get() may be called from many lanes at once.
// Ownership: owned by its compiled graph; shares what it hands out.
class SegmentSource {
 public:
  virtual ~SegmentSource() = default;

  // Segment `index` (from 1) for the extents that the earlier ones' cells hold,
  // in the order in which the cells are numbered. kInternal when a kernel wrote
  // an extent above its bound.
  virtual absl::StatusOr<std::shared_ptr<const Segment>> Get(
      int index, absl::Span<const int64_t> extents) = 0;

  // Shapes of the graph's outputs once all extents are known.
  virtual absl::StatusOr<std::vector<Shape>> OutputShapes(
      absl::Span<const int64_t> extents) = 0;

  virtual int segment_count() const = 0;  // the first included

  // Host bytes of what it keeps now.
  virtual uint64_t footprint_bytes() const = 0;
};

// One input or output of a compiled graph. An output's extents are upper bounds
// where only the data can tell.
struct Port {
  std::string name;
  DType dtype = DType::kUndefined;
  Shape shape;
  uint64_t size_bytes = 0;
  bool has_bound_only = false;
};

// What one run is estimated to take on a device.
struct DeviceEstimate {
  DeviceId device;
  double ns = 0;  // launches, and the copies of inputs and outputs
};

// Null where there is none of that device.
inline const DeviceEstimate* FindEstimate(
    absl::Span<const DeviceEstimate> estimates, DeviceId device) {
  for (const DeviceEstimate& estimate : estimates) {
    if (estimate.device == device) return &estimate;
  }
  return nullptr;
}

// The immutable result of compiling one graph for one set of shapes on one
// device: launches in order, memory plan, wait set, segments.
//
// A graph with data-dependent extents has its first segment here; the following
// ones are compiled from the same plan when their extents are known, and cached
// (SegmentSource). Arena offsets are planned once, with bounds, so a later
// segment changes layouts and kernels but no offset.
//
// Threading: immutable once prepared; shared by all executions.
// Ownership: shares weights; owns the rest. Its device and kernels outlive it.
struct CompiledGraph {
  CompiledGraph();
  ~CompiledGraph();

  DeviceId device;
  std::shared_ptr<const Graph> graph;  // after its passes
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  Segment first;
  std::vector<OutputCopy> output_copies;  // after the last segment
  std::vector<std::shared_ptr<const Weight>> weights;
  std::vector<HostTensor> host_constants;
  Explanation explanation;

  // On a device whose memory the host does not address: where inputs and
  // outputs are in the arena, behind the temporaries. Empty elsewhere, where
  // the execution's own host buffers are the operands.
  std::vector<uint64_t> input_offsets;
  std::vector<uint64_t> output_offsets;

  uint64_t arena_bytes =
      0;                    // temporaries, workspaces, inputs and outputs above
  uint64_t peak_bytes = 0;  // arena + inputs + outputs: what admission counts
  uint64_t weight_bytes = 0;
  int32_t extent_cell_count = 0;
  int32_t node_count = 0;  // launches of all segments
  // What the following segments are compiled from; null without any.
  std::unique_ptr<SegmentSource> later_segments;
  // Control flow, or shapes that follow from the data: the graph is planned
  // while it runs. Null for all others; with it, there are no steps here.
  std::shared_ptr<FlowProgram> flow;
  double estimated_ns = 0;  // of the first segment
  // For choosing where the next run goes: every device of the pool that has
  // kernels for these shapes. Empty where there is nothing to choose, or where
  // only the run can tell (flow).
  std::vector<DeviceEstimate> device_estimates;
  // Host bytes of this object, its kernels' states included once it is
  // prepared. What others share is counted where it is kept: weights by their
  // store, packed weights by their device.
  uint64_t footprint_bytes = 0;
  // Those packed weights, in the order of its steps; one may be there twice.
  std::vector<std::shared_ptr<const Storage>> packed_weights;

  // The same, and what runs have left in it: segments and stages that are kept
  // for the next run. Thread-safe once the graph is prepared.
  uint64_t held_bytes() const;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_COMPILED_COMPILED_GRAPH_H_
