#include "engine/exec/compiled_run.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "engine/exec/run_operands.h"
#include "engine/exec/step_launcher.h"
#include "engine/profile/clock.h"

namespace tensord {
namespace {

using op_profile::Phase;

// How often a wait on a device looks whether the client has gone.
constexpr absl::Duration kCancellationInterval = absl::Milliseconds(10);

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
        operands_(slot, graph),
        launcher_(slot, graph, run, operands_),
        buffers_(buffers),
        clock_(*run.phase_ns) {}

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
    if (status.ok()) {
      AccountDeviceTimes();
    } else {
      outputs_.clear();
    }
    if (!*lane_is_busy) slot_.Trim();
    return status;
  }

  bool has_recorded() const { return launcher_.has_recorded(); }

 private:
  absl::Status ExecuteSegments() {
    if (absl::Status s = CheckGoingOn(); !s.ok()) return s;
    if (absl::Status s = operands_.Bind(run_.inputs, outputs_, buffers_);
        !s.ok()) {
      return s;
    }
    launcher_.Begin();
    clock_.Charge(Phase::kUpload);

    if (absl::Status s = Launch(graph_.first, nullptr); !s.ok()) return s;
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
      if (absl::Status s = Launch(**segment, *segment); !s.ok()) return s;
    }
    if (absl::Status s = FinishOutputs(); !s.ok()) return s;
    return absl::OkStatus();
  }

  absl::Status CheckGoingOn() const { return run_.limits.Check(); }

  absl::Status Launch(const Segment& segment,
                      const std::shared_ptr<const Segment>& owner) {
    if (run_.trace != nullptr) {
      first_trace_rows_.push_back(launcher_.trace_row_count());
      run_.trace->BeginSegment();
    }
    for (size_t i = 0; i < segment.stretches.size(); ++i) {
      if (absl::Status s = BringOver(segment.stretches[i]); !s.ok()) return s;
      if (i > 0) {
        if (absl::Status s = CheckGoingOn(); !s.ok()) return s;
      }
      if (absl::Status s = launcher_.Launch(segment, owner, i); !s.ok()) {
        return s;
      }
      clock_.Charge(Phase::kRun);
    }
    return absl::OkStatus();
  }

  // What a stretch needs that is in the other memory. Steps on the host find it
  // there: they wait for the lane, but for nothing that they do not read, and
  // do not write what the lane still copies from.
  absl::Status BringOver(const Stretch& stretch) {
    for (const Transfer& transfer : stretch.transfers) {
      if (absl::Status s = operands_.Copy(transfer); !s.ok()) return s;
      lane_reads_host_arena_ |= transfer.source.is_on_host &&
                                transfer.source.place == Operand::Place::kArena;
    }
    if (!stretch.transfers.empty()) {
      clock_.Charge(stretch.runs_on_host ? Phase::kDownload : Phase::kUpload);
    }
    if (!stretch.runs_on_host ||
        (stretch.transfers.empty() && !lane_reads_host_arena_)) {
      return absl::OkStatus();
    }
    return AwaitLane();
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
    lane_reads_host_arena_ &= !status.ok();
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
    if (operands_.has_two_memories()) {
      if (absl::Status s = operands_.Download(); !s.ok()) return s;
      clock_.Charge(Phase::kDownload);
      if (absl::Status s = AwaitLane(); !s.ok()) return s;
      if (absl::Status s = operands_.CopyOutputs(); !s.ok()) return s;
    } else {
      if (absl::Status s = operands_.CopyOutputs(); !s.ok()) return s;
      if (absl::Status s = AwaitLane(); !s.ok()) return s;
    }
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

  // Of a run that is sampled or traced.
  void AccountDeviceTimes() {
    if (!launcher_.ReadDeviceTimes()) return;
    const auto first_row = [&](size_t segment) {
      return run_.trace == nullptr ? 0 : first_trace_rows_[segment];
    };
    launcher_.AccountDeviceTimes(graph_.first, first_row(0));
    for (size_t i = 0; i < kept_segments_.size(); ++i) {
      launcher_.AccountDeviceTimes(*kept_segments_[i], first_row(i + 1));
    }
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
  RunOperands operands_;
  StepLauncher launcher_;
  BufferPool& buffers_;
  PhaseClock clock_;
  // It may, until it is waited for.
  bool lane_reads_host_arena_ = false;
  // Later segments that the lane's work may refer to, until it is waited for.
  std::vector<std::shared_ptr<const Segment>> kept_segments_;
  std::vector<size_t> first_trace_rows_;  // by segment, of a traced run
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
  Run this_run(slot, graph, run, buffers);
  absl::Status status = this_run.Execute(lane_is_busy);
  if (this_run.has_recorded() && graph.growth != nullptr) {
    graph.growth->OnGrowth();
  }
  return status;
}

bool MayBeFault(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsInternal(status);
}

}  // namespace tensord
