#ifndef TENSORD_ENGINE_CACHE_GRAPH_STORE_H_
#define TENSORD_ENGINE_CACHE_GRAPH_STORE_H_

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "engine/cache/loaded_graph.h"

namespace tensord {

// Graphs by id, who holds each, and who waits for those that are being loaded.
// Each id is loaded by one caller at a time. A graph is there while anybody
// holds it; a principal sees its own holds only.
//
// Threading: every method may be called from any thread. Continuations are
//   called without a lock.
// Ownership: shares the graphs; a run under way keeps its own.
class GraphStore {
 public:
  using Loaded = std::shared_ptr<const LoadedGraph>;
  struct Held {
    Loaded graph;
    bool was_held = false;  // by this principal, before this call
  };
  using Continuation =
      absl::AnyInvocable<void(const absl::StatusOr<Held>& held) &&>;

  explicit GraphStore(int64_t max_graphs, uint64_t max_bytes = UINT64_MAX)
      : max_graphs_(max_graphs), max_bytes_(max_bytes) {}

  // The principal holds graph `id` from then on, if it is there or its loading
  // succeeds. Calls `continuation` once: inside the call if the graph is there,
  // or refused with kResourceExhausted (max_graphs are there or being loaded);
  // else inside Complete(). True: nobody loads it yet, so the caller does, and
  // calls Complete().
  [[nodiscard]] bool Join(const GraphId& id, const std::string& principal,
                          Continuation continuation);

  // The outcome for an id that Join() handed to the caller. Above max_bytes the
  // least recently used graphs go, with all their holds, before it is told; the
  // newest stays, whatever its size. Returns the ids of those that went.
  std::vector<GraphId> Complete(const GraphId& id,
                                const absl::StatusOr<Loaded>& outcome);

  // kNotFound when the principal does not hold it.
  absl::StatusOr<Loaded> Find(absl::string_view id,
                              absl::string_view principal);

  // What the principal holds, ordered by id, after `after`, at most `limit`.
  std::vector<Loaded> List(absl::string_view principal, absl::string_view after,
                           int limit) const;

  // Drops the principal's hold: true when it was the last one, so that the
  // graph is gone. kNotFound when there is none.
  absl::StatusOr<bool> Drop(absl::string_view id, absl::string_view principal);

  bool Contains(absl::string_view id) const;
  uint64_t bytes() const;
  int64_t count() const;

 private:
  struct Entry {
    Loaded graph;
    int64_t hold_count = 0;
    std::list<GraphId>::iterator by_use;
  };
  struct Waiter {
    std::string principal;
    Continuation continuation;
  };

  // (principal, id): a principal's holds are together, and ordered.
  using HoldView = std::pair<absl::string_view, absl::string_view>;
  struct HoldLess {
    using is_transparent = void;
    bool operator()(const HoldView& a, const HoldView& b) const {
      return a < b;
    }
  };

  static absl::Status NotHeld(absl::string_view id);

  // True when the principal held it before.
  bool Hold(Entry& entry, const GraphId& id, const std::string& principal)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool IsHeld(absl::string_view id, absl::string_view principal) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Takes a graph out; it dies with the result, outside the lock.
  Loaded Remove(const GraphId& id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const int64_t max_graphs_;
  const uint64_t max_bytes_;
  mutable absl::Mutex mu_;
  absl::flat_hash_map<GraphId, Entry> graphs_ ABSL_GUARDED_BY(mu_);
  std::list<GraphId> by_use_ ABSL_GUARDED_BY(mu_);  // the most recent first
  absl::btree_set<std::pair<std::string, GraphId>, HoldLess> holds_
      ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<GraphId, std::vector<Waiter>> loading_
      ABSL_GUARDED_BY(mu_);
  uint64_t bytes_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_CACHE_GRAPH_STORE_H_
