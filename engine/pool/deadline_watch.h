#ifndef TENSORD_ENGINE_POOL_DEADLINE_WATCH_H_
#define TENSORD_ENGINE_POOL_DEADLINE_WATCH_H_

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "engine/exec/execution.h"

namespace tensord {

// One thread that answers what waits past its deadline, so that an expired
// execution does not stay in a room until a lane comes free, and that has the
// runs stopped whose time on a lane is up (WaitingRoom::AnswerExpired). It
// sleeps until the earliest time that it was told; telling it a later one costs
// a load.
//
// Threading: Tell() from any thread, once the execution is in its room or has
//   its lane, and without the room's lock. Rooms answer on the watch's own
//   thread.
// Ownership: borrows the rooms, which outlive it or are there until Stop().
class DeadlineWatch {
 public:
  DeadlineWatch();
  ~DeadlineWatch() { Stop(); }
  DeadlineWatch(const DeadlineWatch&) = delete;
  DeadlineWatch& operator=(const DeadlineWatch&) = delete;

  void Add(WaitingRoom* room);

  // A deadline, or the end of a lane's lease.
  void Tell(absl::Time deadline) {
    if (absl::ToUnixNanos(deadline) < next_ns_.load()) WakeFor(deadline);
  }

  // Joins the thread; nothing is swept any more.
  void Stop();

 private:
  static constexpr int64_t kNever = INT64_MAX;

  void WakeFor(absl::Time deadline);
  void Run();
  absl::Time Sweep(absl::Time now);

  // When the thread wakes; kNever also while it sweeps, so that what comes then
  // is told through `told_`.
  std::atomic<int64_t> next_ns_{kNever};
  absl::Mutex mu_;
  absl::CondVar changed_;
  std::vector<WaitingRoom*> rooms_ ABSL_GUARDED_BY(mu_);
  absl::Time told_ ABSL_GUARDED_BY(mu_) = absl::InfiniteFuture();
  bool is_closing_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_POOL_DEADLINE_WATCH_H_
