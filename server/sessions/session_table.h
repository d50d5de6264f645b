#ifndef TENSORD_SERVER_SESSIONS_SESSION_TABLE_H_
#define TENSORD_SERVER_SESSIONS_SESSION_TABLE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/sessions/session.h"

namespace tensord {

// The sessions of all principals: those that clients made, and one for each
// connection that needed one.
//
// Threading: thread-safe. Ownership: shares the sessions; what a session owns
//   is for others to free (Holdings).
class SessionTable {
 public:
  struct Options {
    std::string instance;
    int64_t max_sessions = 1000;  // of one principal
    absl::Duration time_to_live = absl::Minutes(10);
    absl::Duration max_time_to_live = absl::Hours(24);
    SessionLimits limits;
  };

  explicit SessionTable(Options options) : options_(std::move(options)) {}

  // kInvalidArgument for a time to live out of range or a display name of more
  // than 128 bytes; kResourceExhausted, max_sessions.
  absl::StatusOr<std::shared_ptr<Session>> Create(
      absl::string_view principal, absl::string_view display_name,
      std::optional<absl::Duration> time_to_live, absl::Time now)
      ABSL_LOCKS_EXCLUDED(mu_);

  // Counts as use. kNotFound, also for another principal's.
  absl::StatusOr<std::shared_ptr<Session>> Find(absl::string_view id,
                                                absl::string_view principal,
                                                absl::Time now)
      ABSL_LOCKS_EXCLUDED(mu_);

  // That of (principal, connection), made when it is not there. Counts as use.
  // kResourceExhausted, max_sessions, when all of the principal's own
  // something.
  absl::StatusOr<std::shared_ptr<Session>> OfConnection(
      absl::string_view principal, absl::string_view connection, absl::Time now)
      ABSL_LOCKS_EXCLUDED(mu_);

  // Takes it out; the caller closes it. kNotFound as Find.
  absl::StatusOr<std::shared_ptr<Session>> Take(absl::string_view id,
                                                absl::string_view principal,
                                                absl::Time now)
      ABSL_LOCKS_EXCLUDED(mu_);

  // Takes out what has expired; the caller closes them.
  std::vector<std::shared_ptr<Session>> TakeExpired(absl::Time now)
      ABSL_LOCKS_EXCLUDED(mu_);

  int64_t count() const ABSL_LOCKS_EXCLUDED(mu_);
  const ResidentBytes& resident_bytes() const { return resident_bytes_; }

 private:
  using Connection = std::pair<std::string, std::string>;  // and its principal

  absl::Status MakeRoom(absl::string_view principal)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::shared_ptr<Session> Add(Session::Description description)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Erase(const Session& session) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::StatusOr<std::shared_ptr<Session>> FindLocked(
      absl::string_view id, absl::string_view principal, absl::Time now) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Options options_;
  ResidentBytes resident_bytes_;
  mutable absl::Mutex mu_;
  absl::flat_hash_map<std::string, std::shared_ptr<Session>> by_id_
      ABSL_GUARDED_BY(mu_);
  // Ids of the sessions of connections, and how many a principal has.
  absl::flat_hash_map<Connection, std::string> by_connection_
      ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, Connection> connections_
      ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, int64_t> counts_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tensord

#endif  // TENSORD_SERVER_SESSIONS_SESSION_TABLE_H_
