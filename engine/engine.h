#ifndef TENSORD_ENGINE_ENGINE_H_
#define TENSORD_ENGINE_ENGINE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "backends/api/backend.h"
#include "engine/cache/loaded_graph.h"
#include "engine/compile_event.h"
#include "engine/compiled/explain.h"
#include "engine/compiled/kernel_binding_table.h"
#include "engine/engine_options.h"
#include "engine/exec/execution.h"
#include "engine/graph/graph_def.h"
#include "engine/memory/buffer_pool.h"
#include "engine/pool/device_wish.h"
#include "engine/profile/op_profile.h"
#include "engine/profile/phase_profile.h"

namespace tensord {

// One device as the pool sees it.
struct DeviceStatus {
  DeviceInfo info;
  absl::Status health;  // OK, or why it is not chosen any more
  bool is_draining = false;
  int lane_count = 0;
  int64_t in_flight = 0;  // executions on lanes: exact
  int64_t queue_depth = 0;
  uint64_t queued_bytes = 0;
  uint64_t allocated_bytes = 0;
  uint64_t weight_bytes = 0;
  // Copied to and from its memory so far; 0 where the host addresses that.
  uint64_t uploaded_bytes = 0;
  uint64_t downloaded_bytes = 0;
  uint64_t completed = 0;
  uint64_t failed = 0;
  uint64_t faults = 0;
  // When an execution or a probe last ended there; at first, when it was
  // opened.
  absl::Time last_answer = absl::InfinitePast();
  bool is_stalled = false;  // EngineOptions::max_stall_time
};

struct GraphCacheStats {
  uint64_t hits = 0;    // executions whose compiled graph was there
  uint64_t misses = 0;  // compilations begun
  uint64_t evictions = 0;
  uint64_t bytes = 0;
  int64_t graphs = 0;
  int64_t compiled_graphs = 0;
};

// Graphs in, answers out: the whole engine behind one class. Keeps submitted
// graphs and compiled ones, compiles in a pool of its own at low priority, and
// runs executions on the lanes of pooled devices.
//
// Threading: every method may be called from any thread and returns soon;
//   callbacks run on a compiler's or a lane's thread, or inside the call. They
//   must not block.
// Ownership: owns graphs, caches, queues and devices; borrows the backends, the
//   profile and the host's services, which outlive it. The destructor refuses
//   what is queued (kUnavailable), waits for what runs, and then returns.
// Errors: every refusal has a noun and numbers; see each method.
class Engine {
 public:
  // Opens `devices` (named "cpu:0") on the backends. kInvalidArgument for a
  // name that is there twice, kNotFound for a device that is not there.
  // `phases` gets each execution's phases from kQueue to kDownload; it may be
  // null.
  static absl::StatusOr<std::unique_ptr<Engine>> Create(
      EngineOptions options, absl::Span<Backend* const> backends,
      absl::Span<const DeviceId> devices, op_profile::OpProfile& profile,
      op_profile::PhaseProfile* phases, HostServices services);

  virtual ~Engine() = default;

  // --- Graphs. `principal` is who holds; one sees and drops one's own holds
  // only.

  struct Submission {
    GraphId id;
    std::string principal;
    uint64_t source_bytes = 0;
    CompileOptions options;
    // Turns the received bytes into a graph. Runs once on a compiler thread,
    // and not at all for a graph that is known.
    absl::AnyInvocable<absl::StatusOr<GraphDef>()> decode;
    // Sets of input shapes to compile for before the answer; with none, a graph
    // with fixed inputs is compiled for those.
    std::vector<std::vector<Shape>> compile_for;
  };
  struct SubmitOutcome {
    std::shared_ptr<const LoadedGraph> graph;
    bool already_known = false;
    absl::Duration compile_time;
  };
  // Concurrent submissions of one id compile once, and all get its outcome.
  // Errors: the decoder's and BuildGraph's; kUnimplemented with NoBackendForOp
  //   when no device's backend can run it; kResourceExhausted (max_graphs held
  //   by others, queue of the compiler full).
  virtual void SubmitGraph(
      Submission submission,
      absl::AnyInvocable<void(absl::StatusOr<SubmitOutcome>)> done) = 0;

  // kNotFound when the principal does not hold it.
  virtual absl::StatusOr<std::shared_ptr<const LoadedGraph>> FindGraph(
      absl::string_view id, absl::string_view principal) = 0;

  // Held by the principal, ordered by id, after `after` (exclusive), at most
  // `limit`.
  virtual std::vector<std::shared_ptr<const LoadedGraph>> ListGraphs(
      absl::string_view principal, absl::string_view after, int limit) = 0;

  // Drops the principal's hold; the graph goes with its last hold, runs under
  // way finish.
  virtual absl::Status DeleteGraph(absl::string_view id,
                                   absl::string_view principal) = 0;

  // Compiles if need be; `done` as in SubmitGraph. Of several devices that the
  // wish leaves, the least loaded is explained.
  virtual void ExplainGraph(
      std::shared_ptr<const LoadedGraph> graph, std::vector<Shape> input_shapes,
      DeviceWish wish,
      absl::AnyInvocable<void(absl::StatusOr<Explanation>)> done) = 0;

  // --- Executions.

  // Runs `execution`, or refuses it; either way execution.on_done is called
  // once. Small graphs run inside the call (EngineOptions::inline_limit).
  // Errors in execution.status: kInvalidArgument (inputs do not fit the graph),
  //   kResourceExhausted (a queue is full, peak bytes above the limit: which,
  //   how much), kNotFound (no such device), kUnavailable (draining, or no
  //   healthy device), kDeadlineExceeded, kCancelled, and the run's own.
  virtual void Start(Execution& execution) = 0;

  // Stops an execution: one that waits (for its compilation or a lane) is
  // answered kCancelled inside the call, one that runs ends soon, a launch
  // under way included (LaunchContext::is_stopped). The caller keeps
  // `execution` alive until the call returns; nothing happens to one that was
  // answered already. Setting is_cancelled alone is seen only when its turn
  // comes.
  virtual void Cancel(Execution& execution) = 0;

  // Buffers for inputs; outputs come from it too. All of them go back before
  // the engine goes.
  virtual BufferPool& buffers() = 0;

  // --- The process.

  // From now on Start refuses with kUnavailable.
  virtual void StopAccepting() = 0;
  // Waits until nothing is queued or runs: false when it still does at
  // `deadline`.
  virtual bool AwaitIdle(absl::Time deadline) = 0;

  virtual std::vector<DeviceStatus> Devices() const = 0;
  // kNotFound; draining finishes what is queued and takes nothing new.
  virtual absl::Status SetDraining(DeviceId device, bool is_draining) = 0;
  virtual GraphCacheStats CacheStats() const = 0;
  virtual TuningStats Tuning() const = 0;
  virtual const KernelBindingTable& table() const = 0;
  virtual const EngineOptions& options() const = 0;

  // Called for each part of a compilation; set before the first.
  virtual void SetCompileObserver(CompileObserver observer) = 0;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_ENGINE_H_
