#include "clients/cpp/retry.h"

#include <algorithm>

#include "clients/cpp/error_details.h"

namespace tensord {

bool MayBeRepeated(const absl::Status& status, Repeat repeat) {
  switch (status.code()) {
    case absl::StatusCode::kResourceExhausted:
      // Without a time it is a limit that stays: a message too large, say.
      return RetryDelay(status).has_value();
    case absl::StatusCode::kUnavailable:
      // A run may have been on the device that was lost, and a request on the
      // connection that broke.
      return repeat == Repeat::kAlways || ReasonOf(status) == v1::DRAINING;
    default:
      return false;
  }
}

absl::optional<absl::Duration> RetrySchedule::PauseAfter(
    const absl::Status& status, Repeat repeat) {
  ++attempt_count_;
  if (attempt_count_ >= options_.max_attempts ||
      !MayBeRepeated(status, repeat)) {
    return absl::nullopt;
  }
  const double share = absl::Uniform(random_, 0.5, 1.0);
  // On top of what the daemon asks for, which is the same for all that it
  // refused together.
  const absl::Duration pause =
      RetryDelay(status).value_or(absl::ZeroDuration()) + pause_ * share;
  pause_ = std::min(pause_ * 2, options_.longest_pause);
  if (absl::Now() + pause >= deadline_) return absl::nullopt;
  return pause;
}

void RetrySchedule::Reset() {
  attempt_count_ = 0;
  pause_ = options_.first_pause;
}

}  // namespace tensord
