#ifndef TENSORD_ENGINE_EXEC_STEP_LAUNCHER_H_
#define TENSORD_ENGINE_EXEC_STEP_LAUNCHER_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "backends/api/launch_context.h"
#include "engine/compiled/compiled_graph.h"
#include "engine/exec/compiled_run.h"
#include "engine/exec/lane_programs.h"
#include "engine/exec/lane_slot.h"
#include "engine/exec/run_operands.h"
#include "engine/exec/stoppable_workers.h"

namespace tensord {

// The launches of one run: step by step, or a whole stretch as a program that
// the lane has recorded; with time marks between them where the device's own
// times are wanted.
//
// Threading: whoever leases the slot. Ownership: borrows everything.
class StepLauncher {
 public:
  // Time marks of one run at most: a graph with more launches has no device
  // times.
  static constexpr int32_t kMaxTimeMarks = 8192;

  StepLauncher(LaneSlot& slot, const CompiledGraph& graph,
               const CompiledRun& run, const RunOperands& operands);

  // Before the first launch: makes the marks ready that the run will need.
  void Begin();

  // All steps of stretch `index`. What a device does not record, or fails to,
  // is launched step by step. `owner` as in LanePrograms::Find().
  // Errors: the kernels' with the node's name, the device's, and the run's
  //   limits'.
  absl::Status Launch(const Segment& segment,
                      const std::shared_ptr<const Segment>& owner,
                      size_t index);

  // Once the lane has passed all launches of the run: whether there are device
  // times of them; and accounts those of one segment.
  bool ReadDeviceTimes();
  void AccountDeviceTimes(const Segment& segment, size_t first_trace_row);

  // Rows that the run's trace has so far; 0 without one.
  size_t trace_row_count() const;

  // Whether the run has left something in its graph.
  bool has_recorded() const { return has_recorded_; }

 private:
  bool wants_device_rows() const {
    return run_.trace != nullptr && run_.trace->wants_device_times();
  }
  // Steps one by one.
  absl::Status LaunchSteps(const Segment& segment, const Stretch& stretch,
                           op_profile::Shard* shard, bool with_marks);
  absl::Status LaunchStep(const Step& step, LaunchContext& context);
  absl::Status AwaitPreparation(const Segment& segment, int32_t step);

  // Null: step by step.
  LanePrograms::Recording* RecordingOf(
      const Segment& segment, const std::shared_ptr<const Segment>& owner,
      size_t index);
  // The program to submit, recorded if it is time to; null: step by step.
  const Program* ProgramOf(const Segment& segment, const Stretch& stretch,
                           LanePrograms::Recording& recording);
  std::unique_ptr<Program> Record(const Segment& segment,
                                  const Stretch& stretch, bool with_marks);

  LaneSlot& slot_;
  const CompiledGraph& graph_;
  const CompiledRun& run_;
  const RunOperands& operands_;
  std::optional<StoppableWorkers> workers_;  // unless nobody stops launches
  bool has_marks_ = false;
  bool has_recorded_ = false;
  // Of the device's clock, in a trace: when its first launch was made.
  std::optional<int64_t> device_origin_ns_;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_EXEC_STEP_LAUNCHER_H_
