#include "engine/compiled/preparation.h"

#include <algorithm>
#include <utility>

namespace tensord {

void PreparationChannel::Publish() {
  absl::MutexLock lock(&mu_);
  mu_.Await(absl::Condition(this, &PreparationChannel::HasPlace));
  ++prepared_;
}

void PreparationChannel::Finish(absl::Status status) {
  absl::MutexLock lock(&mu_);
  is_finished_ = true;
  status_ = std::move(status);
}

absl::Status PreparationChannel::Take(int64_t index, absl::Time deadline) {
  absl::MutexLock lock(&mu_);
  taken_ = std::max(taken_, index);
  const auto is_there = [this, index]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return prepared_ > index || is_finished_;
  };
  if (!mu_.AwaitWithDeadline(absl::Condition(&is_there), deadline)) {
    return absl::DeadlineExceededError("the graph is still being compiled");
  }
  return prepared_ > index ? absl::OkStatus() : status_;
}

void PreparationChannel::Detach() {
  absl::MutexLock lock(&mu_);
  is_detached_ = true;
}

absl::Status PreparationChannel::AwaitFinish() const {
  absl::MutexLock lock(&mu_);
  mu_.Await(absl::Condition(&is_finished_));
  return status_;
}

}  // namespace tensord
