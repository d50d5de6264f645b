#ifndef TENSORD_ENGINE_ENGINE_IMPL_H_
#define TENSORD_ENGINE_ENGINE_IMPL_H_

#include <memory>
#include <string>
#include <vector>

#include "engine/compile_service.h"
#include "engine/compiled/host_companion.h"
#include "engine/dispatcher.h"
#include "engine/engine.h"
#include "engine/graph_loader.h"
#include "engine/memory/buffer_pool.h"
#include "engine/place/device_rates.h"
#include "engine/pool/compile_pool.h"
#include "engine/pool/compile_waiters.h"
#include "engine/pool/deadline_watch.h"
#include "engine/pool/device_pool.h"
#include "engine/pool/open_executions.h"
#include "engine/tune/tuner.h"
#include "engine/tune/tuning_table.h"

namespace tensord {

// The engine's parts, put together. Each method hands over to one of them.
class EngineImpl final : public Engine {
 public:
  EngineImpl(EngineOptions options, std::unique_ptr<KernelBindingTable> table,
             op_profile::PhaseProfile* phases);
  ~EngineImpl() override;

  // The second half of making it. `evaluator_device`, with its kernels, folds
  // constants; nothing is folded without one.
  absl::Status Open(std::vector<std::unique_ptr<Device>> devices,
                    op_profile::OpProfile& profile,
                    const HostServices& services,
                    absl::Span<Backend* const> backends);

  void SubmitGraph(
      Submission submission,
      absl::AnyInvocable<void(absl::StatusOr<SubmitOutcome>)> done) override {
    loader_->Submit(std::move(submission), std::move(done));
  }
  absl::StatusOr<std::shared_ptr<const LoadedGraph>> FindGraph(
      absl::string_view id, absl::string_view principal) override {
    return loader_->store().Find(id, principal);
  }
  std::vector<std::shared_ptr<const LoadedGraph>> ListGraphs(
      absl::string_view principal, absl::string_view after,
      int limit) override {
    return loader_->store().List(principal, after, limit);
  }
  absl::Status DeleteGraph(absl::string_view id,
                           absl::string_view principal) override {
    return loader_->Drop(id, principal);
  }
  void ExplainGraph(
      std::shared_ptr<const LoadedGraph> graph, std::vector<Shape> input_shapes,
      DeviceWish wish,
      absl::AnyInvocable<void(absl::StatusOr<Explanation>)> done) override;

  void Start(Execution& execution) override { dispatcher_->Start(execution); }
  void Cancel(Execution& execution) override { dispatcher_->Cancel(execution); }
  BufferPool& buffers() override { return buffers_; }

  void StopAccepting() override { dispatcher_->StopAccepting(); }
  bool AwaitIdle(absl::Time deadline) override {
    return open_.AwaitNone(deadline);
  }

  std::vector<DeviceStatus> Devices() const override;
  absl::Status SetDraining(DeviceId device, bool is_draining) override;
  GraphCacheStats CacheStats() const override;
  TuningStats Tuning() const override {
    return tuner_ == nullptr ? TuningStats() : tuner_->stats();
  }
  const KernelBindingTable& table() const override { return *table_; }
  const EngineOptions& options() const override { return options_; }
  void SetCompileObserver(CompileObserver observer) override {
    compiler_->SetObserver(std::move(observer));
  }

 private:
  // Fills rates_, if the options say so. A device that cannot be measured keeps
  // what it says of itself, and the log says why; one that hangs is lost.
  void Calibrate(const HostServices& services);
  absl::Status MakeEvaluator(absl::Span<Backend* const> backends,
                             WorkerPool* workers);
  // Requests' and answers' bytes go to and come from a device that copies them.
  void UsePinnedBuffers();
  // What runs nodes that devices of the pool have no kernels for, if there are
  // devices that it helps and there is one for it.
  void MakeHostCompanion(absl::Span<Backend* const> backends);

  const EngineOptions options_;
  const std::unique_ptr<KernelBindingTable> table_;
  DeviceRates rates_;     // before anything is compiled
  TuningTable measured_;  // empty when the tuner is off
  BufferPool buffers_;
  OpenExecutions open_;
  DeadlineWatch watch_;
  CompileWaiters waiters_;
  CompilePool compile_threads_;
  // A device of its own beside those of the pool, whose lanes have lanes of it.
  std::unique_ptr<Device> host_device_;
  std::unique_ptr<WeightStore> host_weights_;
  HostCompanion host_;
  // From here on in the order in which they are made; each uses those above.
  std::unique_ptr<DevicePool> devices_;
  // What devices that hung when they were calibrated still use.
  std::vector<std::shared_ptr<const void>> in_use_;
  std::unique_ptr<Device> evaluator_device_;  // null when it is one of the pool
  std::unique_ptr<HostEvaluator> evaluator_;
  std::unique_ptr<CompileService> compiler_;
  std::unique_ptr<Tuner> tuner_;  // null when it is off
  std::unique_ptr<GraphLoader> loader_;
  std::unique_ptr<Dispatcher> dispatcher_;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_ENGINE_IMPL_H_
