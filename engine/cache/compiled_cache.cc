#include "engine/cache/compiled_cache.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tensord {

CompiledCache::Compiled CompiledCache::Find(const CompiledKeyView& key) {
  absl::MutexLock lock(&mu_);
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  ++stats_.hits;
  ++found->second->uses;
  by_use_.splice(by_use_.begin(), by_use_, found->second);
  return found->second->compiled;
}

CompiledCache::Compiled CompiledCache::Peek(const CompiledKeyView& key) {
  absl::MutexLock lock(&mu_);
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? nullptr : found->second->compiled;
}

bool CompiledCache::Join(const CompiledKey& key, Continuation continuation) {
  Compiled compiled;
  {
    absl::MutexLock lock(&mu_);
    const auto found = by_key_.find(key);
    if (found == by_key_.end()) {
      const auto [waiting, is_first] = under_way_.try_emplace(key);
      waiting->second.push_back(std::move(continuation));
      if (is_first) ++stats_.misses;
      return is_first;
    }
    by_use_.splice(by_use_.begin(), by_use_, found->second);
    compiled = found->second->compiled;
  }
  std::move(continuation)(compiled);
  return false;
}

void CompiledCache::Complete(const CompiledKey& key,
                             absl::StatusOr<Compiled> outcome,
                             std::weak_ptr<const LoadedGraph> graph) {
  std::vector<Continuation> continuations;
  {
    absl::MutexLock lock(&mu_);
    const auto waiting = under_way_.find(key);
    continuations = std::move(waiting->second);
    under_way_.erase(waiting);
    if (outcome.ok()) {
      const CompiledGraph& compiled = **outcome;
      by_use_.push_front({.key = key,
                          .compiled = *outcome,
                          .counted_bytes = compiled.held_bytes(),
                          .graph = std::move(graph)});
      by_key_[key] = by_use_.begin();
      stats_.bytes += by_use_.front().counted_bytes;
      CountPacked(compiled);
      if (compiled.may_grow()) {
        growing_.insert(&by_use_.front());
      }
    }
  }
  for (Continuation& continuation : continuations) {
    std::move(continuation)(outcome);
  }
}

int64_t CompiledCache::Trim(uint64_t max_bytes) {
  std::vector<Compiled> evicted;  // die behind the lock
  absl::MutexLock lock(&mu_);
  Recount();
  const auto evict = [&](Entries::iterator entry)
                         ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
                           evicted.push_back(Remove(entry));
                           ++stats_.evictions;
                         };
  while (stats_.bytes > max_bytes && by_use_.size() > 1) {
    evict(std::prev(by_use_.end()));
  }
  if (by_use_.empty() || stats_.bytes + packed_bytes_ <= max_bytes) {
    return static_cast<int64_t>(evicted.size());
  }
  absl::flat_hash_set<const Storage*> stays;
  uint64_t staying_bytes = 0;
  for (const auto& packed : by_use_.front().compiled->packed_weights) {
    if (stays.insert(packed.get()).second) {
      staying_bytes += packed->size_bytes();
    }
  }
  const auto frees_some = [&](const Entry& entry) {
    const auto& packed = entry.compiled->packed_weights;
    return std::any_of(packed.begin(), packed.end(), [&](const auto& weights) {
      return !stays.contains(weights.get());
    });
  };
  for (auto entry = std::prev(by_use_.end());
       entry != by_use_.begin() &&
       stats_.bytes + packed_bytes_ - staying_bytes > max_bytes;) {
    const auto candidate = entry--;
    if (frees_some(*candidate)) evict(candidate);
  }
  return static_cast<int64_t>(evicted.size());
}

void CompiledCache::CountPacked(const CompiledGraph& graph) {
  for (const auto& packed : graph.packed_weights) {
    if (++packed_users_[packed.get()] == 1) {
      packed_bytes_ += packed->size_bytes();
    }
  }
}

void CompiledCache::DiscountPacked(const CompiledGraph& graph) {
  for (const auto& packed : graph.packed_weights) {
    const auto users = packed_users_.find(packed.get());
    if (--users->second > 0) continue;
    packed_users_.erase(users);
    packed_bytes_ -= packed->size_bytes();
  }
}

void CompiledCache::Recount() {
  for (Entry* entry : growing_) {
    stats_.bytes -= entry->counted_bytes;
    entry->counted_bytes = entry->compiled->held_bytes();
    stats_.bytes += entry->counted_bytes;
  }
}

void CompiledCache::EraseGraph(absl::string_view graph_id) {
  std::vector<Compiled> erased;
  absl::MutexLock lock(&mu_);
  for (auto entry = by_use_.begin(); entry != by_use_.end();) {
    const auto next = std::next(entry);
    if (entry->key.graph_id == graph_id) erased.push_back(Remove(entry));
    entry = next;
  }
}

std::optional<CompiledCache::Used> CompiledCache::TakeUsed(uint64_t min_uses) {
  absl::MutexLock lock(&mu_);
  Entry* most = nullptr;
  double most_ns = -1;
  for (Entry& entry : by_use_) {
    if (entry.is_taken || entry.uses < min_uses) continue;
    const double ns =
        static_cast<double>(entry.uses) * entry.compiled->estimated_ns;
    if (ns <= most_ns) continue;
    most = &entry;
    most_ns = ns;
  }
  if (most == nullptr) return std::nullopt;
  most->is_taken = true;
  return Used{most->key, most->graph, most->compiled};
}

void CompiledCache::PutBack(const CompiledKeyView& key) {
  absl::MutexLock lock(&mu_);
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return;
  found->second->is_taken = false;
  found->second->uses = 0;
}

void CompiledCache::Replace(const CompiledKey& key, Compiled compiled) {
  absl::MutexLock lock(&mu_);
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return;
  Entry& entry = *found->second;
  stats_.bytes -= entry.counted_bytes;
  entry.counted_bytes = compiled->held_bytes();
  stats_.bytes += entry.counted_bytes;
  CountPacked(*compiled);
  DiscountPacked(*entry.compiled);
  // The old one dies with `compiled`, outside the lock.
  entry.compiled.swap(compiled);
}

CompiledCache::Compiled CompiledCache::Remove(Entries::iterator entry) {
  Compiled compiled = std::move(entry->compiled);
  stats_.bytes -= entry->counted_bytes;
  DiscountPacked(*compiled);
  growing_.erase(&*entry);
  by_key_.erase(entry->key);
  by_use_.erase(entry);
  return compiled;
}

CompiledCache::Stats CompiledCache::stats() {
  absl::MutexLock lock(&mu_);
  Recount();
  Stats stats = stats_;
  stats.count = static_cast<int64_t>(by_key_.size());
  return stats;
}

}  // namespace tensord
