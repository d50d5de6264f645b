#include "engine/exec/compiled_run.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engine/compiled/compiled_node.h"
#include "engine/exec/stoppable_workers.h"
#include "engine/profile/clock.h"

namespace tensord {
namespace {

using op_profile::Phase;

// How often a wait on a device looks whether the client has gone.
constexpr absl::Duration kCancellationInterval = absl::Milliseconds(10);

// Steps between two looks at the clock on a synchronous lane.
constexpr size_t kStepsPerDeadlineCheck = 16;

// Charges the time since the last call to a phase.
class PhaseClock {
 public:
  explicit PhaseClock(PhaseTimes& phase_ns) : phase_ns_(phase_ns) {}

  void Charge(Phase phase) {
    const uint64_t now = ticks_.Now();
    phase_ns_[static_cast<size_t>(phase)] +=
        ticks_.ToNs(op_profile::TickClock::Elapsed(last_, now));
    last_ = now;
  }

 private:
  PhaseTimes& phase_ns_;
  const op_profile::TickClock ticks_ = op_profile::TickClock::Get();
  uint64_t last_ = ticks_.Now();
};

// What an asynchronous device may still touch after its run was given up.
struct Abandoned {
  std::shared_ptr<const void> inputs;
  absl::InlinedVector<HostValue, 4> outputs;
};

class Run {
 public:
  Run(LaneSlot& slot, const CompiledGraph& graph, const CompiledRun& run,
      BufferPool& buffers)
      : slot_(slot),
        graph_(graph),
        run_(run),
        outputs_(*run.outputs),
        buffers_(buffers),
        clock_(*run.phase_ns) {
    if (slot.workers() != nullptr && run.limits.is_stopped != nullptr) {
      workers_.emplace(*slot.workers(), *run.limits.is_stopped);
    }
  }

  absl::Status Execute(bool* lane_is_busy) {
    absl::Status status = ExecuteSegments();
    if (run_.preparation != nullptr) run_.preparation->Detach();
    if (!status.ok() && !slot_.lane().is_synchronous()) {
      // What was launched before the error still runs.
      if (!Settle()) {
        Abandon();
        *lane_is_busy = true;
      }
    }
    if (!status.ok()) outputs_.clear();
    if (!*lane_is_busy) slot_.Trim();
    return status;
  }

 private:
  absl::Status ExecuteSegments() {
    if (absl::Status s = CheckGoingOn(); !s.ok()) return s;
    if (absl::Status s =
            slot_.Reserve(graph_.arena_bytes, graph_.extent_cell_count);
        !s.ok()) {
      return s;
    }
    if (absl::Status s = BindPorts(); !s.ok()) return s;
    clock_.Charge(Phase::kUpload);

    if (absl::Status s = Launch(graph_.first); !s.ok()) return s;
    const int segment_count = graph_.later_segments == nullptr
                                  ? 1
                                  : graph_.later_segments->segment_count();
    for (int i = 1; i < segment_count; ++i) {
      // The extents that the next segment is specialised by must be there.
      if (absl::Status s = AwaitLane(); !s.ok()) return s;
      if (absl::Status s = CheckGoingOn(); !s.ok()) return s;
      absl::StatusOr<std::shared_ptr<const Segment>> segment =
          graph_.later_segments->Get(i, ReadExtents());
      if (!segment.ok()) return segment.status();
      clock_.Charge(Phase::kCompile);
      kept_segments_.push_back(*segment);
      if (absl::Status s = Launch(**segment); !s.ok()) return s;
    }
    if (absl::Status s = FinishOutputs(); !s.ok()) return s;
    return absl::OkStatus();
  }

  absl::Status CheckGoingOn() const { return run_.limits.Check(); }

  bool IsStaged() const { return !slot_.device().info().is_host_addressable; }

  // Inputs and outputs as operands: the execution's own host buffers, or, where
  // the host cannot address the device, their places in the arena.
  absl::Status BindPorts() {
    LaneSlot::Scratch& scratch = slot_.scratch();
    scratch.borrowed.Clear();
    scratch.inputs.clear();
    scratch.outputs.clear();
    const DeviceId device = slot_.device().info().id;
    for (size_t i = 0; i < graph_.inputs.size(); ++i) {
      const uint64_t size = graph_.inputs[i].size_bytes;
      const absl::Span<const std::byte> bytes = run_.inputs[i];
      if (IsStaged()) {
        scratch.inputs.push_back(
            {slot_.arena(), graph_.input_offsets[i], size});
        if (absl::Status s =
                slot_.lane().CopyToDevice(bytes, scratch.inputs.back());
            !s.ok()) {
          return s;
        }
      } else {
        scratch.inputs.push_back(
            {scratch.borrowed.Add(device, bytes), 0, size});
      }
    }
    outputs_.clear();
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      const Port& port = graph_.outputs[i];
      absl::StatusOr<PooledBuffer> bytes = buffers_.Allocate(port.size_bytes);
      if (!bytes.ok()) return bytes.status();
      outputs_.push_back({port.dtype, port.shape, *std::move(bytes)});
      scratch.outputs.push_back(
          IsStaged() ? StorageView{slot_.arena(), graph_.output_offsets[i],
                                   port.size_bytes}
                     : StorageView{scratch.borrowed.Add(
                                       device, outputs_.back().bytes.bytes()),
                                   0, port.size_bytes});
    }
    return absl::OkStatus();
  }

  StorageView View(const Operand& operand) {
    const LaneSlot::Scratch& scratch = slot_.scratch();
    switch (operand.place) {
      case Operand::Place::kAbsent:
        return {};
      case Operand::Place::kInput:
        return Sized(scratch.inputs[operand.index], operand.size_bytes);
      case Operand::Place::kOutput:
        return Sized(scratch.outputs[operand.index], operand.size_bytes);
      case Operand::Place::kArena:
        return {slot_.arena(), operand.offset_bytes, operand.size_bytes};
      case Operand::Place::kWeight:
        return {graph_.weights[operand.index]->storage.get(), 0,
                operand.size_bytes};
    }
    return {};
  }

  static StorageView Sized(StorageView view, uint64_t size_bytes) {
    view.size_bytes = size_bytes;
    return view;
  }

  absl::Status Launch(const Segment& segment) {
    LaunchContext context{
        .lane = &slot_.lane(),
        .profile = run_.shard,
        .workers = workers_.has_value() ? &*workers_ : slot_.workers(),
        .is_stopped = run_.limits.is_stopped};
    const bool is_synchronous = slot_.lane().is_synchronous();
    for (size_t i = 0; i < segment.steps.size(); ++i) {
      const Step& step = segment.steps[i];
      if (run_.preparation != nullptr && &segment == &graph_.first) {
        if (absl::Status s = run_.preparation->Take(static_cast<int64_t>(i),
                                                    run_.limits.deadline);
            !s.ok()) {
          return s;
        }
      }
      if (is_synchronous && i % kStepsPerDeadlineCheck == 0) {
        if (absl::Status s = CheckGoingOn(); !s.ok()) return s;
      }
      absl::Status s = LaunchStep(step, context);
      // Its outputs are undefined then, whatever the kernel says; but a fault
      // of the device is told, or the pool would go on with it.
      if (run_.limits.IsStopped() && !MayBeFault(s)) {
        return run_.limits.Check();
      }
      if (!s.ok()) {
        return WithNode(s, graph_.graph->nodes[step.node_id].name);
      }
    }
    clock_.Charge(Phase::kRun);
    return absl::OkStatus();
  }

  absl::Status LaunchStep(const Step& step, LaunchContext& context) {
    std::vector<StorageView>& operands = slot_.scratch().operands;
    operands.clear();
    for (const Operand& operand : step.operands) {
      operands.push_back(View(operand));
    }
    context.workspace = {};
    if (step.workspace_bytes > 0) {
      context.workspace = {slot_.arena(), step.workspace_offset,
                           step.workspace_bytes};
    }
    context.extent_cells = {};
    if (step.extent_cell_count > 0) {
      context.extent_cells = {slot_.extent_cells(),
                              step.extent_cell_index * sizeof(int64_t),
                              step.extent_cell_count * sizeof(int64_t)};
    }
    const absl::Span<const StorageView> all = operands;
    // Lanes keep order, so nobody waits for a single launch: the one event of a
    // segment is recorded behind its last (AwaitLane).
    absl::StatusOr<CompletionHandle> handle = ExecuteCompiledWithWaitHint(
        context, step.node, all.first(step.node.input_count),
        all.subspan(step.node.input_count), step.layouts,
        /*will_be_waited=*/false);
    return handle.status();
  }

  // Waits for everything launched so far.
  absl::Status AwaitLane() {
    absl::StatusOr<CompletionHandle> handle = slot_.lane().RecordCompletion();
    if (!handle.ok()) return handle.status();
    absl::Status status;
    while (handle->state() == CompletionHandle::State::kPending) {
      const absl::Time look = absl::Now() + kCancellationInterval;
      status = handle->WaitUntil(std::min(look, run_.limits.deadline));
      if (!absl::IsDeadlineExceeded(status)) break;
      if (absl::Status s = CheckGoingOn(); !s.ok()) {
        clock_.Charge(Phase::kWait);
        return s;
      }
    }
    clock_.Charge(Phase::kWait);
    return status;
  }

  absl::Span<const int64_t> ReadExtents() {
    std::vector<int64_t>& extents = slot_.scratch().extents;
    extents.resize(graph_.extent_cell_count);
    std::memcpy(extents.data(), slot_.extent_cells()->address(),
                extents.size() * sizeof(int64_t));
    return extents;
  }

  absl::Status FinishOutputs() {
    for (const OutputCopy& copy : graph_.output_copies) {
      const StorageView target = slot_.scratch().outputs[copy.output_index];
      if (absl::Status s = slot_.lane().Copy(View(copy.source), target);
          !s.ok()) {
        return s;
      }
    }
    if (IsStaged()) {
      for (size_t i = 0; i < outputs_.size(); ++i) {
        if (absl::Status s = slot_.lane().CopyToHost(slot_.scratch().outputs[i],
                                                     outputs_[i].bytes.bytes());
            !s.ok()) {
          return s;
        }
      }
      clock_.Charge(Phase::kDownload);
    }
    if (absl::Status s = AwaitLane(); !s.ok()) return s;
    return graph_.later_segments == nullptr ? absl::OkStatus() : TrimOutputs();
  }

  // Outputs whose extents only the data could tell were sized for the bound.
  absl::Status TrimOutputs() {
    absl::StatusOr<std::vector<Shape>> shapes =
        graph_.later_segments->OutputShapes(ReadExtents());
    if (!shapes.ok()) return shapes.status();
    for (size_t i = 0; i < shapes->size(); ++i) {
      HostValue& output = outputs_[i];
      output.shape = std::move((*shapes)[i]);
      output.bytes.Truncate(
          ByteSize(output.dtype, output.shape.element_count()));
    }
    return absl::OkStatus();
  }

  // After an error: whether everything that was launched is done, waiting as
  // long as the execution may.
  bool Settle() {
    return slot_.lane()
               .Drain(std::min(run_.limits.deadline,
                               absl::Now() + kCancellationInterval))
               .code() != absl::StatusCode::kDeadlineExceeded;
  }

  void Abandon() {
    auto abandoned = std::make_shared<Abandoned>();
    abandoned->inputs = run_.take_inputs();
    abandoned->outputs = std::move(outputs_);
    slot_.lane().Retain(std::move(abandoned));
    for (auto& segment : kept_segments_) {
      slot_.lane().Retain(std::move(segment));
    }
  }

  LaneSlot& slot_;
  const CompiledGraph& graph_;
  const CompiledRun& run_;
  absl::InlinedVector<HostValue, 4>& outputs_;
  BufferPool& buffers_;
  PhaseClock clock_;
  std::optional<StoppableWorkers> workers_;  // unless nobody stops launches
  // Later segments that the lane's work may refer to, until it is waited for.
  std::vector<std::shared_ptr<const Segment>> kept_segments_;
};

}  // namespace

absl::Status RunLimits::Check() const {
  // First: a cancellation raises it last, and then is the reason.
  const bool was_stopped = IsStopped();
  if (is_cancelled != nullptr &&
      is_cancelled->load(std::memory_order_relaxed)) {
    return absl::CancelledError("the execution was cancelled");
  }
  if (was_stopped ||
      (deadline != absl::InfiniteFuture() && absl::Now() >= deadline)) {
    return absl::DeadlineExceededError(
        "the deadline passed while the execution ran");
  }
  return absl::OkStatus();
}

absl::Status RunCompiled(LaneSlot& slot, const CompiledGraph& graph,
                         const CompiledRun& run, BufferPool& buffers,
                         bool* lane_is_busy) {
  *lane_is_busy = false;
  return Run(slot, graph, run, buffers).Execute(lane_is_busy);
}

bool MayBeFault(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsInternal(status);
}

}  // namespace tensord
