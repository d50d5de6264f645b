#include "engine/pool/deadline_heap.h"

#include <algorithm>
#include <utility>

namespace tensord {

absl::Time DeadlineHeap::DueTime(const Execution& execution) {
  return std::min(execution.deadline, execution.queue_deadline);
}

void DeadlineHeap::Push(Execution& execution) {
  execution.links.deadline_index = -1;
  if (DueTime(execution) == absl::InfiniteFuture()) return;
  heap_.push_back(&execution);
  execution.links.deadline_index = static_cast<int64_t>(heap_.size()) - 1;
  SiftUp(execution.links.deadline_index);
}

void DeadlineHeap::Remove(Execution& execution) {
  const int64_t index = std::exchange(execution.links.deadline_index, -1);
  if (index < 0) return;
  Execution* moved = heap_.back();
  heap_.pop_back();
  if (moved == &execution) return;
  Place(index, moved);
  SiftUp(index);
  SiftDown(moved->links.deadline_index);
}

absl::Time DeadlineHeap::NextDueTime() const {
  return heap_.empty() ? absl::InfiniteFuture() : DueTime(*heap_.front());
}

void DeadlineHeap::SiftUp(int64_t index) {
  Execution* execution = heap_[index];
  const absl::Time due = DueTime(*execution);
  while (index > 0) {
    const int64_t parent = (index - 1) / 2;
    if (DueTime(*heap_[parent]) <= due) break;
    Place(index, heap_[parent]);
    index = parent;
  }
  Place(index, execution);
}

void DeadlineHeap::SiftDown(int64_t index) {
  const int64_t size = static_cast<int64_t>(heap_.size());
  Execution* execution = heap_[index];
  const absl::Time due = DueTime(*execution);
  while (2 * index + 1 < size) {
    int64_t child = 2 * index + 1;
    if (child + 1 < size &&
        DueTime(*heap_[child + 1]) < DueTime(*heap_[child])) {
      ++child;
    }
    if (due <= DueTime(*heap_[child])) break;
    Place(index, heap_[child]);
    index = child;
  }
  Place(index, execution);
}

void DeadlineHeap::Place(int64_t index, Execution* execution) {
  heap_[index] = execution;
  execution->links.deadline_index = index;
}

}  // namespace tensord
