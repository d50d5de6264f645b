#include "server/executions/execution_record.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/sessions/resource_error.h"

namespace tensord {
namespace {

uint64_t BytesOf(const std::vector<KeptOutput>& outputs) {
  uint64_t bytes = 0;
  for (const KeptOutput& output : outputs) {
    // A tensor that stays counts for its session.
    if (output.bytes != nullptr) bytes += output.bytes->size();
  }
  return bytes;
}

}  // namespace

ExecutionState FinalState(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return ExecutionState::kSucceeded;
    case absl::StatusCode::kCancelled:
      return ExecutionState::kCancelled;
    case absl::StatusCode::kDeadlineExceeded:
      return ExecutionState::kExpired;
    default:
      return ExecutionState::kFailed;
  }
}

ExecutionRecord::View ExecutionRecord::Look() const {
  absl::MutexLock lock(&mu_);
  if (has_ended_) return end_;
  View view;
  const int64_t started = execution.started_ns.load(std::memory_order_acquire);
  const int64_t compiled =
      execution.compiled_ns.load(std::memory_order_relaxed);
  if (compiled != 0) view.compile_end = absl::FromUnixNanos(compiled);
  if (started != 0) {
    view.state = ExecutionState::kRunning;
    view.start = absl::FromUnixNanos(started);
    view.device = execution.ran_on;
    // What was compiled before needed no time for it.
    if (compiled == 0) view.compile_end = description_.create_time;
  }
  return view;
}

bool ExecutionRecord::has_ended() const {
  absl::MutexLock lock(&mu_);
  return has_ended_;
}

absl::StatusOr<std::shared_ptr<const std::vector<KeptOutput>>>
ExecutionRecord::Outputs() const {
  absl::MutexLock lock(&mu_);
  if (!end_.status.ok()) return end_.status;
  if (outputs_ != nullptr) return outputs_;
  ResourceError error;
  error.reason = "RESULT_EXPIRED";
  error.metadata = {{"execution_id", id()}};
  return error.ToStatus(
      absl::StatusCode::kFailedPrecondition,
      absl::StrCat("run ", id(), " succeeded; its result is no longer kept"));
}

ExecutionRecord::Waiter ExecutionRecord::WhenEnded(
    absl::AnyInvocable<void()> done) {
  {
    absl::MutexLock lock(&mu_);
    if (!is_announced_) {
      waiters_.emplace_back(next_waiter_, std::move(done));
      return next_waiter_++;
    }
  }
  std::move(done)();
  return kNone;
}

bool ExecutionRecord::Forget(Waiter waiter) {
  // Its destructor may take other locks.
  absl::AnyInvocable<void()> forgotten;
  absl::MutexLock lock(&mu_);
  const auto found =
      std::find_if(waiters_.begin(), waiters_.end(),
                   [&](const auto& entry) { return entry.first == waiter; });
  if (found == waiters_.end()) return false;
  forgotten = std::move(found->second);
  waiters_.erase(found);
  return true;
}

std::shared_ptr<const op_profile::TraceBuffer> ExecutionRecord::Trace() const {
  absl::MutexLock lock(&mu_);
  return trace_;
}

uint64_t ExecutionRecord::SetEnd(absl::Status status,
                                 std::vector<KeptOutput> outputs,
                                 absl::Time now, absl::Time result_expire) {
  View end = Look();
  end.state = FinalState(status);
  end.end = now;
  end.phase_ns = execution.phase_ns;
  const bool has_succeeded = status.ok();
  if (has_succeeded) end.result_expire = result_expire;
  end.status = std::move(status);
  uint64_t bytes = has_succeeded ? BytesOf(outputs) : 0;
  if (execution.trace != nullptr) {
    execution.trace->Shrink();
    bytes += execution.trace->size_bytes();
  }
  absl::MutexLock lock(&mu_);
  end_ = std::move(end);
  if (has_succeeded) {
    outputs_ =
        std::make_shared<const std::vector<KeptOutput>>(std::move(outputs));
  }
  trace_ = std::move(execution.trace);
  result_bytes_ = bytes;
  has_ended_ = true;
  return bytes;
}

void ExecutionRecord::Announce() {
  std::vector<std::pair<Waiter, absl::AnyInvocable<void()>>> waiters;
  {
    absl::MutexLock lock(&mu_);
    is_announced_ = true;
    waiters.swap(waiters_);
  }
  for (auto& [id, waiter] : waiters) std::move(waiter)();
}

uint64_t ExecutionRecord::DropResult(absl::Time now) {
  std::shared_ptr<const std::vector<KeptOutput>> outputs;
  std::shared_ptr<const op_profile::TraceBuffer> trace;
  absl::MutexLock lock(&mu_);
  outputs = std::move(outputs_);
  trace = std::move(trace_);
  if (outputs != nullptr && end_.result_expire.has_value()) {
    end_.result_expire = std::min(*end_.result_expire, now);
  }
  return std::exchange(result_bytes_, 0);
}

}  // namespace tensord
