#ifndef TENSORD_SERVER_SESSIONS_SESSION_H_
#define TENSORD_SERVER_SESSIONS_SESSION_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace tensord {

// What one session may have at once.
struct SessionLimits {
  int64_t max_executions = 1024;           // that have not ended
  int64_t max_requests = 100'000;          // request_ids that are remembered
  uint64_t max_bytes = uint64_t{4} << 30;  // of its tensors
  uint64_t max_all_bytes = uint64_t{8} << 30;  // of all sessions' tensors
};

// Bytes of all sessions' tensors. Threading: thread-safe.
class ResidentBytes {
 public:
  // False when it would be more than `max`.
  bool TryAdd(uint64_t bytes, uint64_t max);
  void Subtract(uint64_t bytes) { bytes_.fetch_sub(bytes); }
  uint64_t count() const { return bytes_.load(); }

 private:
  std::atomic<uint64_t> bytes_{0};
};

// Who owns tensors and executions, and how much of both. What it owns is in
// the tables (TensorTable, ExecutionTable), which hold a session strongly; here
// are the counts and the limits.
//
// Threading: thread-safe. Ownership: shared by its table and by what it owns;
//   borrows the limits and `all`, which outlive it.
class Session {
 public:
  struct Description {
    std::string id;
    std::string principal;
    std::string display_name;
    absl::Time create_time;
    absl::Duration time_to_live;
    bool is_default = false;  // of a connection
  };

  Session(Description description, const SessionLimits& limits,
          ResidentBytes& all)
      : description_(std::move(description)), limits_(limits), all_(all) {
    Touch(description_.create_time);
  }

  const Description& description() const { return description_; }
  const std::string& id() const { return description_.id; }
  const SessionLimits& limits() const { return limits_; }

  // Starts the time to live afresh.
  void Touch(absl::Time now);
  // The last use and the time to live on; while a run is open, never.
  absl::Time expire_time() const ABSL_LOCKS_EXCLUDED(mu_);

  // --- Executions that have not ended.

  // kFailedPrecondition, SESSION_CLOSED; kResourceExhausted,
  // max_session_executions.
  absl::Status BeginExecution() ABSL_LOCKS_EXCLUDED(mu_);
  void EndExecution(absl::Time now) ABSL_LOCKS_EXCLUDED(mu_);
  int64_t open_execution_count() const ABSL_LOCKS_EXCLUDED(mu_);

  // --- Bytes of tensors. A lease gives its bytes back when it goes.

  class Lease {
   public:
    Lease() = default;
    Lease(Lease&& other) noexcept { *this = std::move(other); }
    Lease& operator=(Lease&& other) noexcept;
    ~Lease();

    uint64_t bytes() const { return bytes_; }

   private:
    friend class Session;
    std::shared_ptr<Session> session_;
    uint64_t bytes_ = 0;
  };

  // SESSION_CLOSED; kResourceExhausted, max_session_bytes or
  // max_resident_bytes.
  static absl::StatusOr<Lease> Take(std::shared_ptr<Session> session,
                                    uint64_t bytes);
  uint64_t resident_bytes() const ABSL_LOCKS_EXCLUDED(mu_);

  // What it owns in the tables: tensors, and executions that are remembered. A
  // connection's session that owns nothing may go at any time.
  void AddOwned(int64_t count) { owned_count_.fetch_add(count); }
  int64_t owned_count() const { return owned_count_.load(); }

  // --- The end.

  // From now on nothing can be added. False when it was closed before.
  bool Close() ABSL_LOCKS_EXCLUDED(mu_);
  bool is_closed() const ABSL_LOCKS_EXCLUDED(mu_);
  // Calls `done` once no execution is open: inside the call, or on the thread
  // that ends the last. It must not block.
  void WhenIdle(absl::AnyInvocable<void()> done) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  const Description description_;
  const SessionLimits& limits_;
  ResidentBytes& all_;
  std::atomic<int64_t> last_use_ns_{0};
  std::atomic<int64_t> owned_count_{0};

  mutable absl::Mutex mu_;
  bool is_closed_ ABSL_GUARDED_BY(mu_) = false;
  int64_t open_executions_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t bytes_ ABSL_GUARDED_BY(mu_) = 0;
  std::vector<absl::AnyInvocable<void()>> idle_waiters_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tensord

#endif  // TENSORD_SERVER_SESSIONS_SESSION_H_
