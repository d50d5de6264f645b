#include "backends/api/completion.h"

#include <cstdio>
#include <cstdlib>

namespace tensord {
namespace {

// A Submitted handle that is asked for readiness is a wrong wait set: going on
// would read bytes that are not there yet.
void CheckWasRecorded(CompletionHandle::State state) {
  if (state != CompletionHandle::State::kSubmitted) return;
  std::fputs("a Submitted CompletionHandle was asked for readiness\n", stderr);
  std::abort();
}

}  // namespace

bool HostCompletion::IsReady() const {
  absl::MutexLock lock(&mu_);
  return is_ready_;
}

void HostCompletion::OnReady(Callback callback) {
  absl::Status status;
  {
    absl::MutexLock lock(&mu_);
    if (!is_ready_) {
      callbacks_.push_back(std::move(callback));
      return;
    }
    status = status_;
  }
  std::move(callback)(status);
}

absl::Status HostCompletion::WaitUntil(absl::Time deadline) const {
  absl::MutexLock lock(&mu_);
  if (!mu_.AwaitWithDeadline(absl::Condition(&is_ready_), deadline)) {
    return absl::DeadlineExceededError("the work is still running");
  }
  return status_;
}

std::optional<DeviceTimestamps> HostCompletion::device_timestamps() const {
  absl::MutexLock lock(&mu_);
  return timestamps_;
}

void HostCompletion::Finish(absl::Status status,
                            std::optional<DeviceTimestamps> timestamps) {
  std::vector<Callback> callbacks;
  {
    absl::MutexLock lock(&mu_);
    if (is_ready_) return;
    is_ready_ = true;
    status_ = status;
    timestamps_ = timestamps;
    callbacks.swap(callbacks_);
  }
  for (Callback& callback : callbacks) std::move(callback)(status);
}

bool CompletionHandle::IsReady() const {
  CheckWasRecorded(state_);
  return state_ == State::kReady || completion_->IsReady();
}

absl::Status CompletionHandle::WaitUntil(absl::Time deadline) const {
  CheckWasRecorded(state_);
  if (state_ == State::kReady) return absl::OkStatus();
  return completion_->WaitUntil(deadline);
}

void CompletionHandle::OnReady(Completion::Callback callback) const {
  CheckWasRecorded(state_);
  if (state_ == State::kReady) {
    std::move(callback)(absl::OkStatus());
  } else {
    completion_->OnReady(std::move(callback));
  }
}

}  // namespace tensord
