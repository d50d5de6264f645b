#include "engine/pool/waiting.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace tensord {

void BeginWaiting(Execution& execution, absl::Duration max_queue_time) {
  execution.enqueued_ns =
      std::chrono::steady_clock::now().time_since_epoch().count();
  if (execution.queue_deadline != absl::InfiniteFuture()) return;
  execution.queue_deadline =
      absl::Now() + std::min(execution.queue_timeout, max_queue_time);
}

absl::Status CheckStillWanted(const Execution& execution, absl::Time now,
                              absl::string_view what,
                              absl::Duration max_queue_time) {
  if (execution.is_cancelled.load()) {
    return absl::CancelledError(
        absl::StrCat("cancelled while it waited for ", what));
  }
  if (execution.deadline <= now) {
    return absl::DeadlineExceededError(
        absl::StrCat("the deadline passed while it waited for ", what));
  }
  if (execution.queue_deadline > now) return absl::OkStatus();
  const bool is_own = execution.queue_timeout <= max_queue_time;
  return absl::DeadlineExceededError(absl::StrCat(
      "it waited for ", what, " for ",
      absl::FormatDuration(std::min(execution.queue_timeout, max_queue_time)),
      is_own ? ", the limit queue_timeout of its request"
             : ", the limit max_queue_time (--max-queue-time)"));
}

}  // namespace tensord
