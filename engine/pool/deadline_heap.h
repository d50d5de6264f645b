#ifndef TENSORD_ENGINE_POOL_DEADLINE_HEAP_H_
#define TENSORD_ENGINE_POOL_DEADLINE_HEAP_H_

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "engine/exec/execution.h"

namespace tensord {

// Executions that wait, the one that is due first at hand: by its deadline or
// its queue deadline, whichever is earlier. Those that are never due are not in
// it. A binary heap, whose indices are in the executions.
//
// Threading: guarded by its owner's lock.
// Ownership: borrows the executions while they are in it.
class DeadlineHeap {
 public:
  // Allocates for so many, and again only for more.
  explicit DeadlineHeap(int64_t capacity) { heap_.reserve(capacity); }

  static absl::Time DueTime(const Execution& execution);

  void Push(Execution& execution);
  // Does nothing with one that is not in it.
  void Remove(Execution& execution);

  // Null when there is none; it stays.
  Execution* First() const { return heap_.empty() ? nullptr : heap_.front(); }
  // InfiniteFuture when there is none.
  absl::Time NextDueTime() const;

 private:
  void SiftUp(int64_t index);
  void SiftDown(int64_t index);
  void Place(int64_t index, Execution* execution);

  std::vector<Execution*> heap_;  // the earliest on top
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_POOL_DEADLINE_HEAP_H_
