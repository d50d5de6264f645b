#include "engine/cache/graph_store.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/graph/escape.h"
#include "engine/limit_exceeded.h"

namespace tensord {

bool GraphStore::Join(const GraphId& id, const std::string& principal,
                      Continuation continuation) {
  absl::StatusOr<Held> held;
  {
    absl::MutexLock lock(&mu_);
    const auto found = graphs_.find(id);
    if (found == graphs_.end()) {
      const auto waiting = loading_.find(id);
      if (waiting != loading_.end()) {
        waiting->second.push_back({principal, std::move(continuation)});
        return false;
      }
      const auto count = static_cast<int64_t>(graphs_.size() + loading_.size());
      if (count < max_graphs_) {
        loading_[id].push_back({principal, std::move(continuation)});
        return true;
      }
      held = LimitDetails{.limit = "max_graphs",
                          .maximum = max_graphs_,
                          .requested = count + 1,
                          .unit = "graphs",
                          .scope = "daemon"}
                 .ToStatus(absl::StrCat(
                     count, " graphs are held and one more was submitted"));
    } else {
      held = Held{found->second.graph, Hold(found->second, id, principal)};
    }
  }
  std::move(continuation)(held);
  return false;
}

std::vector<GraphId> GraphStore::Complete(
    const GraphId& id, const absl::StatusOr<Loaded>& outcome) {
  std::vector<GraphId> evicted_ids;
  std::vector<Loaded> evicted;
  std::vector<std::pair<Continuation, absl::StatusOr<Held>>> answers;
  {
    absl::MutexLock lock(&mu_);
    const auto waiting = loading_.find(id);
    std::vector<Waiter> waiters = std::move(waiting->second);
    loading_.erase(waiting);
    Entry* entry = nullptr;
    if (outcome.ok()) {
      by_use_.push_front(id);
      entry = &graphs_[id];
      *entry = Entry{*outcome, 0, by_use_.begin()};
      bytes_ += (*outcome)->footprint_bytes();
    }
    for (Waiter& waiter : waiters) {
      absl::StatusOr<Held> held;
      if (entry != nullptr) {
        held = Held{entry->graph, Hold(*entry, id, waiter.principal)};
      } else {
        held = outcome.status();
      }
      answers.emplace_back(std::move(waiter.continuation), std::move(held));
    }
    while (bytes_ > max_bytes_ && by_use_.size() > 1) {
      evicted_ids.push_back(by_use_.back());
      evicted.push_back(Remove(evicted_ids.back()));
    }
  }
  for (auto& [continuation, held] : answers) std::move(continuation)(held);
  return evicted_ids;
}

absl::StatusOr<GraphStore::Loaded> GraphStore::Find(
    absl::string_view id, absl::string_view principal) {
  absl::MutexLock lock(&mu_);
  const auto found = graphs_.find(id);
  if (found == graphs_.end() || !IsHeld(id, principal)) return NotHeld(id);
  by_use_.splice(by_use_.begin(), by_use_, found->second.by_use);
  return found->second.graph;
}

std::vector<GraphStore::Loaded> GraphStore::List(absl::string_view principal,
                                                 absl::string_view after,
                                                 int limit) const {
  std::vector<Loaded> graphs;
  absl::MutexLock lock(&mu_);
  auto hold = holds_.upper_bound(HoldView(principal, after));
  for (; hold != holds_.end() && hold->first == principal; ++hold) {
    if (static_cast<int>(graphs.size()) >= limit) break;
    graphs.push_back(graphs_.at(hold->second).graph);
  }
  return graphs;
}

absl::StatusOr<bool> GraphStore::Drop(absl::string_view id,
                                      absl::string_view principal) {
  Loaded dropped;
  absl::MutexLock lock(&mu_);
  const auto found = graphs_.find(id);
  if (found == graphs_.end() || !IsHeld(id, principal)) return NotHeld(id);
  holds_.erase(HoldView(principal, id));
  if (--found->second.hold_count > 0) return false;
  dropped = Remove(found->first);
  return true;
}

bool GraphStore::Contains(absl::string_view id) const {
  absl::MutexLock lock(&mu_);
  return graphs_.contains(id);
}

uint64_t GraphStore::bytes() const {
  absl::MutexLock lock(&mu_);
  return bytes_;
}

int64_t GraphStore::count() const {
  absl::MutexLock lock(&mu_);
  return static_cast<int64_t>(graphs_.size());
}

absl::Status GraphStore::NotHeld(absl::string_view id) {
  return absl::NotFoundError(absl::StrCat("no graph ", Quoted(id)));
}

bool GraphStore::Hold(Entry& entry, const GraphId& id,
                      const std::string& principal) {
  by_use_.splice(by_use_.begin(), by_use_, entry.by_use);
  const bool is_new = holds_.emplace(principal, id).second;
  if (is_new) ++entry.hold_count;
  return !is_new;
}

bool GraphStore::IsHeld(absl::string_view id,
                        absl::string_view principal) const {
  return holds_.contains(HoldView(principal, id));
}

GraphStore::Loaded GraphStore::Remove(const GraphId& id) {
  const auto found = graphs_.find(id);
  Loaded graph = std::move(found->second.graph);
  bytes_ -= graph->footprint_bytes();
  for (auto hold = holds_.begin();
       found->second.hold_count > 0 && hold != holds_.end();) {
    hold = hold->second == id ? holds_.erase(hold) : std::next(hold);
  }
  by_use_.erase(found->second.by_use);
  graphs_.erase(found);
  return graph;
}

}  // namespace tensord
