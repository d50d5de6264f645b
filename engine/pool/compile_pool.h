#ifndef TENSORD_ENGINE_POOL_COMPILE_POOL_H_
#define TENSORD_ENGINE_POOL_COMPILE_POOL_H_

#include <cstdint>
#include <deque>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"

namespace tensord {

// The threads that decode, check and compile graphs: few, at the lowest
// priority, so that a compilation takes time from no execution. No execution
// runs here.
//
// Threading: every method may be called from any thread.
// Ownership: owns its threads and the tasks; the destructor closes and joins.
class CompilePool {
 public:
  // Called once, on a thread of the pool, with OK; or with the reason why it
  // does not run, inside Submit() or Close().
  using Task = absl::AnyInvocable<void(const absl::Status& admission) &&>;

  CompilePool(int thread_count, int64_t max_queued);
  ~CompilePool();
  CompilePool(const CompilePool&) = delete;
  CompilePool& operator=(const CompilePool&) = delete;

  // The task gets kResourceExhausted (LimitDetails) when max_queued wait
  // already, kUnavailable after Close().
  void Submit(Task task);

  int64_t queued_count() const;

  // Refuses what is queued and what comes; Join() then waits for what runs.
  void Close();
  void Join();

 private:
  void Work();
  bool HasWork() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return is_closing_ || !tasks_.empty();
  }

  const int64_t max_queued_;
  mutable absl::Mutex mu_;
  std::deque<Task> tasks_ ABSL_GUARDED_BY(mu_);
  bool is_closing_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_POOL_COMPILE_POOL_H_
