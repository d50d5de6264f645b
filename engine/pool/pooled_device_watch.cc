// What the deadline watch has a device do: answer what waits too long, stop
// what runs too long, and find out whether a device that is idle still answers.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/types/span.h"
#include "engine/exec/compiled_run.h"
#include "engine/pool/pooled_device.h"

namespace tensord {

absl::Time PooledDevice::AnswerExpired(absl::Time now) {
  for (;;) {
    Execution* expired = nullptr;
    bool is_hung = false;
    absl::Time next;
    {
      absl::MutexLock lock(&mu_);
      expired = queue_.PopExpired(now);
      if (expired == nullptr) {
        next = std::min({queue_.NextDueTime(), StopOverdue(now, &is_hung),
                         AskForProbe(now)});
      } else {
        CountClosed(*expired);
      }
    }
    if (expired != nullptr) {
      AnswerWaiting(*expired, CheckStillWanted(*expired, now));
      continue;
    }
    if (is_hung) LoseHung("has a run that does not end");
    return next;
  }
}

absl::Time PooledDevice::StopOverdue(absl::Time now, bool* is_hung) {
  absl::Time next = absl::InfiniteFuture();
  for (const Lease& lease : leases_) {
    // A client's own deadline may be much shorter than what it asks for takes
    // to notice, and is no reason to give up a device.
    const absl::Time hung =
        lease.start + options_.max_execution_time + options_.hang_timeout;
    if (lease.end <= now) lease.execution->is_stopped.store(true);
    if (hung <= now) {
      *is_hung = fault_.ok();
    } else {
      next = std::min(next, lease.end <= now ? hung : lease.end);
    }
  }
  return next;
}

absl::Time PooledDevice::AskForProbe(absl::Time now) {
  const absl::Duration interval = options_.probe_interval;
  if (interval <= absl::ZeroDuration() || is_closing_ || !fault_.ok()) {
    return absl::InfiniteFuture();
  }
  // What runs tells enough.
  if (!leases_.empty() || !queue_.empty() || free_lanes_.empty()) {
    return now + interval;
  }
  const absl::Time due = std::max(last_answer_, last_probe_) + interval;
  if (now < due) return due;
  last_probe_ = now;
  is_probe_wanted_ = true;
  WakeOne();
  return now + interval;
}

bool PooledDevice::IsStalled(absl::Time now) const {
  return !queue_.empty() && now - std::max(last_answer_, waiting_since_) >=
                                options_.max_stall_time;
}

void PooledDevice::Probe(LaneSlot& lane) {
  const absl::Status status = AskDevice(lane.lane());
  if (status.ok()) {
    absl::MutexLock lock(&mu_);
    last_answer_ = absl::Now();
  } else if (MayBeFault(status)) {
    CheckHealth();
  }
  if (GiveBack(lane)) SweepFreeLanes();
}

// A few bytes there and back.
absl::Status PooledDevice::AskDevice(Lane& lane) {
  uint64_t sent = 0x74656e736f7264;
  uint64_t received = 0;
  const absl::Time deadline = absl::Now() + options_.hang_timeout;
  // Without room for them, the lane alone is asked.
  const absl::StatusOr<std::unique_ptr<Storage>> storage =
      device_->Allocate(sizeof(sent));
  absl::Status status;
  if (storage.ok()) {
    status.Update(lane.CopyToDevice(
        absl::MakeConstSpan(reinterpret_cast<const std::byte*>(&sent),
                            sizeof(sent)),
        WholeOf(**storage)));
    status.Update(
        lane.CopyToHost(WholeOf(**storage),
                        absl::MakeSpan(reinterpret_cast<std::byte*>(&received),
                                       sizeof(received))));
  }
  status.Update(lane.RecordCompletion().status());
  absl::Status drained = lane.Drain(deadline);
  if (absl::IsDeadlineExceeded(drained)) {
    LoseHung("does not answer, and nothing runs there");
    // The copies are on this thread's stack.
    drained = lane.Drain(absl::InfiniteFuture());
  }
  status.Update(drained);
  if (status.ok() && storage.ok() && received != sent) {
    return absl::InternalError(
        absl::StrCat("device ", info().id.ToString(),
                     " gave back other bytes than it was given"));
  }
  return status;
}

void PooledDevice::LoseHung(absl::string_view what) {
  Lose(absl::UnavailableError(absl::StrCat(
      "device ", info().id.ToString(), " hangs: it ", what, " within ",
      absl::FormatDuration(options_.hang_timeout), " (--hang-timeout)")));
}

}  // namespace tensord
