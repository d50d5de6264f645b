#ifndef TENSORD_ENGINE_POOL_FLOW_QUEUE_H_
#define TENSORD_ENGINE_POOL_FLOW_QUEUE_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "engine/exec/execution.h"

namespace tensord {

// Executions that wait, of one priority, fair between flows (Execution::flow):
// over any time in which two flows wait, each gets the same time on lanes, but
// for one run of each. Within a flow first in, first out.
//
// This is start-time fair queueing. A flow has a tag, the virtual time of its
// next turn, and the smallest tag is next. A turn moves the flow's tag on by
// what the run is expected to take, and Settle() puts right what it took. A
// flow that comes starts at the virtual time that it is: level with the others,
// without credit for the time in which it asked for nothing. That is the
// smallest tag, and beyond it what was run since, shared out among the flows
// that wait. (At the smallest tag itself, as the textbook says, those that come
// once each could hold up one that stays for ever. Time moves when a run is
// over, since an estimate that is too long would put off who comes meanwhile.)
// What a flow owes is remembered until virtual time has passed it or nothing
// waits at all, so that one that has a single execution at a time gets no more
// than others. Of more than kMaxOwing such flows nothing is remembered.
//
// Allocates when more flows are there than ever before; O(log flows).
//
// Threading: guarded by its owner's lock.
// Ownership: borrows the executions while they wait.
class FlowQueue {
 public:
  static constexpr int64_t kMaxOwing = 1024;

  void Push(Execution& execution);

  // The next one, which it does not take; null when there is none.
  Execution* Peek();
  // The same, taken. Its `expected_ns` counts.
  Execution* Pop();

  // It is in this queue.
  void Remove(Execution& execution);

  // A run that Pop() gave, and of which `expected_ns` was expected, had its
  // lane for `held_ns`.
  void Settle(uint64_t flow, int64_t expected_ns, int64_t held_ns);

  bool empty() const { return length_ == 0; }
  int64_t length() const { return length_; }

  // What waits of one flow.
  struct Share {
    int64_t length = 0;
    uint64_t bytes = 0;
  };
  Share ShareOf(uint64_t flow) const;
  // How many are remembered, with those for which nothing waits.
  int64_t flow_count() const { return static_cast<int64_t>(heap_.size()); }

 private:
  struct Flow {
    uint64_t id = 0;
    int64_t tag = 0;
    int64_t first_tag = 0;  // that it came with
    uint64_t turn = 0;      // of equal tags the one that got its tag first
    Execution* first = nullptr;
    Execution* last = nullptr;
    Share share;
    int32_t heap_index = -1;  // below 0: the slot is free
  };

  Flow& FindOrAdd(uint64_t id);
  void Unlink(Flow& flow, Execution& execution);
  // Forgets what the flows owe for which nothing waits.
  void ForgetIdle();
  void ForgetAll();  // nothing waits
  void Forget(int32_t slot);
  void SetTag(Flow& flow, int64_t tag);
  bool IsBefore(int32_t a, int32_t b) const;
  void SiftUp(int32_t index);
  void SiftDown(int32_t index);
  void Place(int32_t index, int32_t slot);

  int64_t length_ = 0;
  int64_t now_ = 0;  // virtual nanoseconds
  uint64_t last_turn_ = 0;
  int64_t waiting_flows_ = 0;
  std::vector<Flow> flows_;  // by slot
  std::vector<int32_t> free_slots_;
  std::vector<int32_t> heap_;  // of slots, the smallest tag on top
  absl::flat_hash_map<uint64_t, int32_t> slot_of_;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_POOL_FLOW_QUEUE_H_
