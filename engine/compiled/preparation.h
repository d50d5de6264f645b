#ifndef TENSORD_ENGINE_COMPILED_PREPARATION_H_
#define TENSORD_ENGINE_COMPILED_PREPARATION_H_

#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace tensord {

// The bounded channel between a compiler thread, which prepares the nodes of a
// graph in order, and the graph's first run, which launches them in the same
// order while later ones are still being prepared. What is sent is "nodes below
// k are prepared": the nodes themselves stay in place.
//
// The compiler runs at most `capacity` nodes ahead, so that a graph whose
// client has gone does not fill a device with packed weights that nobody runs,
// until Detach() says that no run follows.
//
// Threading: one producer, one consumer, any threads. Ownership: shared by
// both.
class PreparationChannel {
 public:
  explicit PreparationChannel(int64_t capacity) : capacity_(capacity) {}

  // Producer. The next node is prepared; blocks while the channel is full.
  void Publish();
  // Producer. Everything is prepared (OK), or the first error.
  void Finish(absl::Status status);

  // Consumer. Waits until node `index` is prepared: OK, the producer's error,
  // or kDeadlineExceeded. Taking node `index` frees the places before it.
  absl::Status Take(int64_t index, absl::Time deadline);
  // Consumer. Nobody takes any more: the producer never blocks again.
  void Detach();

  // Waits for Finish() and returns its status.
  absl::Status AwaitFinish() const;

 private:
  bool HasPlace() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return is_detached_ || prepared_ - taken_ < capacity_;
  }

  const int64_t capacity_;
  mutable absl::Mutex mu_;
  int64_t prepared_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t taken_ ABSL_GUARDED_BY(mu_) = 0;
  bool is_detached_ ABSL_GUARDED_BY(mu_) = false;
  bool is_finished_ ABSL_GUARDED_BY(mu_) = false;
  absl::Status status_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_COMPILED_PREPARATION_H_
