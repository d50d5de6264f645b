#ifndef TENSORD_ENGINE_DISPATCHER_H_
#define TENSORD_ENGINE_DISPATCHER_H_

#include <atomic>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "engine/compile_service.h"
#include "engine/exec/execution.h"
#include "engine/graph/limits.h"
#include "engine/pool/compile_waiters.h"
#include "engine/pool/device_pool.h"
#include "engine/pool/open_executions.h"

namespace tensord {

// Brings an execution from its start to a lane: checks it, chooses a device,
// finds the compiled graph or waits for it, and queues or runs it.
//
// Threading: every method may be called from any thread.
// Ownership: borrows everything, which outlives it.
class Dispatcher {
 public:
  Dispatcher(const GraphLimits& limits, OpenExecutions& open,
             CompileWaiters& waiters, CompileService& compiler,
             DevicePool& devices)
      : limits_(limits),
        open_(open),
        waiters_(waiters),
        compiler_(compiler),
        devices_(devices) {}

  // The execution is answered, once, inside the call or later.
  void Start(Execution& execution);
  void Cancel(Execution& execution);

  // Finds another device for one whose device was lost before it ran.
  void Reroute(Execution& execution);

  void StopAccepting() { is_accepting_.store(false); }

 private:
  enum class Thread { kCallers, kEngines };

  absl::Status Check(const Execution& execution) const;
  void Dispatch(Execution& execution, Thread thread);
  std::shared_ptr<const CompiledGraph> FindCompiled(
      const Execution& execution) const;
  // Where a run ends first when it has to be compiled there before.
  PooledDevice* ChooseWithCompilation(const Execution& execution,
                                      const CompiledGraph& known) const;
  // For later runs, one graph at a time.
  void CompileAhead(const Execution& execution, PooledDevice& device);
  // Runs what is compiled: inline only on a caller's thread.
  void Run(PooledDevice& device, Execution& execution, Thread thread);
  void AwaitCompilation(PooledDevice& device, Execution& execution);
  void OnCompiled(PooledDevice& device, uint64_t ticket,
                  const absl::StatusOr<CompileService::Compiled>& compiled);
  bool RunAlong(PooledDevice& device, uint64_t ticket,
                const CompileService::Compiled& planned,
                const std::shared_ptr<PreparationChannel>& channel);

  const GraphLimits& limits_;
  OpenExecutions& open_;
  CompileWaiters& waiters_;
  CompileService& compiler_;
  DevicePool& devices_;
  std::atomic<bool> is_accepting_{true};
  std::atomic<bool> is_compiling_ahead_{false};
  std::atomic<int64_t> next_ahead_ns_{0};  // Unix time
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_DISPATCHER_H_
