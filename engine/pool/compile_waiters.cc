#include "engine/pool/compile_waiters.h"

#include <chrono>
#include <vector>

#include "engine/pool/waiting.h"

namespace tensord {
namespace {

int64_t NowNs() {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

}  // namespace

CompileWaiters::CompileWaiters(const PoolOptions& options, OpenExecutions& open,
                               DeadlineWatch& watch)
    : max_queue_time_(options.max_queue_time),
      open_(open),
      watch_(watch),
      queue_(*this, {.scope = "the compiler",
                     .max_length = options.max_queue_length,
                     .max_bytes = options.max_queued_bytes}) {
  watch_.Add(this);
}

absl::StatusOr<uint64_t> CompileWaiters::Add(Execution& execution,
                                             std::atomic<int64_t>& expected) {
  BeginWaiting(execution, max_queue_time_);
  const absl::Time due = DeadlineHeap::DueTime(execution);
  uint64_t ticket = 0;
  {
    absl::MutexLock lock(&mu_);
    if (is_closing_) {
      return absl::UnavailableError("the daemon is shutting down");
    }
    absl::Status status = queue_.Push(execution);
    if (!status.ok()) return status;
    ticket = ++last_ticket_;
    execution.links.ticket = ticket;
    by_ticket_[ticket] = {&execution, &expected};
    expected.fetch_add(1, std::memory_order_relaxed);
  }
  watch_.Tell(due);
  return ticket;
}

Execution* CompileWaiters::Take(uint64_t ticket) {
  absl::MutexLock lock(&mu_);
  const auto found = by_ticket_.find(ticket);
  if (found == by_ticket_.end()) return nullptr;
  Execution* execution = found->second.execution;
  queue_.Remove(*execution);
  Leave(*execution);
  return execution;
}

bool CompileWaiters::Withdraw(Execution& execution) {
  absl::MutexLock lock(&mu_);
  if (!queue_.Remove(execution)) return false;
  Leave(execution);
  return true;
}

absl::Time CompileWaiters::AnswerExpired(absl::Time now) {
  for (;;) {
    Execution* expired = nullptr;
    {
      absl::MutexLock lock(&mu_);
      expired = queue_.PopExpired(now);
      if (expired == nullptr) return queue_.NextDueTime();
      Leave(*expired);
    }
    open_.Answer(*expired, CheckStillWanted(*expired, now, "its compilation",
                                            max_queue_time_));
  }
}

int64_t CompileWaiters::count() const {
  absl::MutexLock lock(&mu_);
  return queue_.length();
}

void CompileWaiters::Close() {
  std::vector<Execution*> refused;
  {
    absl::MutexLock lock(&mu_);
    is_closing_ = true;
    while (Execution* execution = queue_.Pop()) {
      Leave(*execution);
      refused.push_back(execution);
    }
  }
  for (Execution* execution : refused) {
    open_.Answer(*execution,
                 absl::UnavailableError("the daemon is shutting down"));
  }
}

void CompileWaiters::Leave(Execution& execution) {
  const auto found = by_ticket_.find(execution.links.ticket);
  found->second.expected->fetch_sub(1, std::memory_order_relaxed);
  by_ticket_.erase(found);
  execution.phase_ns[static_cast<int>(Phase::kCompile)] +=
      NowNs() - execution.enqueued_ns;
}

}  // namespace tensord
