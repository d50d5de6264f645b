#ifndef TENSORD_ENGINE_EXEC_EXECUTOR_H_
#define TENSORD_ENGINE_EXEC_EXECUTOR_H_

#include "absl/status/status.h"
#include "engine/compiled/compiled_graph.h"
#include "engine/compiled/preparation.h"
#include "engine/exec/execution.h"
#include "engine/exec/lane_slot.h"
#include "engine/memory/buffer_pool.h"

namespace tensord {

// Runs one execution of a compiled graph on a leased lane: RunCompiled over the
// execution's own inputs and outputs, with its accounting around it.
//
// `preparation` is null for a prepared graph. For a pipelined first run it is
// the channel that the compiler thread publishes to: each step is launched once
// its node is prepared. The run detaches from it when it ends early.
//
// The execution's inputs may have been used up on return: a busy lane (see
// RunCompiled) and a graph run in stages take them over.
//
// Threading: the thread that leases the slot. Errors: as RunCompiled.
absl::Status RunExecution(LaneSlot& slot, const CompiledGraph& graph,
                          Execution& execution, BufferPool& buffers,
                          PreparationChannel* preparation, bool* lane_is_busy);

}  // namespace tensord

#endif  // TENSORD_ENGINE_EXEC_EXECUTOR_H_
