#include "engine/pool/open_executions.h"

#include <memory>
#include <optional>
#include <utility>

#include "engine/compiled/compiled_graph.h"
#include "engine/compiled/preparation.h"

namespace tensord {
namespace {

// Those before and after belong to whoever decodes and encodes.
constexpr int kFirstPhase = static_cast<int>(Phase::kQueue);
constexpr int kLastPhase = static_cast<int>(Phase::kDownload);

}  // namespace

void OpenExecutions::Open(Execution& execution) {
  count_.fetch_add(1, std::memory_order_relaxed);
  for (int i = kFirstPhase; i <= kLastPhase; ++i) execution.phase_ns[i] = 0;
  // A cancellation that came earlier is still seen by its own flag.
  execution.is_stopped.store(false);
  execution.compiled_ns.store(0, std::memory_order_relaxed);
  execution.started_ns.store(0, std::memory_order_relaxed);
  execution.trace.reset();
  if (execution.trace_capacity > 0) {
    execution.trace = std::make_unique<op_profile::TraceBuffer>(
        execution.trace_capacity, execution.trace_device_times);
  }
  execution.queue_deadline = absl::InfiniteFuture();
  execution.admitted_bytes = 0;
  for (const HostValue& input : execution.inputs) {
    execution.admitted_bytes += input.bytes.size();
  }
}

void OpenExecutions::Answer(Execution& execution, absl::Status status) {
  if (phases_ != nullptr) {
    std::optional<BackendId> backend;
    if (execution.compiled != nullptr) backend = execution.ran_on.backend;
    for (int i = kFirstPhase; i <= kLastPhase; ++i) {
      const int64_t ns = execution.phase_ns[i];
      if (ns > 0) phases_->Add(static_cast<Phase>(i), backend, ns);
    }
  }
  if (execution.preparation != nullptr) {
    execution.preparation->Detach();
    execution.preparation.reset();
  }
  execution.compiled.reset();
  execution.status = std::move(status);
  execution.on_done(execution);
  Close();
}

// The last one takes the lock, so that a waiter that then destroys this object
// cannot do so while its count is still being looked at.
void OpenExecutions::Close() {
  int64_t count = count_.load(std::memory_order_relaxed);
  while (count > 1) {
    if (count_.compare_exchange_weak(count, count - 1)) return;
  }
  absl::MutexLock lock(&mu_);
  if (count_.fetch_sub(1) == 1) none_.SignalAll();
}

bool OpenExecutions::AwaitNone(absl::Time deadline) {
  absl::MutexLock lock(&mu_);
  while (count_.load() != 0) {
    if (none_.WaitWithDeadline(&mu_, deadline) && count_.load() != 0 &&
        absl::Now() >= deadline) {
      return false;
    }
  }
  return true;
}

}  // namespace tensord
