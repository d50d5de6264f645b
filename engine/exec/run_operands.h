#ifndef TENSORD_ENGINE_EXEC_RUN_OPERANDS_H_
#define TENSORD_ENGINE_EXEC_RUN_OPERANDS_H_

#include <cstddef>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/compiled/compiled_graph.h"
#include "engine/exec/execution.h"
#include "engine/exec/lane_slot.h"
#include "engine/memory/buffer_pool.h"

namespace tensord {

// Where the operands of one run are: places of the plan to views of memory.
//
// Threading: whoever leases the slot. Ownership: borrows everything; what it
// gives is valid until the slot's next run.
class RunOperands {
 public:
  RunOperands(LaneSlot& slot, const CompiledGraph& graph)
      : slot_(slot), graph_(graph) {}

  // Whether the host cannot address the device's memory, so that a place is in
  // one of two memories.
  bool has_two_memories() const {
    return !slot_.device().info().is_host_addressable;
  }

  // Makes room in the slot, and the outputs' buffers; enqueues the copies of
  // inputs that steps on the device need. The execution's own host buffers are
  // the operands of all other steps.
  // Errors: the device's; kResourceExhausted without memory.
  absl::Status Bind(absl::Span<const absl::Span<const std::byte>> inputs,
                    absl::InlinedVector<HostValue, 4>& outputs,
                    BufferPool& buffers);

  StorageView View(const Operand& operand) const;

  // Enqueues one copy between the two memories.
  absl::Status Copy(const Transfer& transfer);
  // Enqueues the copies of those outputs that are on the device in the end.
  absl::Status Download();
  // Fills outputs that are other values too. On the device's lane, enqueued;
  // with two memories at once, in host memory, where all of it must have
  // arrived.
  absl::Status CopyOutputs();

 private:
  absl::Status Reserve();
  absl::Status Upload(StorageView source, StorageView target);
  absl::Status Download(StorageView source, StorageView target);

  LaneSlot& slot_;
  const CompiledGraph& graph_;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_EXEC_RUN_OPERANDS_H_
