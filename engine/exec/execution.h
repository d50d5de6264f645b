#ifndef TENSORD_ENGINE_EXEC_EXECUTION_H_
#define TENSORD_ENGINE_EXEC_EXECUTION_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "backends/api/device_id.h"
#include "backends/api/dtype.h"
#include "backends/api/shape.h"
#include "engine/memory/buffer_pool.h"
#include "engine/pool/device_wish.h"
#include "engine/pool/priority.h"
#include "engine/profile/phase_profile.h"
#include "engine/profile/trace_buffer.h"

namespace tensord {

struct CompiledGraph;
struct Execution;
class LoadedGraph;
class PreparationChannel;

// The stages of one run, in order; times are accounted under these names.
using op_profile::Phase;

// Nanoseconds by phase.
using PhaseTimes = std::array<int64_t, op_profile::kPhaseCount>;

// A tensor by value: dense, row-major, little-endian, in pooled memory.
// Ownership: owns its bytes; moved, never copied.
struct HostValue {
  DType dtype = DType::kUndefined;
  Shape shape;
  PooledBuffer bytes;
};

// Where executions wait.
// Threading: thread-safe.
class WaitingRoom {
 public:
  virtual ~WaitingRoom() = default;

  // Takes `execution` out, if it still waits here: then nobody else answers it.
  virtual bool Withdraw(Execution& execution) = 0;

  // Answers what waits here and whose deadline has passed at `now`, raises
  // is_stopped of the runs that it gave lanes to and whose time is up, and
  // returns when the first of what is left is due.
  virtual absl::Time AnswerExpired(absl::Time now) = 0;
};

// An execution's place in the queue where it waits (ExecutionQueue).
// Threading: guarded by the room's lock, but for `room` itself.
struct QueueLinks {
  Execution* previous = nullptr;
  Execution* next = nullptr;
  int64_t deadline_index = -1;  // in the heap; -1 without a deadline
  int32_t flow_slot = 0;        // of FlowQueue
  bool is_aged = false;         // its turn came before a higher priority's
  uint64_t ticket = 0;          // of CompileWaiters
  std::atomic<WaitingRoom*> room{nullptr};
};

// One run of a graph: what goes in, and, once it is done, what came out. An
// object may be used again for another run: its vectors keep their capacity, so
// that a steady state allocates nothing.
//
// Threading: filled by one thread, given to Engine::Start, and untouched by the
//   caller until `on_done`.
// Ownership: the caller's, alive until on_done; shares the graph.
struct Execution {
  // In.
  std::shared_ptr<const LoadedGraph> graph;
  absl::InlinedVector<HostValue, 4> inputs;  // in the graph's order
  absl::Time deadline = absl::InfiniteFuture();
  // How long it may wait for its compilation and a lane, and how long it may
  // then hold the lane; the engine's own limits hold besides (max_queue_time,
  // max_execution_time).
  absl::Duration queue_timeout = absl::InfiniteDuration();
  absl::Duration execution_timeout = absl::InfiniteDuration();
  Priority priority = Priority::kNormal;
  // Whose turn it is among those of one priority: a number that stands for a
  // session, or for (principal, connection). Those of one number take turns as
  // one.
  uint64_t flow = 0;
  DeviceWish wish;
  int trace_capacity = 0;  // launches to trace; 0: no trace
  bool trace_device_times = false;

  // Called once, with the result in place, on a lane's thread or inside Start.
  // Must not block. A plain function keeps a run free of allocations.
  void (*on_done)(Execution& execution) = nullptr;
  void* user = nullptr;  // for on_done

  // Set from any thread to stop the run between launches, or before it begins.
  // Engine::Cancel sets it, stops a launch under way as well, and answers at
  // once what still waits.
  std::atomic<bool> is_cancelled{false};

  // Out.
  absl::Status status;
  absl::InlinedVector<HostValue, 4> outputs;  // in the graph's order
  DeviceId ran_on;
  // The engine's phases, from kQueue to kDownload, of this run; the others are
  // left as they are.
  PhaseTimes phase_ns{};
  std::unique_ptr<op_profile::TraceBuffer> trace;

  // How far it is, for who looks at it meanwhile: Unix time, 0 until then.
  // `ran_on` may be read once it has started.
  std::atomic<int64_t> compiled_ns{0};  // stays 0 when nothing had to be
  std::atomic<int64_t> started_ns{0};   // it took a lane

  // The engine's own, while the run is under way.
  std::shared_ptr<const CompiledGraph> compiled;
  std::shared_ptr<PreparationChannel> preparation;  // of a pipelined first run
  // Raised by Engine::Cancel, and by the device when the run's time is up: seen
  // inside launches.
  std::atomic<bool> is_stopped{false};
  absl::Time queue_deadline = absl::InfiniteFuture();  // of queue_timeout
  int64_t enqueued_ns = 0;
  uint64_t admitted_bytes = 0;
  int64_t expected_ns = 0;  // what its device expects it to take
  QueueLinks links;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_EXEC_EXECUTION_H_
