#ifndef TENSORD_SERVER_LOG_RATE_LIMIT_H_
#define TENSORD_SERVER_LOG_RATE_LIMIT_H_

#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace tensord {

// So many lines a second, and how many were left out in between.
// Threading: thread-safe.
class LogRateLimit {
 public:
  explicit LogRateLimit(int lines_per_second)
      : lines_per_second_(lines_per_second) {}

  // Whether to write this one. `left_out` gets how many were not written since
  // the last that was.
  bool Admit(int64_t& left_out) { return Admit(absl::Now(), left_out); }
  bool Admit(absl::Time now, int64_t& left_out) ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    if (now - window_start_ >= absl::Seconds(1)) {
      window_start_ = now;
      in_window_ = 0;
    }
    if (in_window_ >= lines_per_second_) {
      ++left_out_;
      return false;
    }
    ++in_window_;
    left_out = left_out_;
    left_out_ = 0;
    return true;
  }

 private:
  const int lines_per_second_;
  absl::Mutex mu_;
  absl::Time window_start_ ABSL_GUARDED_BY(mu_) = absl::InfinitePast();
  int in_window_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t left_out_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace tensord

#endif  // TENSORD_SERVER_LOG_RATE_LIMIT_H_
