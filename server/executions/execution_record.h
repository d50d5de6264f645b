#ifndef TENSORD_SERVER_EXECUTIONS_EXECUTION_RECORD_H_
#define TENSORD_SERVER_EXECUTIONS_EXECUTION_RECORD_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "engine/exec/execution.h"
#include "server/executions/output_wish.h"
#include "server/sessions/session.h"
#include "server/tensors/tensor_table.h"

namespace tensord {

// The last four are final.
enum class ExecutionState : uint8_t {
  kQueued,
  kRunning,
  kSucceeded,
  kFailed,
  kCancelled,
  kExpired,
};

// The final state that a status stands for.
ExecutionState FinalState(const absl::Status& status);

// One output of a run that has ended: its bytes, or the tensor that stays.
// Ownership: shared with every answer that has it.
struct KeptOutput {
  std::string name;
  DType dtype = DType::kUndefined;
  Shape shape;
  std::shared_ptr<const PooledBuffer> bytes;
  TensorTable::Pointer tensor;
};

// One run that its client knows by a handle: from its admission until nobody
// can ask for it any more.
//
// Threading: thread-safe but for what is said otherwise.
// Ownership: shared by its table, by who waits for it and by the engine's run;
//   shares its session.
class ExecutionRecord {
 public:
  struct Description {
    std::string id;
    std::string graph_id;
    std::string request_id;   // may be empty
    std::string fingerprint;  // of the request, with a request_id
    std::string trace_id;     // of the call that began it
    Priority priority = Priority::kNormal;
    absl::Time create_time;
    absl::Duration keep_result;
  };

  ExecutionRecord(Description description, std::shared_ptr<Session> session)
      : description_(std::move(description)), session_(std::move(session)) {}

  const std::string& id() const { return description_.id; }
  const Description& description() const { return description_; }
  const std::shared_ptr<Session>& session() const { return session_; }

  // For the engine: filled by the thread that starts it, then the engine's
  // until it is done.
  Execution execution;
  // The engine has it: until then cancelling is execution.is_cancelled alone.
  std::atomic<bool> is_started{false};
  // The rest is for the thread that starts it, then for the one that ends it.
  std::vector<OutputWish> wishes;  // none: all outputs, by value
  // Tensors that it reads; the donated ones, by their inputs, were consumed for
  // it.
  std::vector<TensorTable::Pointer> tensors;
  std::vector<std::pair<size_t, TensorTable::Pointer>> donated;
  // Itself, while the engine has it, and what is done when the engine is done.
  std::shared_ptr<ExecutionRecord> self;
  std::function<void(const std::shared_ptr<ExecutionRecord>&)> finish;

  struct View {
    ExecutionState state = ExecutionState::kQueued;
    absl::Status status;  // why it has not succeeded, in a final state
    std::optional<DeviceId> device;
    // Absent: not yet, or never.
    std::optional<absl::Time> compile_end, start, end, result_expire;
    PhaseTimes phase_ns{};  // in a final state
  };
  View Look() const ABSL_LOCKS_EXCLUDED(mu_);
  bool has_ended() const ABSL_LOCKS_EXCLUDED(mu_);

  // The outputs of one that succeeded. kFailedPrecondition, RESULT_EXPIRED,
  // when they are gone; the run's own status when it has not succeeded.
  absl::StatusOr<std::shared_ptr<const std::vector<KeptOutput>>> Outputs() const
      ABSL_LOCKS_EXCLUDED(mu_);

  // Its launches, if it was asked for them; null before its end, and once the
  // result is no longer kept.
  std::shared_ptr<const op_profile::TraceBuffer> Trace() const
      ABSL_LOCKS_EXCLUDED(mu_);

  // --- Waiting for the end.

  using Waiter = uint64_t;
  static constexpr Waiter kNone = 0;
  // Calls `done` once it has ended: inside the call, or on the thread that ends
  // it. It must not block.
  Waiter WhenEnded(absl::AnyInvocable<void()> done) ABSL_LOCKS_EXCLUDED(mu_);
  // False when `done` was called already, or is being called.
  bool Forget(Waiter waiter) ABSL_LOCKS_EXCLUDED(mu_);

  // --- The end, for ExecutionTable.

  // Once. The bytes that its result takes until DropResult(): those of outputs
  // by value, and of the trace. The waiters are called by Announce().
  uint64_t SetEnd(absl::Status status, std::vector<KeptOutput> outputs,
                  absl::Time now, absl::Time result_expire)
      ABSL_LOCKS_EXCLUDED(mu_);
  void Announce() ABSL_LOCKS_EXCLUDED(mu_);
  // Lets go of the outputs and the trace; the bytes that this gives back.
  uint64_t DropResult(absl::Time now) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  const Description description_;
  const std::shared_ptr<Session> session_;

  mutable absl::Mutex mu_;
  bool has_ended_ ABSL_GUARDED_BY(mu_) = false;
  bool is_announced_ ABSL_GUARDED_BY(mu_) = false;
  View end_ ABSL_GUARDED_BY(mu_);  // once it has ended
  std::shared_ptr<const std::vector<KeptOutput>> outputs_ ABSL_GUARDED_BY(mu_);
  std::shared_ptr<const op_profile::TraceBuffer> trace_ ABSL_GUARDED_BY(mu_);
  uint64_t result_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  Waiter next_waiter_ ABSL_GUARDED_BY(mu_) = 1;
  std::vector<std::pair<Waiter, absl::AnyInvocable<void()>>> waiters_
      ABSL_GUARDED_BY(mu_);
};

}  // namespace tensord

#endif  // TENSORD_SERVER_EXECUTIONS_EXECUTION_RECORD_H_
