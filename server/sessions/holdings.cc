#include "server/sessions/holdings.h"

#include <pthread.h>

#include "absl/time/clock.h"
#include "server/sessions/resource_error.h"

namespace tensord {

Holdings::Holdings(const Options& options, Runs runs)
    : sessions(options.sessions),
      uploads(options.upload_keep_time),
      executions(options.executions),
      sweep_interval_(options.sweep_interval),
      runs_(std::move(runs)),
      sweeper_([this] { SweepUntilStopped(); }) {}

Holdings::~Holdings() {
  {
    absl::MutexLock lock(&mu_);
    is_stopping_ = true;
  }
  sweeper_.join();
  EndAll();
}

absl::Status Holdings::CheckAdmitting() const {
  if (is_admitting_.load()) return absl::OkStatus();
  ResourceError error;
  error.reason = "DRAINING";
  return error.ToStatus(absl::StatusCode::kUnavailable,
                        "the daemon is draining");
}

void Holdings::EndAll() {
  for (const auto& session : sessions.TakeExpired(absl::InfiniteFuture())) {
    End(*session);
  }
  runs_.await_all();
}

Holdings::Ended Holdings::End(Session& session) {
  // First, so that nothing is added behind what is freed below.
  session.Close();
  Ended ended;
  for (const auto& record : executions.TakeOpenOf(session)) {
    runs_.cancel(*record);
    ++ended.cancelled_executions;
  }
  ended.tensors = tensors.RemoveOwnedBy(session);
  uploads.RemoveOwnedBy(session);
  return ended;
}

void Holdings::Sweep(absl::Time now) {
  for (const auto& session : sessions.TakeExpired(now)) End(*session);
  tensors.RemoveExpired(now);
  uploads.RemoveExpired(now);
  executions.RemoveExpired(now);
}

void Holdings::SweepUntilStopped() {
  pthread_setname_np(pthread_self(), "expiry");
  absl::MutexLock lock(&mu_);
  while (
      !mu_.AwaitWithTimeout(absl::Condition(&is_stopping_), sweep_interval_)) {
    mu_.Unlock();
    Sweep(absl::Now());
    mu_.Lock();
  }
}

}  // namespace tensord
