#ifndef TENSORD_SERVER_RPC_GRAPH_FACTS_H_
#define TENSORD_SERVER_RPC_GRAPH_FACTS_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "tensord/v1/graph_service.pb.h"

namespace tensord {

// What the API tells of a graph that the engine has no use for. Threading:
// `opset_version` is written before the graph is known; the rest is fixed but
// for the atomics.
struct GraphFacts {
  v1::GraphFormat format = v1::GRAPH_FORMAT_UNSPECIFIED;
  v1::CompileOptions options;
  std::atomic<int64_t> opset_version{0};
  std::atomic<int64_t> execution_count{0};
  std::atomic<int64_t> last_use_unix_ns{0};

  void NoteUse(int64_t now_unix_ns) {
    last_use_unix_ns.store(now_unix_ns, std::memory_order_relaxed);
  }
};

// Facts by graph id.
//
// The engine drops graphs without telling (the cache needs room), so the table
// asks which ids are still known whenever it has grown to twice the size that
// it had after the last time it asked.
//
// Threading: thread-safe; Find() takes a shared lock.
class GraphFactsTable {
 public:
  // The facts of `id`: those that are there, or else `fresh`.
  std::shared_ptr<GraphFacts> Insert(
      const std::string& id, std::shared_ptr<GraphFacts> fresh,
      absl::FunctionRef<bool(const std::string& id)> is_known)
      ABSL_LOCKS_EXCLUDED(mu_);
  // Null when there are none.
  std::shared_ptr<GraphFacts> Find(absl::string_view id) const
      ABSL_LOCKS_EXCLUDED(mu_);
  void Erase(absl::string_view id) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  static constexpr size_t kLeastPurgeSize = 1024;

  mutable absl::Mutex mu_;
  absl::flat_hash_map<std::string, std::shared_ptr<GraphFacts>> facts_
      ABSL_GUARDED_BY(mu_);
  size_t purge_at_ ABSL_GUARDED_BY(mu_) = kLeastPurgeSize;
};

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_GRAPH_FACTS_H_
