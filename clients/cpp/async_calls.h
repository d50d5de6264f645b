#ifndef TENSORD_CLIENTS_CPP_ASYNC_CALLS_H_
#define TENSORD_CLIENTS_CPP_ASYNC_CALLS_H_

#include <grpcpp/client_context.h>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"

namespace tensord {

// The open calls of a client that call back. gRPC must not lose its channel on
// one of its own threads, which would wait for itself; so a call does not own
// the client, and the client's end waits for its calls.
//
// Threading: thread-safe.
class AsyncCalls {
 public:
  AsyncCalls() = default;
  AsyncCalls(const AsyncCalls&) = delete;
  AsyncCalls& operator=(const AsyncCalls&) = delete;

  // Cancels what is open or comes, and waits for it to be removed.
  ~AsyncCalls() {
    absl::MutexLock lock(&mu_);
    is_ending_ = true;
    for (grpc::ClientContext* context : open_) context->TryCancel();
    mu_.Await(absl::Condition(this, &AsyncCalls::IsEmpty));
  }

  // Before the call is started.
  void Add(grpc::ClientContext& context) {
    absl::MutexLock lock(&mu_);
    open_.insert(&context);
    // A callback may begin the next call.
    if (is_ending_) context.TryCancel();
  }

  // After the call's callback, with its context still there.
  void Remove(grpc::ClientContext& context) {
    absl::MutexLock lock(&mu_);
    open_.erase(&context);
  }

 private:
  bool IsEmpty() const ABSL_SHARED_LOCKS_REQUIRED(mu_) { return open_.empty(); }

  absl::Mutex mu_;
  absl::flat_hash_set<grpc::ClientContext*> open_ ABSL_GUARDED_BY(mu_);
  bool is_ending_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace tensord

#endif  // TENSORD_CLIENTS_CPP_ASYNC_CALLS_H_
