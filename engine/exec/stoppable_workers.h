#ifndef TENSORD_ENGINE_EXEC_STOPPABLE_WORKERS_H_
#define TENSORD_ENGINE_EXEC_STOPPABLE_WORKERS_H_

#include <atomic>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "backends/api/host_services.h"

namespace tensord {

// The worker pool as one run's kernels see it: once the run is stopped, nothing
// more is taken up. ParallelFor hands out its indices in pieces with a look at
// the flag before each, and returns without the rest. So every kernel that
// spreads its work ends soon, whether it knows of the flag or not; what it then
// writes is undefined, and whatever it returns, the run ends as stopped.
//
// What this asks of a kernel: after a ParallelFor it may not trust what the
// body should have written to be an index, a count or a pointer without a look
// at LaunchContext::is_stopped. Numbers may be anything.
//
// Threading: as WorkerPool. Ownership: borrows both, which outlive it.
class StoppableWorkers final : public WorkerPool {
 public:
  StoppableWorkers(WorkerPool& workers, const std::atomic<bool>& is_stopped)
      : workers_(workers), is_stopped_(is_stopped) {}

  int concurrency() const override { return workers_.concurrency(); }

  void ParallelFor(
      int64_t count, int64_t grain,
      absl::FunctionRef<void(int64_t begin, int64_t end)> body) override;

 private:
  WorkerPool& workers_;
  const std::atomic<bool>& is_stopped_;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_EXEC_STOPPABLE_WORKERS_H_
