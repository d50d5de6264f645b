#ifndef TENSORD_SERVER_RPC_IDLE_WATCH_H_
#define TENSORD_SERVER_RPC_IDLE_WATCH_H_

#include <memory>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"

namespace tensord {

// Looks whether a stream still makes progress: a client that has its part of
// the memory and sends nothing keeps others waiting.
//
// Threading: thread-safe. Ownership: the stream's; `on_idle` may use the stream
//   until Stop() has called back.
class IdleWatch {
 public:
  // `on_idle` is called at most once, on a thread of gRPC's.
  explicit IdleWatch(absl::AnyInvocable<void()> on_idle);
  ~IdleWatch();

  void Start(absl::Duration timeout);
  void NoteProgress();
  // What comes now takes its own time.
  void Suspend();
  // Once. Calls `stopped` when `on_idle` will not be called any more: inside
  // the call, or on a thread of gRPC's.
  void Stop(absl::AnyInvocable<void()> stopped);

 private:
  class State;
  // An alarm keeps what it calls as long as itself, so it knows this weakly.
  const std::shared_ptr<State> state_;
};

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_IDLE_WATCH_H_
