#ifndef TENSORD_CLIENTS_CPP_EXECUTION_STREAM_H_
#define TENSORD_CLIENTS_CPP_EXECUTION_STREAM_H_

#include <memory>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tensord/v1/execution_service.pb.h"

namespace tensord {

struct StreamOptions {
  // Requests that are sent and not answered; at it, Send() waits. Each is held
  // here and at the daemon.
  int max_open = 64;

  // Of the whole stream; then what is open ends with kDeadlineExceeded.
  absl::Duration timeout = absl::InfiniteDuration();
};

// Many runs over one call: the least that a run can cost over the network.
// Answers come as they are ready, in any order, each to the callback of its own
// request. One that fails is an answer like the others. Made by
// Client::OpenStream().
//
// Threading: Send(), Execute() and Close() may be called from any thread.
//   Callbacks run one at a time on a thread of gRPC's and must not block: while
//   one runs, no answer is read. Send() in a callback does not wait: it takes
//   the place of the request that was answered. Close(), Execute() and the
//   destructor must not be called there.
// Ownership: the client outlives it. The destructor cancels what is open, and
//   returns after its callbacks.
// Errors: when the stream itself ends, every open request gets its status:
//   kUnavailable when the connection broke or the daemon shuts down, after
//   which a new stream may be opened. Nothing is sent twice; what was open may
//   or may not have run.
class ExecutionStream {
 public:
  using Callback =
      absl::AnyInvocable<void(absl::StatusOr<v1::ExecuteResponse>) &&>;

  class Reactor;

  // For Client::OpenStream().
  explicit ExecutionStream(std::unique_ptr<Reactor> reactor);
  ExecutionStream(const ExecutionStream&) = delete;
  ExecutionStream& operator=(const ExecutionStream&) = delete;
  ~ExecutionStream();

  // Sends a request, for which `done` is called once; not if this returns an
  // error: kFailedPrecondition after Close(), else why the stream has ended.
  absl::Status Send(v1::ExecuteRequest request, Callback done);

  // Sends a request and waits for its answer.
  absl::StatusOr<v1::ExecuteResponse> Execute(v1::ExecuteRequest request);

  // Sends no more, waits for the answers that are due, and ends the stream with
  // the status that the daemon gave it. The same again when it was called.
  absl::Status Close();

 private:
  std::unique_ptr<Reactor> reactor_;
};

}  // namespace tensord

#endif  // TENSORD_CLIENTS_CPP_EXECUTION_STREAM_H_
