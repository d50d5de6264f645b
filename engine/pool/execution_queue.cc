#include "engine/pool/execution_queue.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/limit_exceeded.h"

namespace tensord {

ExecutionQueue::ExecutionQueue(WaitingRoom& room, std::string scope,
                               int64_t max_length, uint64_t max_bytes)
    : room_(room),
      scope_(std::move(scope)),
      max_length_(max_length),
      max_bytes_(max_bytes) {
  by_deadline_.reserve(max_length);
}

absl::Status ExecutionQueue::Push(Execution& execution) {
  if (length_ >= max_length_) {
    return LimitDetails{.limit = "max_queue_length",
                        .maximum = max_length_,
                        .requested = length_ + 1,
                        .unit = "executions",
                        .scope = scope_,
                        .may_retry = true}
        .ToStatus(
            absl::StrCat(scope_, " has ", length_,
                         " executions queued and was asked for one more"));
  }
  const uint64_t bytes = execution.admitted_bytes;
  if (bytes > max_bytes_ || bytes_ > max_bytes_ - bytes) {
    return LimitDetails{.limit = "max_queued_bytes",
                        .maximum = static_cast<int64_t>(max_bytes_),
                        .requested = static_cast<int64_t>(bytes_ + bytes),
                        .unit = "bytes",
                        .scope = scope_,
                        .may_retry = bytes <= max_bytes_}
        .ToStatus(absl::StrCat(scope_, " has ", bytes_,
                               " bytes queued and was asked for ", bytes,
                               " more"));
  }
  // Whoever cancels sets the flag before it looks for the room, so one of the
  // two sees the other.
  execution.links.room.store(&room_);
  if (execution.is_cancelled.load()) {
    execution.links.room.store(nullptr);
    return absl::CancelledError("cancelled before it was queued");
  }

  execution.links.previous = last_;
  execution.links.next = nullptr;
  (last_ != nullptr ? last_->links.next : first_) = &execution;
  last_ = &execution;
  ++length_;
  bytes_ += bytes;
  execution.links.deadline_index = -1;
  if (execution.deadline != absl::InfiniteFuture()) {
    by_deadline_.push_back(&execution);
    execution.links.deadline_index =
        static_cast<int64_t>(by_deadline_.size()) - 1;
    SiftUp(execution.links.deadline_index);
  }
  return absl::OkStatus();
}

Execution* ExecutionQueue::Pop() {
  Execution* execution = first_;
  if (execution != nullptr) Unlink(*execution);
  return execution;
}

bool ExecutionQueue::Remove(Execution& execution) {
  if (execution.links.room.load() != &room_) return false;
  Unlink(execution);
  return true;
}

Execution* ExecutionQueue::PopExpired(absl::Time now) {
  if (NextDeadline() > now) return nullptr;
  Execution* execution = by_deadline_.front();
  Unlink(*execution);
  return execution;
}

absl::Time ExecutionQueue::NextDeadline() const {
  return by_deadline_.empty() ? absl::InfiniteFuture()
                              : by_deadline_.front()->deadline;
}

void ExecutionQueue::Unlink(Execution& execution) {
  QueueLinks& links = execution.links;
  (links.previous != nullptr ? links.previous->links.next : first_) =
      links.next;
  (links.next != nullptr ? links.next->links.previous : last_) = links.previous;
  --length_;
  bytes_ -= execution.admitted_bytes;
  RemoveFromHeap(execution);
  links.room.store(nullptr);
}

void ExecutionQueue::RemoveFromHeap(Execution& execution) {
  const int64_t index = std::exchange(execution.links.deadline_index, -1);
  if (index < 0) return;
  Execution* moved = by_deadline_.back();
  by_deadline_.pop_back();
  if (moved == &execution) return;
  Place(index, moved);
  SiftUp(index);
  SiftDown(moved->links.deadline_index);
}

void ExecutionQueue::SiftUp(int64_t index) {
  Execution* execution = by_deadline_[index];
  while (index > 0) {
    const int64_t parent = (index - 1) / 2;
    if (by_deadline_[parent]->deadline <= execution->deadline) break;
    Place(index, by_deadline_[parent]);
    index = parent;
  }
  Place(index, execution);
}

void ExecutionQueue::SiftDown(int64_t index) {
  const int64_t size = static_cast<int64_t>(by_deadline_.size());
  Execution* execution = by_deadline_[index];
  while (2 * index + 1 < size) {
    int64_t child = 2 * index + 1;
    if (child + 1 < size &&
        by_deadline_[child + 1]->deadline < by_deadline_[child]->deadline) {
      ++child;
    }
    if (execution->deadline <= by_deadline_[child]->deadline) break;
    Place(index, by_deadline_[child]);
    index = child;
  }
  Place(index, execution);
}

void ExecutionQueue::Place(int64_t index, Execution* execution) {
  by_deadline_[index] = execution;
  execution->links.deadline_index = index;
}

}  // namespace tensord
