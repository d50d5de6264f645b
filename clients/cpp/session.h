#ifndef TENSORD_CLIENTS_CPP_SESSION_H_
#define TENSORD_CLIENTS_CPP_SESSION_H_

#include <memory>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "clients/cpp/client.h"

namespace tensord {

struct SessionOptions {
  std::string display_name;  // for people; at most 128 bytes
  // After its last use: how long it outlives a client that is gone. Zero: the
  // daemon's default.
  absl::Duration time_to_live = absl::ZeroDuration();
};

// A session of the daemon's that is kept alive for as long as this object is
// there: a thread of its own calls KeepAlive three times in each time to live.
//
// Threading: thread-safe. The destructor may wait for a call that is under way.
// Ownership: borrows the client. The destructor closes the session, which frees
//   its tensors and cancels its runs; if nobody answers, its time to live does.
// Errors: status() tells when the daemon no longer knows the session.
class Session {
 public:
  static absl::StatusOr<std::unique_ptr<Session>> Open(
      Client& client, const SessionOptions& options = {});

  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  const std::string& id() const { return id_; }

  // OK while the daemon has it, as far as is known here; then what KeepAlive
  // said, kNotFound for one that has expired. That nobody answers does not end
  // it: the next call may find the daemon again.
  absl::Status status() const;

  // Ends it now, and tells what ended with it. kFailedPrecondition the second
  // time.
  absl::StatusOr<v1::CloseSessionResponse> Close(const CallOptions& call = {});

 private:
  Session(Client& client, const v1::Session& session);

  void KeepAlive();
  // Whether the thread was told to end within `period`.
  bool WaitForEnd(absl::Duration period);

  Client& client_;
  const std::string id_;
  const absl::Duration period_;
  mutable absl::Mutex mu_;
  absl::Status status_ ABSL_GUARDED_BY(mu_);
  bool is_ending_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace tensord

#endif  // TENSORD_CLIENTS_CPP_SESSION_H_
