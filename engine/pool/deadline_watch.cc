#include "engine/pool/deadline_watch.h"

#include <pthread.h>

#include <algorithm>

namespace tensord {

DeadlineWatch::DeadlineWatch() : thread_([this] { Run(); }) {}

void DeadlineWatch::Stop() {
  {
    absl::MutexLock lock(&mu_);
    is_closing_ = true;
  }
  changed_.Signal();
  if (thread_.joinable()) thread_.join();
}

void DeadlineWatch::Add(WaitingRoom* room) {
  absl::MutexLock lock(&mu_);
  rooms_.push_back(room);
}

void DeadlineWatch::WakeFor(absl::Time deadline) {
  {
    absl::MutexLock lock(&mu_);
    if (deadline >= told_) return;
    told_ = deadline;
    next_ns_.store(std::min(next_ns_.load(), absl::ToUnixNanos(deadline)));
  }
  changed_.Signal();
}

// What was queued before the sweep looked at its room is in the sweep's result.
// What came later found next_ns_ at kNever, and told its deadline.
void DeadlineWatch::Run() {
  pthread_setname_np(pthread_self(), "deadlines");
  absl::Time wake = absl::InfiniteFuture();
  for (;;) {
    {
      absl::MutexLock lock(&mu_);
      wake = std::min(wake, told_);
      next_ns_.store(absl::ToUnixNanos(wake));
      while (!is_closing_ && absl::Now() < wake) {
        changed_.WaitWithDeadline(&mu_, wake);
        wake = std::min(wake, told_);
      }
      if (is_closing_) return;
      told_ = absl::InfiniteFuture();
      next_ns_.store(kNever);
    }
    wake = Sweep(absl::Now());
  }
}

absl::Time DeadlineWatch::Sweep(absl::Time now) {
  std::vector<WaitingRoom*> rooms;
  {
    absl::MutexLock lock(&mu_);
    rooms = rooms_;
  }
  absl::Time next = absl::InfiniteFuture();
  for (WaitingRoom* room : rooms) {
    next = std::min(next, room->AnswerExpired(now));
  }
  return next;
}

}  // namespace tensord
