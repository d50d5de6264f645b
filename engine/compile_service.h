#ifndef TENSORD_ENGINE_COMPILE_SERVICE_H_
#define TENSORD_ENGINE_COMPILE_SERVICE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "backends/api/backend.h"
#include "engine/cache/compiled_cache.h"
#include "engine/cache/loaded_graph.h"
#include "engine/compile_event.h"
#include "engine/compiled/graph_compiler.h"
#include "engine/compiled/growth_observer.h"
#include "engine/compiled/preparation.h"
#include "engine/memory/weight_store.h"
#include "engine/pool/compile_pool.h"
#include "engine/pool/device_pool.h"

namespace tensord {

// Loaded graphs to compiled ones, each key once, on the compiler's threads.
//
// Threading: every method may be called from any thread.
// Ownership: owns weights and what was compiled; borrows the pools and what
//   `environment` refers to, which outlive it. Close the compile pool, and join
//   it, before this goes.
class CompileService final : private GrowthObserver {
 public:
  using Compiled = CompiledCache::Compiled;
  using Continuation = CompiledCache::Continuation;

  // Offered the planned graph of a compilation whose nodes are about to be
  // prepared. True: a run has been started that goes along with it; whoever
  // runs it detaches from the channel.
  using FirstRun = absl::AnyInvocable<bool(
      const Compiled& planned,
      const std::shared_ptr<PreparationChannel>& channel)>;

  CompileService(CompilerEnvironment environment, bool is_pipelined,
                 CompilePool& threads, DevicePool& devices);

  // Null when there is none yet. Counts a hit.
  Compiled Find(const CompiledKeyView& key) { return cache_.Find(key); }

  // Null when there is none yet. No hit.
  Compiled Peek(const CompiledKeyView& key) { return cache_.Peek(key); }

  // Calls `continuation` once, inside the call or on a compiler's thread.
  // `first_run` may be null, and is called at most once before.
  // `estimates_devices`: also what a run would take on the other devices
  // (CompiledGraph::device_estimates), once the nodes are prepared.
  void Compile(std::shared_ptr<const LoadedGraph> graph,
               std::vector<Shape> input_shapes, PooledDevice& device,
               Continuation continuation, FirstRun first_run = nullptr,
               bool estimates_devices = true);

  // The same for a caller that is a compiler's thread already: it compiles
  // itself if nobody does.
  void CompileHere(std::shared_ptr<const LoadedGraph> graph,
                   std::vector<Shape> input_shapes, PooledDevice& device,
                   Continuation continuation);

  // For the tuner: a compiled graph to measure, as CompiledCache::TakeUsed; and
  // compiling one again, behind what clients wait for, since kernels would be
  // chosen otherwise now. Clients go on with the old one until the new one is
  // prepared; if anything fails they keep it. A key that waits for it already
  // is compiled once; one that finds no place in the queue is put back.
  std::optional<CompiledCache::Used> TakeUsed(uint64_t min_uses) {
    return cache_.TakeUsed(min_uses);
  }
  void PutBack(const CompiledKey& key) { cache_.PutBack(key); }
  void Recompile(CompiledCache::Used used);

  // What compiled graphs may take; more is evicted.
  void SetMaxBytes(uint64_t max_bytes);
  void EraseGraph(absl::string_view graph_id);

  uint64_t weight_bytes(DeviceId device) const;
  // Ever, not those that are used in host memory.
  uint64_t uploaded_weight_bytes(DeviceId device) const;
  // The bytes include weights that kernels have packed, each once.
  CompiledCache::Stats stats();

  // Set before the first compilation.
  void SetObserver(CompileObserver observer) {
    observer_ = std::move(observer);
  }
  void Observe(absl::string_view phase, absl::Duration duration) const {
    if (observer_ != nullptr) observer_({phase, duration});
  }

 private:
  // What compilations for one device share.
  struct Target {
    explicit Target(Device& device) : device(device), weights(device) {}

    Device& device;
    WeightStore weights;
    absl::Mutex mu;
    // Lanes for uploads that nobody uses now; as many as compile at once.
    std::vector<std::unique_ptr<Lane>> idle_lanes ABSL_GUARDED_BY(mu);
  };

  void Run(const CompiledKey& key,
           const std::shared_ptr<const LoadedGraph>& graph,
           PooledDevice& device, FirstRun first_run, bool estimates_devices);
  void SubmitRecompilation(const CompiledKey& key,
                           std::weak_ptr<const LoadedGraph> graph);
  void CompileAgain(const CompiledKey& key,
                    const std::weak_ptr<const LoadedGraph>& weak);
  absl::StatusOr<std::shared_ptr<CompiledGraph>> Plan(const CompiledKey& key,
                                                      const LoadedGraph& graph,
                                                      Target& target);
  // What a compiled graph would take on each device of the pool; found once for
  // all devices that it is compiled for.
  std::vector<DeviceEstimate> EstimateDevices(const LoadedGraph& graph,
                                              const CompiledKey& key,
                                              const CompiledGraph& compiled);
  absl::StatusOr<Compiled> Prepare(std::shared_ptr<CompiledGraph> planned,
                                   Device& device, FirstRun first_run);
  Target& TargetOf(DeviceId device) const;
  const CompilerEnvironment& EnvironmentOf(const LoadedGraph& graph) const {
    return graph.options().deterministic ? supposed_ : environment_;
  }
  // What compiled graphs share and no footprint counts.
  uint64_t PackedBytes() const;
  void Trim();
  // Lanes let go of graphs that are gone from the cache.
  void SweepPrograms();
  void OnGrowth() override;

  const CompilerEnvironment environment_;
  // The same with the rates that devices suppose, for deterministic graphs:
  // passes decide by them, and must do so alike at every start.
  const CompilerEnvironment supposed_;
  const bool is_pipelined_;
  CompilePool& threads_;
  DevicePool& devices_;
  std::vector<std::unique_ptr<Target>> targets_;
  // After the targets: weights go before their store and device.
  CompiledCache cache_;
  std::atomic<uint64_t> max_bytes_{UINT64_MAX};
  absl::Mutex mu_;
  // Keys whose recompilation is queued or runs; true: what it should see has
  // changed since, so another one follows it.
  absl::flat_hash_map<CompiledKey, bool, CompiledKeyHash, CompiledKeyEqual>
      recompiled_ ABSL_GUARDED_BY(mu_);
  CompileObserver observer_;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_COMPILE_SERVICE_H_
