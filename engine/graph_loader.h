#ifndef TENSORD_ENGINE_GRAPH_LOADER_H_
#define TENSORD_ENGINE_GRAPH_LOADER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/cache/graph_store.h"
#include "engine/compile_service.h"
#include "engine/engine.h"
#include "engine/infer/host_evaluator.h"
#include "engine/pool/compile_pool.h"
#include "engine/pool/device_pool.h"

namespace tensord {

// What it takes to load a graph. Borrows everything; it all outlives the
// loader.
struct LoaderParts {
  const EngineOptions& options;
  const KernelBindingTable& table;
  HostEvaluator* evaluator;   // may be null
  const HostCompanion* host;  // may be null
  DevicePool& devices;
  CompilePool& threads;
  CompileService& compiler;
};

// Submissions to graphs that are held: decoded, checked, inferred, and compiled
// for the shapes that are known. Everything here that takes time runs on the
// compiler's threads, once for each id.
//
// Threading: every method may be called from any thread.
class GraphLoader {
 public:
  using Done = absl::AnyInvocable<void(absl::StatusOr<Engine::SubmitOutcome>)>;

  explicit GraphLoader(const LoaderParts& parts)
      : parts_(parts),
        store_(parts.options.max_graphs, parts.options.graph_cache_bytes) {}

  void Submit(Engine::Submission submission, Done done);

  GraphStore& store() { return store_; }

  // As GraphStore's; what was compiled goes with the last hold.
  absl::Status Drop(absl::string_view id, absl::string_view principal);

 private:
  struct Pending;

  void Load(Engine::Submission submission);
  absl::StatusOr<std::shared_ptr<const LoadedGraph>> MakeLoaded(
      Engine::Submission& submission) const;
  absl::StatusOr<BackendSet> FindCapable(const Graph& graph,
                                         const Inference& inference) const;
  void Complete(const GraphId& id,
                absl::StatusOr<std::shared_ptr<const LoadedGraph>> outcome);
  void CompileForHints(std::shared_ptr<Pending> pending);
  void ShareBudget();

  const LoaderParts parts_;
  GraphStore store_;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_GRAPH_LOADER_H_
