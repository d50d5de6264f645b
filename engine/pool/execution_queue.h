#ifndef TENSORD_ENGINE_POOL_EXECUTION_QUEUE_H_
#define TENSORD_ENGINE_POOL_EXECUTION_QUEUE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "engine/exec/execution.h"

namespace tensord {

// Executions that wait, first in first out, bounded by their number and by the
// bytes of their inputs, with the earliest deadline at hand. Links run through
// the executions themselves, so it allocates only when it is made.
//
// Threading: guarded by its owner's lock.
// Ownership: borrows the executions while they wait.
class ExecutionQueue {
 public:
  // `room` is the owner, which executions are told; `scope` names it in errors.
  ExecutionQueue(WaitingRoom& room, std::string scope, int64_t max_length,
                 uint64_t max_bytes);

  // Errors: kResourceExhausted with LimitDetails; kCancelled for an execution
  // that was cancelled before it came.
  absl::Status Push(Execution& execution);

  // The one that came first; null when there is none.
  Execution* Pop();

  // False when it is not in this queue.
  bool Remove(Execution& execution);

  // One whose deadline has passed at `now`, taken out; null when there is none.
  Execution* PopExpired(absl::Time now);

  // InfiniteFuture when nothing waits that has one.
  absl::Time NextDeadline() const;

  bool empty() const { return first_ == nullptr; }
  int64_t length() const { return length_; }
  uint64_t bytes() const { return bytes_; }

 private:
  void Unlink(Execution& execution);
  void RemoveFromHeap(Execution& execution);
  void SiftUp(int64_t index);
  void SiftDown(int64_t index);
  void Place(int64_t index, Execution* execution);

  WaitingRoom& room_;
  const std::string scope_;
  const int64_t max_length_;
  const uint64_t max_bytes_;
  Execution* first_ = nullptr;
  Execution* last_ = nullptr;
  int64_t length_ = 0;
  uint64_t bytes_ = 0;
  std::vector<Execution*> by_deadline_;  // a binary heap, the earliest on top
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_POOL_EXECUTION_QUEUE_H_
