#include "engine/exec/step_launcher.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "engine/compiled/compiled_node.h"
#include "engine/profile/launch.h"

namespace tensord {
namespace {

// Steps between two looks at the clock on a synchronous lane.
constexpr int32_t kStepsPerDeadlineCheck = 16;

// A program of one launch would save nothing.
constexpr int32_t kMinRecordedSteps = 2;

// What one replay of a stretch launches, by slot.
std::vector<op_profile::ProgramLaunches> LaunchesOf(const Segment& segment,
                                                    const Stretch& stretch) {
  absl::btree_map<uint32_t, op_profile::ProgramLaunches> by_slot;
  for (int32_t i = 0; i < stretch.step_count; ++i) {
    const op_profile::LaunchSite& site =
        segment.steps[stretch.first_step + i].node.site;
    op_profile::ProgramLaunches& sum = by_slot[site.slot];
    sum.slot = site.slot;
    ++sum.launches;
    sum.bytes += site.bytes;
  }
  std::vector<op_profile::ProgramLaunches> launches;
  for (const auto& [slot, sum] : by_slot) launches.push_back(sum);
  return launches;
}

}  // namespace

StepLauncher::StepLauncher(LaneSlot& slot, const CompiledGraph& graph,
                           const CompiledRun& run, const RunOperands& operands)
    : slot_(slot), graph_(graph), run_(run), operands_(operands) {
  if (slot.workers() != nullptr && run.limits.is_stopped != nullptr) {
    workers_.emplace(*slot.workers(), *run.limits.is_stopped);
  }
}

void StepLauncher::Begin() {
  const bool is_wanted = run_.shard != nullptr &&
                         (run_.shard->is_sampled() || wants_device_rows());
  has_marks_ = is_wanted && graph_.time_mark_count > 0 &&
               graph_.time_mark_count <= kMaxTimeMarks &&
               slot_.ReserveTimeMarks(graph_.time_mark_count).ok();
}

absl::Status StepLauncher::Launch(const Segment& segment,
                                  const std::shared_ptr<const Segment>& owner,
                                  size_t index) {
  const Stretch& stretch = segment.stretches[index];
  if (stretch.runs_on_host) {
    return LaunchSteps(segment, stretch, run_.host_shard, false);
  }
  LanePrograms::Recording* recording = RecordingOf(segment, owner, index);
  if (recording != nullptr) {
    if (const Program* program = ProgramOf(segment, stretch, *recording)) {
      const auto submit = [&] { return slot_.lane().Submit(*program); };
      if (recording->counter == nullptr) return submit();
      return op_profile::CountReplay(run_.shard, *recording->counter, submit);
    }
  }
  absl::Status status = LaunchSteps(segment, stretch, run_.shard, has_marks_);
  if (recording != nullptr && status.ok()) recording->has_run = true;
  return status;
}

LanePrograms::Recording* StepLauncher::RecordingOf(
    const Segment& segment, const std::shared_ptr<const Segment>& owner,
    size_t index) {
  // A trace shows every launch, and what is being prepared cannot be recorded.
  if (slot_.programs() == nullptr || run_.preparation != nullptr ||
      run_.trace != nullptr || !slot_.KeepsArena(graph_.arena_bytes) ||
      segment.stretches[index].step_count < kMinRecordedSteps) {
    return nullptr;
  }
  return slot_.programs()->Find(graph_, segment, owner, index);
}

const Program* StepLauncher::ProgramOf(const Segment& segment,
                                       const Stretch& stretch,
                                       LanePrograms::Recording& recording) {
  if (!recording.has_run || recording.is_refused) return nullptr;
  // Without its marks the run's others tell nothing.
  has_marks_ = has_marks_ && !recording.marked_is_refused;
  const bool is_marked = has_marks_;
  std::unique_ptr<Program>& program =
      is_marked ? recording.marked_program : recording.program;
  if (program != nullptr) return program.get();
  if (recording.counter == nullptr && slot_.profile() != nullptr) {
    recording.counter = slot_.profile()->CreateProgram(
        slot_.device().info().id, LaunchesOf(segment, stretch));
  }
  program = Record(segment, stretch, is_marked);
  if (program == nullptr) {
    // One that was stopped is no failure of the recording.
    if (run_.limits.IsStopped()) return nullptr;
    (is_marked ? recording.marked_is_refused : recording.is_refused) = true;
    return is_marked ? ProgramOf(segment, stretch, recording) : nullptr;
  }
  has_recorded_ = true;
  const Program* recorded = program.get();
  slot_.programs()->CountRecorded(segment, stretch.step_count);
  return recorded;
}

// What fails here is launched step by step, which tells whether the device or
// the recording was at fault.
std::unique_ptr<Program> StepLauncher::Record(const Segment& segment,
                                              const Stretch& stretch,
                                              bool with_marks) {
  Lane& lane = slot_.lane();
  if (!lane.BeginRecording().ok()) return nullptr;
  const absl::Status launched =
      LaunchSteps(segment, stretch, /*shard=*/nullptr, with_marks);
  absl::StatusOr<std::unique_ptr<Program>> program = lane.EndRecording();
  if (!launched.ok() || !program.ok()) return nullptr;
  return *std::move(program);
}

absl::Status StepLauncher::LaunchSteps(const Segment& segment,
                                       const Stretch& stretch,
                                       op_profile::Shard* shard,
                                       bool with_marks) {
  LaunchContext context{
      .lane = stretch.runs_on_host ? slot_.host_lane() : &slot_.lane(),
      .profile = shard,
      .workers = workers_.has_value() ? &*workers_ : slot_.workers(),
      .is_stopped = run_.limits.is_stopped};
  const bool is_synchronous = context.lane->is_synchronous();
  if (with_marks) {
    if (absl::Status s = context.lane->RecordTimeMark(stretch.first_time_mark);
        !s.ok()) {
      return s;
    }
  }
  for (int32_t i = 0; i < stretch.step_count; ++i) {
    const Step& step = segment.steps[stretch.first_step + i];
    if (absl::Status s = AwaitPreparation(segment, stretch.first_step + i);
        !s.ok()) {
      return s;
    }
    if (is_synchronous && i % kStepsPerDeadlineCheck == 0) {
      if (absl::Status s = run_.limits.Check(); !s.ok()) return s;
    }
    const size_t trace_row = trace_row_count();
    absl::Status s = LaunchStep(step, context);
    if (run_.trace != nullptr) {
      run_.trace->SetNode(trace_row, graph_.graph->nodes[step.node_id].name);
    }
    // Its outputs are undefined then, whatever the kernel says; but a fault
    // of the device is told, or the pool would go on with it.
    if (run_.limits.IsStopped() && !MayBeFault(s)) return run_.limits.Check();
    if (s.ok() && with_marks) {
      s = context.lane->RecordTimeMark(stretch.first_time_mark + i + 1);
    }
    if (!s.ok()) return WithNode(s, graph_.graph->nodes[step.node_id].name);
  }
  return absl::OkStatus();
}

absl::Status StepLauncher::AwaitPreparation(const Segment& segment,
                                            int32_t step) {
  if (run_.preparation == nullptr || &segment != &graph_.first) {
    return absl::OkStatus();
  }
  return run_.preparation->Take(step, run_.limits.deadline);
}

absl::Status StepLauncher::LaunchStep(const Step& step,
                                      LaunchContext& context) {
  std::vector<StorageView>& operands = slot_.scratch().operands;
  operands.clear();
  for (const Operand& operand : step.operands) {
    operands.push_back(operands_.View(operand));
  }
  context.workspace = {};
  if (step.workspace_bytes > 0) {
    context.workspace = {step.runs_on_host ? slot_.host_arena() : slot_.arena(),
                         step.workspace_offset, step.workspace_bytes};
  }
  context.extent_cells = {};
  if (step.extent_cell_count > 0) {
    context.extent_cells = {slot_.extent_cells(),
                            step.extent_cell_index * sizeof(int64_t),
                            step.extent_cell_count * sizeof(int64_t)};
  }
  const absl::Span<const StorageView> all = operands;
  // Lanes keep order, so nobody waits for a single launch: the one event of a
  // segment is recorded behind its last.
  absl::StatusOr<CompletionHandle> handle = ExecuteCompiledWithWaitHint(
      context, step.node, all.first(step.node.input_count),
      all.subspan(step.node.input_count), step.layouts,
      /*will_be_waited=*/false);
  return handle.status();
}

bool StepLauncher::ReadDeviceTimes() {
  return has_marks_ &&
         slot_.lane()
             .ReadTimeMarks(absl::MakeSpan(slot_.scratch().time_marks))
             .ok();
}

size_t StepLauncher::trace_row_count() const {
  return run_.trace == nullptr ? 0 : run_.trace->rows().size();
}

void StepLauncher::AccountDeviceTimes(const Segment& segment,
                                      size_t first_trace_row) {
  const absl::Span<const int64_t> marks = slot_.scratch().time_marks;
  // Each step has left a row, those on the host too.
  size_t trace_row = first_trace_row;
  for (const Stretch& stretch : segment.stretches) {
    for (int32_t i = 0; i < stretch.step_count; ++i, ++trace_row) {
      if (stretch.runs_on_host) continue;
      const CompiledNode& node = segment.steps[stretch.first_step + i].node;
      const int32_t mark = stretch.first_time_mark + i;
      const int64_t duration_ns =
          std::max<int64_t>(0, marks[mark + 1] - marks[mark]);
      if (run_.shard->is_sampled()) {
        run_.shard->AddDeviceDuration(node.op, node.backend,
                                      static_cast<uint64_t>(duration_ns));
      }
      if (!wants_device_rows() || trace_row >= trace_row_count()) continue;
      if (!device_origin_ns_.has_value()) {
        device_origin_ns_ =
            static_cast<int64_t>(run_.trace->rows()[trace_row].start_ns) -
            marks[mark];
      }
      run_.trace->SetDeviceTimes(trace_row, *device_origin_ns_ + marks[mark],
                                 duration_ns);
    }
  }
}

}  // namespace tensord
