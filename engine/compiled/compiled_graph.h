#ifndef TENSORD_ENGINE_COMPILED_COMPILED_GRAPH_H_
#define TENSORD_ENGINE_COMPILED_COMPILED_GRAPH_H_

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "backends/api/backend.h"
#include "backends/api/device_id.h"
#include "backends/api/layout.h"
#include "backends/api/storage.h"
#include "engine/compiled/compiled_node.h"
#include "engine/compiled/explain.h"
#include "engine/compiled/growth_observer.h"
#include "engine/graph/graph.h"
#include "engine/memory/weight_store.h"

namespace tensord {

class FlowProgram;

// Where an operand's bytes are when a graph runs.
//
// A graph for a device whose memory the host does not address has two of each
// place: on the device, and in host memory, where the client's inputs and
// outputs are and where nodes run that the device has no kernel for. On other
// devices there is one memory, and nothing is "on the host".
struct Operand {
  enum class Place : uint8_t { kAbsent, kInput, kOutput, kArena, kWeight };

  Place place = Place::kAbsent;
  bool is_on_host = false;
  int32_t index = 0;          // of the input, output or weight
  uint64_t offset_bytes = 0;  // in the arena of that memory
  uint64_t size_bytes = 0;
};

// One launch: a compiled node with the places of its operands.
struct Step {
  CompiledNode node;
  NodeId node_id = kNoNode;
  bool runs_on_host = false;  // by the graph's host device: see Stretch
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
// bytes are copied after the last launch. Both ends are in the same memory: the
// device's own, or the host's where there are two (Operand::is_on_host).
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

// A copy of a value to the other memory; which way, source.is_on_host says.
struct Transfer {
  Operand source;
  Operand target;
};

// Steps that follow each other in a segment and run in one memory: on the
// graph's device or, where that has no kernel for them, on its host device.
struct Stretch {
  bool runs_on_host = false;
  int32_t first_step = 0;  // in the segment
  int32_t step_count = 0;
  // Where the device's own times are wanted: the number of the time mark before
  // its first step; the following ones are behind its steps.
  int32_t first_time_mark = 0;
  std::vector<Transfer> transfers;  // to its memory, before its first step
};

// Steps whose extents are all known when the first of them starts.
struct Segment {
  std::vector<Step> steps;
  std::vector<Stretch> stretches;  // together all steps, in order

  // Entries of LanePrograms that share a segment after the first.
  mutable std::atomic<int> lane_holders{0};
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

// What one run copies between the two memories.
struct TransferTotals {
  int64_t count = 0;
  uint64_t bytes = 0;

  void Add(uint64_t size_bytes) {
    ++count;
    bytes += size_bytes;
  }
  // What that is estimated to take, one copy after the other.
  double EstimateNs(const DeviceInfo& device) const {
    return static_cast<double>(count) * device.copy_latency_ns +
           static_cast<double>(bytes) / device.copy_bytes_per_ns;
  }
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
// Threading: immutable once prepared, but for counters; shared by all
//   executions.
// Ownership: shares weights; owns the rest. Its device and kernels outlive it.
struct CompiledGraph : std::enable_shared_from_this<CompiledGraph> {
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
  // outputs are in the arena, behind the temporaries, or kNotOnDevice for those
  // that no step of the device needs. Empty elsewhere, where the execution's
  // own host buffers are the operands.
  static constexpr uint64_t kNotOnDevice = std::numeric_limits<uint64_t>::max();
  std::vector<uint64_t> input_offsets;
  std::vector<uint64_t> output_offsets;

  // What runs the steps that the device has no kernel for, and what those read
  // of the constants; null where nothing can, or need. It outlives the graph.
  Device* host_device = nullptr;
  std::vector<std::shared_ptr<const Weight>> host_weights;
  int32_t host_step_count = 0;    // of all segments
  uint64_t host_arena_bytes = 0;  // their temporaries and workspaces
  TransferTotals transfers;       // inputs and outputs included
  int32_t time_mark_count = 0;    // between the launches of the device

  uint64_t arena_bytes =
      0;  // temporaries, workspaces, inputs and outputs above
  // Both arenas, inputs and outputs: what admission counts.
  uint64_t peak_bytes = 0;
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

  // Of LanePrograms: what their programs of this graph take, and how many of
  // their entries share it.
  bool may_be_recorded = false;  // its device records programs
  mutable std::atomic<uint64_t> program_bytes{0};
  mutable std::atomic<int> lane_holders{0};
  // Told when a run has left something in the graph; null: nobody.
  GrowthObserver* growth = nullptr;

  // The footprint, and what runs have left in it: segments and stages that are
  // kept for the next run, programs. Thread-safe once the graph is prepared.
  uint64_t held_bytes() const;
  // Whether that changes from run to run.
  bool may_grow() const {
    return later_segments != nullptr || flow != nullptr || may_be_recorded;
  }
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_COMPILED_COMPILED_GRAPH_H_
