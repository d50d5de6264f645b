#ifndef TENSORD_SERVER_SESSIONS_HOLDINGS_H_
#define TENSORD_SERVER_SESSIONS_HOLDINGS_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/executions/execution_table.h"
#include "server/sessions/session_table.h"
#include "server/tensors/partial_uploads.h"
#include "server/tensors/tensor_table.h"

namespace tensord {

// What outlives a call: sessions, and what they own. The one place that knows
// in which order it is taken down.
//
// Threading: thread-safe. One thread of its own looks for what has expired.
// Ownership: owns the tables; the engine outlives it, and no run is begun while
//   it goes.
class Holdings {
 public:
  struct Options {
    SessionTable::Options sessions;
    ExecutionTable::Options executions;
    absl::Duration upload_keep_time = absl::Minutes(10);
    absl::Duration sweep_interval = absl::Seconds(1);
  };
  // How it reaches the engine.
  struct Runs {
    // Asks for the end of one that is open; returns soon.
    std::function<void(ExecutionRecord&)> cancel;
    // Returns when none is open any more.
    std::function<void()> await_all;
  };

  Holdings(const Options& options, Runs runs);
  // Cancels all runs and waits for them.
  ~Holdings();
  Holdings(const Holdings&) = delete;
  Holdings& operator=(const Holdings&) = delete;

  struct Ended {
    TensorTable::Freed tensors;
    int64_t cancelled_executions = 0;
  };
  // Of a session that was taken out of its table: frees what it owns, cancels
  // its runs. Those that hold a lane end a little later (Session::WhenIdle).
  Ended End(Session& session);

  // Of all sessions, and waits for their runs.
  void EndAll();

  // From now on nothing new is to be held: kUnavailable, DRAINING. The services
  // ask; what is there stays, and its clients can still fetch it.
  void StopAdmitting() { is_admitting_.store(false); }
  absl::Status CheckAdmitting() const;

  void Sweep(absl::Time now);

  SessionTable sessions;
  TensorTable tensors;
  PartialUploads uploads;
  ExecutionTable executions;

 private:
  void SweepUntilStopped() ABSL_LOCKS_EXCLUDED(mu_);

  std::atomic<bool> is_admitting_{true};
  const absl::Duration sweep_interval_;
  const Runs runs_;
  absl::Mutex mu_;
  bool is_stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::thread sweeper_;
};

}  // namespace tensord

#endif  // TENSORD_SERVER_SESSIONS_HOLDINGS_H_
