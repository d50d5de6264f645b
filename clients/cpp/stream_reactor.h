#ifndef TENSORD_CLIENTS_CPP_STREAM_REACTOR_H_
#define TENSORD_CLIENTS_CPP_STREAM_REACTOR_H_

#include <grpcpp/client_context.h>
#include <grpcpp/support/client_callback.h>

#include <cstdint>
#include <deque>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "clients/cpp/execution_stream.h"
#include "tensord/v1/execution_service.grpc.pb.h"

namespace tensord {

// gRPC's side of an ExecutionStream: one message is being written and one being
// read at any time, the rest waits here.
//
// Threading: thread-safe; gRPC calls the On methods.
// Ownership: outlives the call: delete it after AwaitEnd().
class ExecutionStream::Reactor
    : public grpc::ClientBidiReactor<v1::ExecuteStreamRequest,
                                     v1::ExecuteStreamResponse> {
 public:
  Reactor(v1::ExecutionService::Stub& executions, const StreamOptions& options);

  absl::Status Send(v1::ExecuteRequest request, Callback done);
  void CloseWrites();
  void Cancel() { context_.TryCancel(); }
  absl::Status AwaitEnd();

 private:
  void OnWriteDone(bool ok) override;
  void OnReadDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;

  // The request whose callback runs has its place until that returns.
  bool HasRoom() const ABSL_SHARED_LOCKS_REQUIRED(mu_) {
    const int in_callback = calling_thread_ == std::thread::id() ? 0 : 1;
    return is_broken_ || is_closing_ ||
           static_cast<int>(open_.size()) + in_callback < max_open_;
  }
  // The next message, or the end of them, if nothing is being written.
  void WriteOn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Lets OnDone() come: nothing is started after it but by reactions.
  void ReleaseHold() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const int max_open_;
  grpc::ClientContext context_;
  v1::ExecuteStreamResponse response_;  // of the read that is under way

  absl::Mutex mu_;
  absl::flat_hash_map<std::string, Callback> open_ ABSL_GUARDED_BY(mu_);
  std::deque<v1::ExecuteStreamRequest> waiting_ ABSL_GUARDED_BY(mu_);
  v1::ExecuteStreamRequest writing_ ABSL_GUARDED_BY(mu_);
  bool is_writing_ ABSL_GUARDED_BY(mu_) = false;
  bool is_closing_ ABSL_GUARDED_BY(mu_) = false;
  bool is_half_closed_ ABSL_GUARDED_BY(mu_) = false;
  bool is_held_ ABSL_GUARDED_BY(mu_) = true;
  // Nothing is read any more: OnDone() comes or has come.
  bool is_broken_ ABSL_GUARDED_BY(mu_) = false;
  bool has_status_ ABSL_GUARDED_BY(mu_) = false;
  bool is_done_ ABSL_GUARDED_BY(mu_) = false;  // all callbacks have run
  absl::Status status_ ABSL_GUARDED_BY(mu_);
  uint64_t next_id_ ABSL_GUARDED_BY(mu_) = 0;
  // The thread that is in a callback; its Send() does not wait.
  std::thread::id calling_thread_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tensord

#endif  // TENSORD_CLIENTS_CPP_STREAM_REACTOR_H_
