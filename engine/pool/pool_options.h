#ifndef TENSORD_ENGINE_POOL_POOL_OPTIONS_H_
#define TENSORD_ENGINE_POOL_POOL_OPTIONS_H_

#include <cstdint>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "backends/api/host_services.h"
#include "engine/exec/executor.h"
#include "engine/memory/buffer_pool.h"
#include "engine/pool/deadline_watch.h"
#include "engine/pool/open_executions.h"
#include "engine/profile/op_profile.h"

namespace tensord {

// How a leased lane runs an execution: RunExecution, but in tests of the pool.
using RunFunction = absl::Status (*)(LaneSlot& slot, const CompiledGraph& graph,
                                     Execution& execution, BufferPool& buffers,
                                     PreparationChannel* preparation,
                                     bool* lane_is_busy);

// What an operator may set of the pool; see EngineOptions for each.
// Threading and ownership: a plain value.
struct PoolOptions {
  int lanes_per_device = 0;
  int64_t max_queue_length = 1024;
  uint64_t max_queued_bytes = uint64_t{1} << 30;
  absl::Duration max_queue_time = absl::Minutes(5);
  absl::Duration max_execution_time = absl::Minutes(5);
  absl::Duration hang_timeout = absl::Seconds(30);
  absl::Duration probe_interval = absl::Seconds(10);
  absl::Duration max_stall_time = absl::Minutes(1);
  absl::Duration inline_limit = absl::Microseconds(50);
  bool records_programs = true;
  RunFunction run = &RunExecution;
};

// What the pool borrows; all of it outlives the pool.
struct PoolServices {
  BufferPool* buffers = nullptr;
  OpenExecutions* open = nullptr;
  DeadlineWatch* watch = nullptr;
  op_profile::OpProfile* profile = nullptr;  // may be null
  HostServices host;                         // the logger may be null

  // Finds another device for an execution that was queued on one that was
  // lost, or answers it. Called without a lock.
  absl::AnyInvocable<void(Execution& execution) const> reroute;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_POOL_POOL_OPTIONS_H_
