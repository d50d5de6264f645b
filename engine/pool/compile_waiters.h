#ifndef TENSORD_ENGINE_POOL_COMPILE_WAITERS_H_
#define TENSORD_ENGINE_POOL_COMPILE_WAITERS_H_

#include <atomic>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "engine/exec/execution.h"
#include "engine/pool/deadline_watch.h"
#include "engine/pool/execution_queue.h"
#include "engine/pool/open_executions.h"
#include "engine/pool/pool_options.h"

namespace tensord {

// Executions whose graph is being compiled. A compilation ends when it ends; an
// execution may be gone before, by its deadline or because it was cancelled.
// So whoever compiles remembers a ticket, which is never given out twice, and
// not an address.
//
// Threading: every method may be called from any thread.
// Ownership: borrows the executions while they wait, and its services.
class CompileWaiters final : public WaitingRoom {
 public:
  CompileWaiters(const PoolOptions& options, OpenExecutions& open,
                 DeadlineWatch& watch);

  // `expected` counts those who wait here for one device: their share in its
  // load. An error leaves the execution with the caller: kUnavailable after
  // Close(), and the queue's own.
  absl::StatusOr<uint64_t> Add(Execution& execution,
                               std::atomic<int64_t>& expected);

  // The execution, which no longer waits; null when it is gone already.
  Execution* Take(uint64_t ticket);

  bool Withdraw(Execution& execution) override;
  absl::Time AnswerExpired(absl::Time now) override;

  int64_t count() const;

  // Refuses what waits and what comes: kUnavailable.
  void Close();

 private:
  struct Waiter {
    Execution* execution;
    std::atomic<int64_t>* expected;
  };

  void Leave(Execution& execution) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const absl::Duration max_queue_time_;
  OpenExecutions& open_;
  DeadlineWatch& watch_;
  mutable absl::Mutex mu_;
  ExecutionQueue queue_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<uint64_t, Waiter> by_ticket_ ABSL_GUARDED_BY(mu_);
  uint64_t last_ticket_ ABSL_GUARDED_BY(mu_) = 0;
  bool is_closing_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_POOL_COMPILE_WAITERS_H_
