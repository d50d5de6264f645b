#ifndef TENSORD_ENGINE_POOL_EXECUTION_QUEUE_H_
#define TENSORD_ENGINE_POOL_EXECUTION_QUEUE_H_

#include <array>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "engine/exec/execution.h"
#include "engine/pool/deadline_heap.h"
#include "engine/pool/flow_queue.h"

namespace tensord {

// LimitDetails::subject of a refusal since one flow has its share.
inline constexpr char kSessionShare[] = "share of one session";

// Executions that wait, bounded by their number and by the bytes of their
// inputs, the one that is due first at hand.
//
// Order. The highest priority goes first, and within one the flows take turns
// (FlowQueue). Those of a lower priority that wait meanwhile get 1/kAgeingShare
// of the time that turns of higher ones take: once that is what the next of
// them is expected to take, it is its turn. So none starves, and a long run of
// low priority does not come between more often than its length allows.
//
// When it is full. Of what is left of either bound one flow may have
// kShareOfFree times as much, of each priority. So a single flow may have most
// of the queue, and leaves room for others, who share it in the same way.
//
// Links run through the executions themselves, so it allocates only when it is
// made, and for more flows than ever before.
//
// Threading: guarded by its owner's lock.
// Ownership: borrows the executions while they wait.
class ExecutionQueue {
 public:
  static constexpr int64_t kAgeingShare = 16;
  static constexpr int64_t kShareOfFree = 4;

  struct Limits {
    std::string scope;  // names the owner in errors
    int64_t max_length = 0;
    uint64_t max_bytes = 0;
    int lane_count = 1;  // that take from it
  };

  // `room` is the owner, which executions are told.
  ExecutionQueue(WaitingRoom& room, Limits limits);

  // Errors: kResourceExhausted with LimitDetails; kCancelled for an execution
  // that was cancelled before it came.
  absl::Status Push(Execution& execution);

  // The one whose turn it is; null when there is none. What it is expected to
  // take (`expected_ns`) counts as taken.
  Execution* Pop();

  // One that Pop() gave had its lane for `held_ns`.
  void Settle(const Execution& execution, int64_t held_ns);

  // False when it is not in this queue.
  bool Remove(Execution& execution);

  // One that is due at `now`, taken out; null when there is none.
  Execution* PopExpired(absl::Time now);

  // When the first is due; InfiniteFuture when none ever is.
  absl::Time NextDueTime() const { return due_.NextDueTime(); }

  bool empty() const { return length_ == 0; }
  int64_t length() const { return length_; }
  uint64_t bytes() const { return bytes_; }

 private:
  absl::Status CheckLength(const FlowQueue::Share& share) const;
  absl::Status CheckBytes(const FlowQueue::Share& share, uint64_t bytes) const;
  // How long until half of what waits has been taken; 0 when nobody knows.
  int64_t RetryNs() const;
  FlowQueue& QueueOf(const Execution& execution);
  // Of which priority the next one is; there is one.
  int NextPriority();
  // A turn of `priority` took so long: credit for those below that wait.
  void Credit(int priority, int64_t ns);
  void Unlist(Execution& execution);

  WaitingRoom& room_;
  const Limits limits_;
  std::array<FlowQueue, kPriorityCount> queues_;  // by Priority
  std::array<int64_t, kPriorityCount> credit_ns_{};
  int64_t length_ = 0;
  uint64_t bytes_ = 0;
  int64_t pace_ns_ = 0;  // how long a run has its lane, on average; 0: unknown
  DeadlineHeap due_;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_POOL_EXECUTION_QUEUE_H_
