#ifndef TENSORD_SERVER_EXECUTIONS_EXECUTION_TABLE_H_
#define TENSORD_SERVER_EXECUTIONS_EXECUTION_TABLE_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/executions/execution_record.h"
#include "server/sessions/owned_table.h"

namespace tensord {

// The runs that clients know by handles, their results, and the request_ids
// that make retries safe.
//
// A result is kept for its time, and the oldest ones go earlier when all
// together have too many bytes. A run's record stays a while longer, and the
// oldest ones go earlier when there are too many. A request_id is remembered
// longest, at least as long as any result may be kept.
//
// Threading: thread-safe; results are let go, and waiters called, outside of
//   the lock.
// Ownership: shares the records.
class ExecutionTable {
 public:
  using Pointer = std::shared_ptr<ExecutionRecord>;
  using Sequence = OwnedTable<ExecutionRecord>::Sequence;

  struct Options {
    std::string instance;
    absl::Duration result_time = absl::Minutes(10);
    absl::Duration max_result_time = absl::Hours(1);
    // Of a record, after its result's.
    absl::Duration record_time = absl::Minutes(10);
    uint64_t max_result_bytes = uint64_t{1} << 30;
    int64_t max_ended_records = 10'000;
  };

  explicit ExecutionTable(Options options) : options_(std::move(options)) {}

  struct Request {
    std::string graph_id;
    std::string request_id;   // empty: no retry is known as one
    std::string fingerprint;  // with a request_id
    std::string trace_id;     // of the call that began it
    Priority priority = Priority::kNormal;
    // Absent: the default. At most max_result_time.
    std::optional<absl::Duration> keep_result;
  };
  struct Begun {
    Pointer record;
    bool is_replay = false;  // of a run that is there; nothing is to be started
  };
  // Admits a run, or finds the one that it is a retry of.
  // Errors: kInvalidArgument, REQUEST_ID_REUSED, for another fingerprint;
  //   RESULT_EXPIRED for a retry whose run is forgotten; SESSION_CLOSED;
  //   kResourceExhausted, max_session_executions or max_session_requests.
  absl::StatusOr<Begun> Begin(Request request, std::shared_ptr<Session> session,
                              absl::Time now) ABSL_LOCKS_EXCLUDED(mu_);

  // Ends it, once, and calls its waiters. `is_refused`: it never began, so that
  // a retry is a run of its own.
  void End(const Pointer& record, absl::Status status,
           std::vector<KeptOutput> outputs, bool is_refused, absl::Time now)
      ABSL_LOCKS_EXCLUDED(mu_);

  // For one that was refused before its client knew of it.
  void Forget(const ExecutionRecord& record) ABSL_LOCKS_EXCLUDED(mu_);

  // kNotFound, also for another principal's.
  absl::StatusOr<Pointer> Find(absl::string_view id,
                               absl::string_view principal) const
      ABSL_LOCKS_EXCLUDED(mu_);

  // The principal's that `wanted` takes, the latest first, from behind
  // `before` on; at most `limit`.
  std::vector<std::pair<Sequence, Pointer>> List(
      absl::string_view principal, Sequence before, int limit,
      absl::FunctionRef<bool(const ExecutionRecord&)> wanted) const
      ABSL_LOCKS_EXCLUDED(mu_);

  // Those of a session that is closed: forgets the ended ones and their
  // request_ids, and gives the others, for the caller to cancel.
  std::vector<Pointer> TakeOpenOf(const Session& session)
      ABSL_LOCKS_EXCLUDED(mu_);

  void RemoveExpired(absl::Time now) ABSL_LOCKS_EXCLUDED(mu_);

  int64_t count() const ABSL_LOCKS_EXCLUDED(mu_);
  uint64_t result_bytes() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct KnownRequest {
    std::string fingerprint;
    std::string execution_id;
    absl::Time forget_time = absl::InfiniteFuture();
  };
  using Requests = absl::flat_hash_map<std::string, KnownRequest>;

  absl::StatusOr<std::optional<Begun>> FindReplay(const Request& request,
                                                  const Session& session) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void NoteRequestEnd(const ExecutionRecord& record, bool is_refused,
                      absl::Time forget_time)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Of what has ended and stays: the oldest go when there are too many, or too
  // many bytes of results.
  void MakeRoom(absl::Time now) ABSL_LOCKS_EXCLUDED(mu_);
  void DropResult(ExecutionRecord& record, absl::Time now)
      ABSL_LOCKS_EXCLUDED(mu_);

  const Options options_;
  mutable absl::Mutex mu_;
  OwnedTable<ExecutionRecord> records_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<const Session*, Requests> requests_ ABSL_GUARDED_BY(mu_);
  uint64_t result_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  // In the order of their ends; what is gone otherwise is skipped.
  std::deque<std::weak_ptr<ExecutionRecord>> ended_ ABSL_GUARDED_BY(mu_);
  std::deque<std::weak_ptr<ExecutionRecord>> with_result_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tensord

#endif  // TENSORD_SERVER_EXECUTIONS_EXECUTION_TABLE_H_
