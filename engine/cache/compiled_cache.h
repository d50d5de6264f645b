#ifndef TENSORD_ENGINE_CACHE_COMPILED_CACHE_H_
#define TENSORD_ENGINE_CACHE_COMPILED_CACHE_H_

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "engine/cache/compiled_key.h"
#include "engine/compiled/compiled_graph.h"

namespace tensord {

// Compiled graphs by CompiledKey, and who waits for those that are being
// compiled. Each key is compiled by one caller at a time; the others leave a
// continuation instead of blocking a thread. A failure is told to all of them,
// and not kept: the next one tries again.
//
// Threading: every method may be called from any thread. Continuations are
//   called without a lock.
// Ownership: shares the compiled graphs, so that one that is evicted or whose
//   graph is deleted lives until its last run ends.
class CompiledCache {
 public:
  using Compiled = std::shared_ptr<const CompiledGraph>;
  using Continuation =
      absl::AnyInvocable<void(const absl::StatusOr<Compiled>& compiled) &&>;

  // Null when it is not there (being compiled included). Counts a hit, and
  // makes it the most recently used.
  Compiled Find(const CompiledKeyView& key);

  // The same, for a look at it: no hit, and no use.
  Compiled Peek(const CompiledKeyView& key);

  // Calls `continuation` once: inside the call if the key is there, else inside
  // Complete(). True: nobody compiles it yet, so the caller does, and calls
  // Complete().
  [[nodiscard]] bool Join(const CompiledKey& key, Continuation continuation);

  // The outcome for a key that Join() handed to the caller, and what it was
  // compiled from.
  void Complete(const CompiledKey& key, absl::StatusOr<Compiled> outcome,
                std::weak_ptr<const LoadedGraph> graph = {});

  // Evicts the least recently used until the footprints of what is left are no
  // more than `max_bytes`; and then, where the weights that graphs have packed
  // are too much beside that, the least recently used of those graphs whose
  // going frees some. The most recently used stays, whatever its size, and its
  // packed weights do not count: without it a graph above the limit would be
  // compiled for every run, and would evict all others each time.
  // Returns how many were evicted.
  int64_t Trim(uint64_t max_bytes);

  // Drops what was compiled of a graph; not an eviction.
  void EraseGraph(absl::string_view graph_id);

  // A compiled graph that is worth the tuner's time.
  struct Used {
    CompiledKey key;
    std::weak_ptr<const LoadedGraph> graph;  // gone with its last holder
    Compiled compiled;
  };
  // Of those that were found at least `min_uses` times and not taken yet, the
  // one whose runs have taken the longest by estimate.
  std::optional<Used> TakeUsed(uint64_t min_uses);
  // Undoes TakeUsed(): the key's turn comes again once it was found so often
  // from now on.
  void PutBack(const CompiledKeyView& key);
  // Puts a later compilation in the place of the key's, unless that is gone.
  // Runs that have the old one keep it.
  void Replace(const CompiledKey& key, Compiled compiled);

  struct Stats {
    uint64_t hits = 0;
    uint64_t misses = 0;
    uint64_t evictions = 0;
    uint64_t bytes = 0;  // held by the graphs, without packed weights
    int64_t count = 0;
  };
  Stats stats();

 private:
  struct Entry {
    CompiledKey key;
    Compiled compiled;
    uint64_t counted_bytes = 0;  // what stats_ has of it
    std::weak_ptr<const LoadedGraph> graph;
    uint64_t uses = 0;
    bool is_taken = false;  // by TakeUsed()
  };
  using Entries = std::list<Entry>;

  // Counts anew what runs have left in the graphs that keep such things.
  void Recount() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Packed weights, each once however many graphs use it.
  void CountPacked(const CompiledGraph& graph)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void DiscountPacked(const CompiledGraph& graph)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Takes an entry out; its graph dies with the result, outside the lock.
  Compiled Remove(Entries::iterator entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  absl::Mutex mu_;
  Entries by_use_ ABSL_GUARDED_BY(mu_);  // the most recent first
  absl::flat_hash_map<CompiledKey, Entries::iterator, CompiledKeyHash,
                      CompiledKeyEqual>
      by_key_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<CompiledKey, std::vector<Continuation>, CompiledKeyHash,
                      CompiledKeyEqual>
      under_way_ ABSL_GUARDED_BY(mu_);
  // Those whose held_bytes() is not the same for ever.
  absl::flat_hash_set<Entry*> growing_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<const Storage*, int64_t> packed_users_
      ABSL_GUARDED_BY(mu_);
  uint64_t packed_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  Stats stats_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_CACHE_COMPILED_CACHE_H_
