#ifndef TENSORD_BACKENDS_API_LAUNCH_CONTEXT_H_
#define TENSORD_BACKENDS_API_LAUNCH_CONTEXT_H_

#include <atomic>
#include <cstdint>

#include "backends/api/storage.h"

namespace tensord {

class Lane;
class WorkerPool;

namespace op_profile {
class Shard;
}

// Where a launch happens: everything that changes from one execution to the
// next but the operands.
//
// Threading: used by the one thread that holds the lane.
// Ownership: borrows all of it for the length of the launch. On an asynchronous
//   lane the memory must stay until the lane's completion.
struct LaunchContext {
  Lane* lane = nullptr;

  // The node's scratch memory in the arena: at least what the kernel's
  // `workspace_bytes` asked for, aligned to kStorageAlignment. Its contents are
  // undefined before and after.
  StorageView workspace;

  // Where a kernel whose run tells extents writes them: int64 values, all
  // extents of all its present outputs, in order, in host-addressable memory.
  // Absent where every extent follows from what was known before the launch.
  StorageView extent_cells;

  // Accounting of launches; null counts nothing.
  op_profile::Shard* profile = nullptr;

  // Threads for CPU kernels; never null on a CPU lane.
  WorkerPool* workers = nullptr;

  // Set by another thread when the run is to end before it is done. A kernel
  // that can take long looks at it between pieces of its work, and returns
  // kCancelled; its outputs are then undefined. Null: never.
  const std::atomic<bool>* is_stopped = nullptr;
};

}  // namespace tensord

#endif  // TENSORD_BACKENDS_API_LAUNCH_CONTEXT_H_
