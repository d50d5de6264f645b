#include "engine/pool/compile_waiters.h"

#include <chrono>
#include <vector>

namespace tensord {
namespace {

int64_t NowNs() {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

}  // namespace

CompileWaiters::CompileWaiters(int64_t max_length, uint64_t max_bytes,
                               OpenExecutions& open, DeadlineWatch& watch)
    : open_(open),
      watch_(watch),
      queue_(*this, "the compiler", max_length, max_bytes) {
  watch_.Add(this);
}

absl::StatusOr<uint64_t> CompileWaiters::Add(Execution& execution,
                                             std::atomic<int64_t>& expected) {
  const absl::Time deadline = execution.deadline;
  execution.enqueued_ns = NowNs();
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
  watch_.Tell(deadline);
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
      if (expired == nullptr) return queue_.NextDeadline();
      Leave(*expired);
    }
    open_.Answer(*expired, absl::DeadlineExceededError(
                               "the deadline passed while the graph was being "
                               "compiled"));
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
