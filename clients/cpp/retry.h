#ifndef TENSORD_CLIENTS_CPP_RETRY_H_
#define TENSORD_CLIENTS_CPP_RETRY_H_

#include <utility>

#include "absl/random/random.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"

namespace tensord {

// How often, and after which pauses, a call that failed is made again. The
// pauses double from the first to the longest, and each is shortened by up to
// half at random, so that clients which failed together do not return together.
struct RetryOptions {
  int max_attempts = 4;  // calls in all; 1: none is made again
  absl::Duration first_pause = absl::Milliseconds(100);
  absl::Duration longest_pause = absl::Seconds(5);
};

// Which failures of a call may be answered by making it again.
enum class Repeat {
  // Those that say that nothing was begun: a full queue, a draining daemon.
  kIfRefused,
  // And those that leave that open, such as a connection that broke: doing it
  // twice is as good as once.
  kAlways,
};

// Whether the same call may do better, and may be made again.
bool MayBeRepeated(const absl::Status& status, Repeat repeat);

// The failures of one call, and what to do about them.
//
// Threading: confined to one thread.
class RetrySchedule {
 public:
  RetrySchedule(const RetryOptions& options, absl::Time deadline)
      : options_(options), deadline_(deadline), pause_(options.first_pause) {}

  // How long to wait before the next attempt. Absent when `status` is final:
  // another error than kUnavailable or a kResourceExhausted that names a time
  // (RetryDelay()), one that `repeat` excludes, the last attempt, or a pause
  // that would end after the deadline. Never shorter than what the daemon asks
  // for.
  absl::optional<absl::Duration> PauseAfter(const absl::Status& status,
                                            Repeat repeat);

  // What came so far counts as success: attempts and pauses begin anew.
  void Reset();

 private:
  const RetryOptions options_;
  const absl::Time deadline_;
  int attempt_count_ = 0;
  absl::Duration pause_;
  absl::BitGen random_;
};

inline const absl::Status& StatusOf(const absl::Status& status) {
  return status;
}
template <typename T>
const absl::Status& StatusOf(const absl::StatusOr<T>& result) {
  return result.status();
}

// Calls `attempt`, which returns a Status or StatusOr, until it succeeds or
// fails for good.
template <typename Attempt>
auto WithRetries(const RetryOptions& options, Repeat repeat,
                 absl::Time deadline, Attempt attempt) {
  RetrySchedule schedule(options, deadline);
  while (true) {
    auto result = attempt();
    if (result.ok()) return result;
    const auto pause = schedule.PauseAfter(StatusOf(result), repeat);
    if (!pause) return result;
    absl::SleepFor(*pause);
  }
}

}  // namespace tensord

#endif  // TENSORD_CLIENTS_CPP_RETRY_H_
