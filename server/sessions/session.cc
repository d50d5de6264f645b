#include "server/sessions/session.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/limit_exceeded.h"
#include "server/sessions/resource_error.h"

namespace tensord {
namespace {

absl::Status OverLimit(absl::string_view limit, uint64_t maximum,
                       uint64_t requested, absl::string_view unit,
                       absl::string_view scope, absl::string_view text) {
  LimitDetails details;
  details.limit = std::string(limit);
  details.maximum = static_cast<int64_t>(maximum);
  details.requested = static_cast<int64_t>(requested);
  details.unit = std::string(unit);
  details.scope = std::string(scope);
  details.may_retry = true;
  return details.ToStatus(text);
}

}  // namespace

bool ResidentBytes::TryAdd(uint64_t bytes, uint64_t max) {
  uint64_t before = bytes_.load();
  do {
    if (bytes > max || before > max - bytes) return false;
  } while (!bytes_.compare_exchange_weak(before, before + bytes));
  return true;
}

void Session::Touch(absl::Time now) {
  last_use_ns_.store(absl::ToUnixNanos(now), std::memory_order_relaxed);
}

absl::Time Session::expire_time() const {
  if (open_execution_count() > 0) return absl::InfiniteFuture();
  return absl::FromUnixNanos(last_use_ns_.load(std::memory_order_relaxed)) +
         description_.time_to_live;
}

absl::Status Session::BeginExecution() {
  absl::MutexLock lock(&mu_);
  if (is_closed_) return SessionIsClosed(id());
  if (open_executions_ >= limits_.max_executions) {
    return OverLimit(
        "max_session_executions", static_cast<uint64_t>(limits_.max_executions),
        static_cast<uint64_t>(open_executions_) + 1, "runs", "session",
        absl::StrCat(open_executions_, " runs of the session have not ended"));
  }
  ++open_executions_;
  return absl::OkStatus();
}

void Session::EndExecution(absl::Time now) {
  Touch(now);
  std::vector<absl::AnyInvocable<void()>> waiters;
  {
    absl::MutexLock lock(&mu_);
    if (--open_executions_ == 0) waiters.swap(idle_waiters_);
  }
  for (auto& waiter : waiters) std::move(waiter)();
}

int64_t Session::open_execution_count() const {
  absl::MutexLock lock(&mu_);
  return open_executions_;
}

Session::Lease& Session::Lease::operator=(Lease&& other) noexcept {
  std::swap(session_, other.session_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Session::Lease::~Lease() {
  if (session_ == nullptr) return;
  {
    absl::MutexLock lock(&session_->mu_);
    session_->bytes_ -= bytes_;
  }
  session_->all_.Subtract(bytes_);
}

absl::StatusOr<Session::Lease> Session::Take(std::shared_ptr<Session> session,
                                             uint64_t bytes) {
  const SessionLimits& limits = session->limits_;
  absl::MutexLock lock(&session->mu_);
  if (session->is_closed_) return SessionIsClosed(session->id());
  const uint64_t used = session->bytes_;
  if (bytes > limits.max_bytes || used > limits.max_bytes - bytes) {
    return OverLimit("max_session_bytes", limits.max_bytes, used + bytes,
                     "bytes", "session",
                     absl::StrCat("a tensor of ", bytes,
                                  " bytes for a session that has ", used));
  }
  if (!session->all_.TryAdd(bytes, limits.max_all_bytes)) {
    const uint64_t all = session->all_.count();
    return OverLimit("max_resident_bytes", limits.max_all_bytes, all + bytes,
                     "bytes", "daemon",
                     absl::StrCat("a tensor of ", bytes, " bytes beside ", all,
                                  " of all sessions"));
  }
  session->bytes_ += bytes;
  Lease lease;
  lease.bytes_ = bytes;
  lease.session_ = session;
  return lease;
}

uint64_t Session::resident_bytes() const {
  absl::MutexLock lock(&mu_);
  return bytes_;
}

bool Session::Close() {
  absl::MutexLock lock(&mu_);
  return !std::exchange(is_closed_, true);
}

bool Session::is_closed() const {
  absl::MutexLock lock(&mu_);
  return is_closed_;
}

void Session::WhenIdle(absl::AnyInvocable<void()> done) {
  {
    absl::MutexLock lock(&mu_);
    if (open_executions_ > 0) {
      idle_waiters_.push_back(std::move(done));
      return;
    }
  }
  std::move(done)();
}

}  // namespace tensord
