#ifndef TENSORD_ENGINE_EXEC_EXECUTOR_H_
#define TENSORD_ENGINE_EXEC_EXECUTOR_H_

#include "absl/status/status.h"
#include "engine/compiled/compiled_graph.h"
#include "engine/compiled/preparation.h"
#include "engine/exec/execution.h"
#include "engine/exec/lane_slot.h"
#include "engine/memory/buffer_pool.h"

namespace tensord {

// Runs one execution of a compiled graph on a leased lane, from inputs in host
// memory to outputs in host memory, and returns when it is done: uploads what
// is not used in place, launches every step in order, waits only where a
// segment's extents are needed and at the end.
//
// `preparation` is null for a prepared graph. For a pipelined first run it is
// the channel that the compiler thread publishes to: each step is launched once
// its node is prepared. The run detaches from it when it ends early.
//
// On return the lane is idle unless `*lane_is_busy`: then a deadline or a
// cancellation ended the wait while the device still works; the lane keeps what
// that work refers to (the execution's inputs and outputs were moved to it),
// and must be drained before its next lease.
//
// Threading: the thread that leases the slot.
// Errors: the kernel's, the device's, kDeadlineExceeded, kCancelled,
//   kResourceExhausted. Outputs are set only with OK.
absl::Status RunExecution(LaneSlot& slot, const CompiledGraph& graph,
                          Execution& execution, BufferPool& buffers,
                          PreparationChannel* preparation, bool* lane_is_busy);

}  // namespace tensord

#endif  // TENSORD_ENGINE_EXEC_EXECUTOR_H_
