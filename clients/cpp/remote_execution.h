#ifndef TENSORD_CLIENTS_CPP_REMOTE_EXECUTION_H_
#define TENSORD_CLIENTS_CPP_REMOTE_EXECUTION_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "clients/cpp/client.h"

namespace tensord {

// A run that the daemon does by itself, and its handle. It needs no connection
// meanwhile: whoever has the id can wait for it, from any process, for as long
// as its result is kept (ExecuteOptions.keep_result).
//
// Threading: thread-safe; any number of threads may wait.
// Ownership: borrows the client. Dropping it neither cancels the run nor frees
//   its result.
class RemoteExecution {
 public:
  // Queues a run. As Client::StartExecution.
  static absl::StatusOr<RemoteExecution> Start(
      Client& client, const v1::ExecuteRequest& request,
      const CallOptions& call = {});
  static absl::StatusOr<RemoteExecution> Start(Client& client,
                                               const GraphSource& graph,
                                               v1::ExecuteRequest request,
                                               const CallOptions& call = {});

  // One that was started before.
  RemoteExecution(Client& client, std::string execution_id)
      : client_(&client), id_(std::move(execution_id)) {}

  const std::string& id() const { return id_; }

  // Waits for its end, over as many calls as that takes. If it succeeded, the
  // response has its outputs.
  // Errors: what became of the run, as Execute would have returned it;
  //   kDeadlineExceeded "... goes on" when the timeout passed first: then it is
  //   not cancelled. Or of the call: kNotFound, kFailedPrecondition (reasons
  //   WRONG_INSTANCE, RESULT_EXPIRED), kUnavailable.
  absl::StatusOr<v1::WaitExecutionResponse> Wait(
      absl::Duration timeout = absl::InfiniteDuration()) const;

  // The same without blocking: calls back once, at its end. One attempt, and no
  // timeout. The client's end ends it with kCancelled.
  void OnEnd(Client::WaitCallback done) const;

  // Its state, without waiting.
  absl::StatusOr<v1::Execution> Get() const;

  // Asks for its end, which may come a while after; Wait() then says
  // kCancelled.
  absl::StatusOr<v1::Execution> Cancel() const;

 private:
  Client* client_;
  std::string id_;
};

// SUCCEEDED, FAILED, CANCELLED or EXPIRED.
bool IsFinal(v1::ExecutionState state);

}  // namespace tensord

#endif  // TENSORD_CLIENTS_CPP_REMOTE_EXECUTION_H_
