#include "server/rpc/idle_watch.h"

#include <grpcpp/alarm.h>

#include <atomic>
#include <cstdint>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"

namespace tensord {

class IdleWatch::State : public std::enable_shared_from_this<State> {
 public:
  explicit State(absl::AnyInvocable<void()> on_idle)
      : on_idle_(std::move(on_idle)) {}

  void NoteProgress(int64_t now_ns) {
    last_progress_ns_.store(now_ns, std::memory_order_relaxed);
  }

  void Start(absl::Duration timeout) ABSL_LOCKS_EXCLUDED(mu_) {
    timeout_ = timeout;
    NoteProgress(absl::GetCurrentTimeNanos());
    {
      absl::MutexLock lock(&mu_);
      is_set_ = true;
    }
    SetAlarm();
  }

  void Stop(absl::AnyInvocable<void()> stopped) ABSL_LOCKS_EXCLUDED(mu_) {
    bool is_set;
    {
      absl::MutexLock lock(&mu_);
      is_stopped_ = true;
      is_set = is_set_;
      if (is_set) stopped_ = std::move(stopped);
    }
    if (is_set) {
      // The stream may be gone when this returns, and the watch with it.
      const auto self = shared_from_this();
      alarm_.Cancel();
    } else {
      std::move(stopped)();
    }
  }

 private:
  void SetAlarm() {
    alarm_.Set(absl::ToChronoTime(absl::Now() + timeout_),
               [weak = weak_from_this()](bool) {
                 if (const auto self = weak.lock()) self->OnAlarm();
               });
  }

  void OnAlarm() ABSL_LOCKS_EXCLUDED(mu_) {
    const absl::Duration idle =
        absl::Now() -
        absl::FromUnixNanos(last_progress_ns_.load(std::memory_order_relaxed));
    const bool is_idle = idle >= timeout_;
    if (is_idle) on_idle_();
    bool is_stopped;
    {
      absl::MutexLock lock(&mu_);
      is_stopped = is_stopped_;
      is_set_ = !is_stopped && !is_idle;
    }
    if (is_stopped) {
      std::move(stopped_)();
    } else if (!is_idle) {
      SetAlarm();
      // The stop may have come between, and found no alarm to wake.
      if (IsStopped()) alarm_.Cancel();
    }
  }

  bool IsStopped() ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    return is_stopped_;
  }

  absl::AnyInvocable<void()> on_idle_;
  absl::Duration timeout_;
  std::atomic<int64_t> last_progress_ns_{0};
  grpc::Alarm alarm_;

  absl::Mutex mu_;
  bool is_set_ ABSL_GUARDED_BY(mu_) = false;
  bool is_stopped_ ABSL_GUARDED_BY(mu_) = false;
  // Set once, with the alarm set, for OnAlarm().
  absl::AnyInvocable<void()> stopped_;
};

IdleWatch::IdleWatch(absl::AnyInvocable<void()> on_idle)
    : state_(std::make_shared<State>(std::move(on_idle))) {}

IdleWatch::~IdleWatch() = default;

void IdleWatch::Start(absl::Duration timeout) { state_->Start(timeout); }

void IdleWatch::NoteProgress() {
  state_->NoteProgress(absl::GetCurrentTimeNanos());
}

void IdleWatch::Suspend() { state_->NoteProgress(INT64_MAX); }

void IdleWatch::Stop(absl::AnyInvocable<void()> stopped) {
  // What `stopped` ends may own this object.
  const std::shared_ptr<State> state = state_;
  state->Stop(std::move(stopped));
}

}  // namespace tensord
