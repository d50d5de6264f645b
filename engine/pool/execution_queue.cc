#include "engine/pool/execution_queue.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/limit_exceeded.h"

namespace tensord {
namespace {

// The average forgets half of what was within some ten runs.
constexpr int64_t kPaceWeight = 16;

// A client that comes back sooner only costs; one that is told a longer time
// may as well ask elsewhere.
constexpr int64_t kMinRetryNs = 1'000'000;
constexpr int64_t kMaxRetryNs = 60'000'000'000;

uint64_t ShareOf(uint64_t free) {
  constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
  constexpr uint64_t kTimes = ExecutionQueue::kShareOfFree;
  return free > kMax / kTimes ? kMax : free * kTimes;
}

}  // namespace

ExecutionQueue::ExecutionQueue(WaitingRoom& room, Limits limits)
    : room_(room), limits_(std::move(limits)), due_(limits_.max_length) {}

absl::Status ExecutionQueue::Push(Execution& execution) {
  FlowQueue& queue = QueueOf(execution);
  const FlowQueue::Share share = queue.ShareOf(execution.flow);
  absl::Status status = CheckLength(share);
  if (status.ok()) status = CheckBytes(share, execution.admitted_bytes);
  if (!status.ok()) return status;
  // Whoever cancels sets the flag before it looks for the room, so one of the
  // two sees the other.
  execution.links.room.store(&room_);
  if (execution.is_cancelled.load()) {
    execution.links.room.store(nullptr);
    return absl::CancelledError("cancelled before it was queued");
  }
  queue.Push(execution);
  due_.Push(execution);
  ++length_;
  bytes_ += execution.admitted_bytes;
  return absl::OkStatus();
}

absl::Status ExecutionQueue::CheckLength(const FlowQueue::Share& share) const {
  const int64_t free = limits_.max_length - length_;
  const int64_t allowed =
      static_cast<int64_t>(ShareOf(static_cast<uint64_t>(free)));
  if (free > 0 && share.length < allowed) return absl::OkStatus();
  LimitDetails details{.limit = "max_queue_length",
                       .maximum = limits_.max_length,
                       .requested = length_ + 1,
                       .unit = "executions",
                       .scope = limits_.scope,
                       .may_retry = true,
                       .retry_ns = RetryNs()};
  if (free <= 0) {
    return details.ToStatus(
        absl::StrCat(limits_.scope, " has ", length_,
                     " executions queued and was asked for one more"));
  }
  details.subject = kSessionShare;
  return details.ToStatus(
      absl::StrCat(limits_.scope, " has ", share.length,
                   " executions of this session queued and was asked for one "
                   "more, while ",
                   free, " places are left for others; a session may have ",
                   kShareOfFree, " times what is left"));
}

absl::Status ExecutionQueue::CheckBytes(const FlowQueue::Share& share,
                                        uint64_t bytes) const {
  const uint64_t free = limits_.max_bytes - bytes_;
  const bool has_room = bytes <= free;
  if (has_room && (share.bytes == 0 || share.bytes < ShareOf(free))) {
    return absl::OkStatus();
  }
  LimitDetails details{.limit = "max_queued_bytes",
                       .maximum = static_cast<int64_t>(limits_.max_bytes),
                       .requested = static_cast<int64_t>(bytes_ + bytes),
                       .unit = "bytes",
                       .scope = limits_.scope,
                       .may_retry = bytes <= limits_.max_bytes,
                       .retry_ns = RetryNs()};
  if (!has_room) {
    return details.ToStatus(absl::StrCat(limits_.scope, " has ", bytes_,
                                         " bytes queued and was asked for ",
                                         bytes, " more"));
  }
  details.subject = kSessionShare;
  return details.ToStatus(absl::StrCat(
      limits_.scope, " has ", share.bytes,
      " bytes of this session queued and was asked for ", bytes,
      " more, while ", free, " bytes are left for others; a session may have ",
      kShareOfFree, " times what is left"));
}

int64_t ExecutionQueue::RetryNs() const {
  if (pace_ns_ == 0) return 0;
  const double half = static_cast<double>(pace_ns_) *
                      static_cast<double>(length_) / limits_.lane_count / 2;
  return static_cast<int64_t>(
      std::clamp<double>(half, kMinRetryNs, kMaxRetryNs));
}

Execution* ExecutionQueue::Pop() {
  if (length_ == 0) return nullptr;
  const int priority = NextPriority();
  Execution* execution = queues_[priority].Pop();
  Credit(priority, execution->expected_ns);
  const bool is_aged = execution->links.is_aged;
  if (is_aged) credit_ns_[priority] -= execution->expected_ns;
  // Nobody made it wait, or nobody is left that does.
  if (!is_aged) credit_ns_[priority] = 0;
  if (queues_[priority].empty()) {
    credit_ns_[priority] = std::min<int64_t>(credit_ns_[priority], 0);
  }
  Unlist(*execution);
  return execution;
}

int ExecutionQueue::NextPriority() {
  int first = 0;
  while (queues_[first].empty()) ++first;
  for (int lower = first + 1; lower < kPriorityCount; ++lower) {
    Execution* next = queues_[lower].Peek();
    if (next == nullptr) continue;
    next->links.is_aged =
        credit_ns_[lower] >= std::max<int64_t>(next->expected_ns, 1);
    if (next->links.is_aged) return lower;
  }
  queues_[first].Peek()->links.is_aged = false;
  return first;
}

void ExecutionQueue::Credit(int priority, int64_t ns) {
  for (int lower = priority + 1; lower < kPriorityCount; ++lower) {
    if (!queues_[lower].empty()) credit_ns_[lower] += ns / kAgeingShare;
  }
}

void ExecutionQueue::Settle(const Execution& execution, int64_t held_ns) {
  const int priority = static_cast<int>(execution.priority);
  const int64_t extra_ns = held_ns - execution.expected_ns;
  queues_[priority].Settle(execution.flow, execution.expected_ns, held_ns);
  Credit(priority, extra_ns);
  if (execution.links.is_aged) credit_ns_[priority] -= extra_ns;
  pace_ns_ += pace_ns_ == 0 ? held_ns : (held_ns - pace_ns_) / kPaceWeight;
}

bool ExecutionQueue::Remove(Execution& execution) {
  if (execution.links.room.load() != &room_) return false;
  QueueOf(execution).Remove(execution);
  Unlist(execution);
  return true;
}

Execution* ExecutionQueue::PopExpired(absl::Time now) {
  if (due_.NextDueTime() > now) return nullptr;
  Execution* execution = due_.First();
  Remove(*execution);
  return execution;
}

FlowQueue& ExecutionQueue::QueueOf(const Execution& execution) {
  return queues_[static_cast<int>(execution.priority)];
}

void ExecutionQueue::Unlist(Execution& execution) {
  --length_;
  bytes_ -= execution.admitted_bytes;
  due_.Remove(execution);
  execution.links.room.store(nullptr);
}

}  // namespace tensord
