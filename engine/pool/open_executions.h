#ifndef TENSORD_ENGINE_POOL_OPEN_EXECUTIONS_H_
#define TENSORD_ENGINE_POOL_OPEN_EXECUTIONS_H_

#include <atomic>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "engine/exec/execution.h"
#include "engine/profile/phase_profile.h"

namespace tensord {

// Every execution between its start and its answer: the one place that calls
// on_done, so that each is answered once and none is forgotten at shutdown.
//
// Threading: every method may be called from any thread.
// Ownership: borrows the profile, which may be null and outlives it.
class OpenExecutions {
 public:
  explicit OpenExecutions(op_profile::PhaseProfile* phases) : phases_(phases) {}

  // Every execution comes here first: what an earlier run left is cleared, and
  // there is room for the trace that it asks for.
  void Open(Execution& execution);

  // Accounts the run's phases, lets go of what the engine held for it, and
  // calls on_done; the execution may be gone when it returns.
  void Answer(Execution& execution, absl::Status status);

  int64_t count() const { return count_.load(std::memory_order_relaxed); }

  // Waits until every on_done has returned: false when one has not by then.
  bool AwaitNone(absl::Time deadline) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void Close() ABSL_LOCKS_EXCLUDED(mu_);

  op_profile::PhaseProfile* const phases_;
  std::atomic<int64_t> count_{0};
  absl::Mutex mu_;
  absl::CondVar none_;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_POOL_OPEN_EXECUTIONS_H_
