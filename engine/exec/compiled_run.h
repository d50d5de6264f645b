#ifndef TENSORD_ENGINE_EXEC_COMPILED_RUN_H_
#define TENSORD_ENGINE_EXEC_COMPILED_RUN_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "engine/compiled/compiled_graph.h"
#include "engine/compiled/preparation.h"
#include "engine/exec/execution.h"
#include "engine/exec/lane_slot.h"
#include "engine/memory/buffer_pool.h"
#include "engine/profile/shard.h"

namespace tensord {

// When a run must end although it is not done. A plain value; borrows the
// flags.
struct RunLimits {
  absl::Time deadline = absl::InfiniteFuture();
  const std::atomic<bool>* is_cancelled = nullptr;  // null: never
  // Raised by another thread for either reason, so that a launch under way sees
  // it (LaunchContext::is_stopped). Null: nobody interrupts launches.
  const std::atomic<bool>* is_stopped = nullptr;

  bool IsStopped() const {
    return is_stopped != nullptr && is_stopped->load(std::memory_order_acquire);
  }
  // OK, kCancelled or kDeadlineExceeded.
  absl::Status Check() const;
};

// One run of one compiled graph: of a whole execution, or of a stage of one
// whose graph has control flow. Borrows everything for the call's length.
struct CompiledRun {
  absl::Span<const absl::Span<const std::byte>> inputs;  // in host memory
  absl::InlinedVector<HostValue, 4>* outputs = nullptr;  // made here
  RunLimits limits;
  PhaseTimes* phase_ns = nullptr;
  op_profile::Shard* shard = nullptr;         // of an open ExecutionScope
  op_profile::Shard* host_shard = nullptr;    // the same, for steps on the host
  PreparationChannel* preparation = nullptr;  // of a pipelined first run
  // Each launch is to be seen. The shards of an open scope write to it, too.
  op_profile::TraceBuffer* trace = nullptr;

  // Hands over the owner of the inputs' bytes: called when the device may go on
  // reading them after the call.
  absl::FunctionRef<std::shared_ptr<const void>()> take_inputs;
};

// Runs it on a leased lane and returns when it is done: uploads what is not
// used in place, launches every step in order, waits only where a segment's
// extents are needed, where steps run on the host that read what the device
// has made, and at the end. A graph with such steps needs LaneSlot::OpenHost().
//
// On return the lane is idle unless `*lane_is_busy`: then a deadline or a
// cancellation ended the wait while the device still works; the lane keeps what
// that work refers to, and must be drained before its next lease. The compiled
// graph is the caller's to keep.
//
// Threading: the thread that leases the slot.
// Errors: the kernel's, the device's, kDeadlineExceeded, kCancelled,
//   kResourceExhausted. Outputs are set only with OK.
absl::Status RunCompiled(LaneSlot& slot, const CompiledGraph& graph,
                         const CompiledRun& run, BufferPool& buffers,
                         bool* lane_is_busy);

// Whether a device's own fault may be behind the status of a run or a launch.
bool MayBeFault(const absl::Status& status);

}  // namespace tensord

#endif  // TENSORD_ENGINE_EXEC_COMPILED_RUN_H_
