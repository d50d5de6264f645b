#include "engine/pool/flow_queue.h"

#include <algorithm>

namespace tensord {

void FlowQueue::Push(Execution& execution) {
  Flow& flow = FindOrAdd(execution.flow);
  QueueLinks& links = execution.links;
  links.flow_slot = static_cast<int32_t>(&flow - flows_.data());
  links.previous = flow.last;
  links.next = nullptr;
  if (flow.last == nullptr) {
    flow.first = &execution;
    ++waiting_flows_;
    SetTag(flow, std::max(flow.tag, now_));
  } else {
    flow.last->links.next = &execution;
  }
  flow.last = &execution;
  ++flow.share.length;
  flow.share.bytes += execution.admitted_bytes;
  ++length_;
}

Execution* FlowQueue::Peek() {
  if (length_ == 0) return nullptr;
  // Virtual time is about to pass their tags.
  while (flows_[heap_.front()].first == nullptr) Forget(heap_.front());
  return flows_[heap_.front()].first;
}

Execution* FlowQueue::Pop() {
  Execution* execution = Peek();
  if (execution == nullptr) return nullptr;
  Flow& flow = flows_[heap_.front()];
  now_ = std::max(now_, flow.tag);
  SetTag(flow, flow.tag + execution->expected_ns);
  Unlink(flow, *execution);
  return execution;
}

void FlowQueue::Remove(Execution& execution) {
  Unlink(flows_[execution.links.flow_slot], execution);
}

void FlowQueue::Settle(uint64_t flow, int64_t expected_ns, int64_t held_ns) {
  const auto found = slot_of_.find(flow);
  if (found == slot_of_.end()) return;
  Flow& owing = flows_[found->second];
  // The run may be of a time before the flow was forgotten, and is then no
  // credit.
  SetTag(owing, std::max(owing.tag + held_ns - expected_ns, owing.first_tag));
  // It stays within one run of the smallest tag, however the number of flows
  // changes meanwhile.
  const int64_t share = held_ns / std::max<int64_t>(waiting_flows_, 1);
  now_ = std::max(now_, std::min(now_ + share, owing.tag));
}

FlowQueue::Share FlowQueue::ShareOf(uint64_t flow) const {
  const auto found = slot_of_.find(flow);
  return found == slot_of_.end() ? Share{} : flows_[found->second].share;
}

FlowQueue::Flow& FlowQueue::FindOrAdd(uint64_t id) {
  const auto found = slot_of_.find(id);
  if (found != slot_of_.end()) return flows_[found->second];
  if (flow_count() - waiting_flows_ >= kMaxOwing) ForgetIdle();
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<int32_t>(flows_.size()));
    flows_.emplace_back();
  }
  const int32_t slot = free_slots_.back();
  free_slots_.pop_back();
  slot_of_.emplace(id, slot);
  flows_[slot] = {
      .id = id, .tag = now_, .first_tag = now_, .turn = ++last_turn_};
  heap_.push_back(slot);
  flows_[slot].heap_index = static_cast<int32_t>(heap_.size()) - 1;
  SiftUp(flows_[slot].heap_index);
  return flows_[slot];
}

void FlowQueue::Unlink(Flow& flow, Execution& execution) {
  QueueLinks& links = execution.links;
  (links.previous != nullptr ? links.previous->links.next : flow.first) =
      links.next;
  (links.next != nullptr ? links.next->links.previous : flow.last) =
      links.previous;
  --flow.share.length;
  flow.share.bytes -= execution.admitted_bytes;
  if (flow.first == nullptr) --waiting_flows_;
  if (--length_ == 0) ForgetAll();
}

void FlowQueue::ForgetAll() {
  while (!heap_.empty()) Forget(heap_.back());
}

void FlowQueue::ForgetIdle() {
  for (size_t slot = 0; slot < flows_.size(); ++slot) {
    const Flow& flow = flows_[slot];
    if (flow.heap_index >= 0 && flow.first == nullptr) {
      Forget(static_cast<int32_t>(slot));
    }
  }
}

void FlowQueue::Forget(int32_t slot) {
  const int32_t index = flows_[slot].heap_index;
  const int32_t moved = heap_.back();
  heap_.pop_back();
  if (moved != slot) {
    Place(index, moved);
    SiftUp(index);
    SiftDown(flows_[moved].heap_index);
  }
  flows_[slot].heap_index = -1;
  slot_of_.erase(flows_[slot].id);
  free_slots_.push_back(slot);
}

void FlowQueue::SetTag(Flow& flow, int64_t tag) {
  flow.tag = tag;
  flow.turn = ++last_turn_;
  SiftUp(flow.heap_index);
  SiftDown(flow.heap_index);
}

bool FlowQueue::IsBefore(int32_t a, int32_t b) const {
  const Flow& x = flows_[a];
  const Flow& y = flows_[b];
  return x.tag != y.tag ? x.tag < y.tag : x.turn < y.turn;
}

void FlowQueue::SiftUp(int32_t index) {
  const int32_t slot = heap_[index];
  while (index > 0) {
    const int32_t parent = (index - 1) / 2;
    if (!IsBefore(slot, heap_[parent])) break;
    Place(index, heap_[parent]);
    index = parent;
  }
  Place(index, slot);
}

void FlowQueue::SiftDown(int32_t index) {
  const int32_t size = static_cast<int32_t>(heap_.size());
  const int32_t slot = heap_[index];
  while (2 * index + 1 < size) {
    int32_t child = 2 * index + 1;
    if (child + 1 < size && IsBefore(heap_[child + 1], heap_[child])) ++child;
    if (!IsBefore(heap_[child], slot)) break;
    Place(index, heap_[child]);
    index = child;
  }
  Place(index, slot);
}

void FlowQueue::Place(int32_t index, int32_t slot) {
  heap_[index] = slot;
  flows_[slot].heap_index = index;
}

}  // namespace tensord
