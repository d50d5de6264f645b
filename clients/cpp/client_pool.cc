#include "clients/cpp/client_pool.h"

#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/time/clock.h"
#include "clients/cpp/retry.h"

namespace tensord {
namespace {

// How long one that failed is left out: a daemon that restarts needs about so
// long, and a call to one that does not costs one refused connection.
constexpr absl::Duration kLeftOut = absl::Seconds(1);

}  // namespace

absl::StatusOr<std::unique_ptr<ClientPool>> ClientPool::Connect(
    absl::Span<const std::string> addresses, ClientOptions options) {
  if (addresses.empty()) {
    return absl::InvalidArgumentError("there is no address in the list");
  }
  auto pool = absl::WrapUnique(new ClientPool(options));
  for (const std::string& address : addresses) {
    auto client = Client::Connect(address, options);
    if (!client.ok()) return client.status();
    pool->members_.push_back(
        std::make_unique<Member>(Member{*std::move(client)}));
  }
  return pool;
}

size_t ClientPool::NextIndex() {
  const absl::Time now = absl::Now();
  absl::MutexLock lock(&mu_);
  size_t chosen = next_;
  for (size_t i = 0; i < size(); ++i) {
    const size_t index = (next_ + i) % size();
    if (members_[index]->out_until > now) continue;
    chosen = index;
    break;
  }
  next_ = (chosen + 1) % size();
  return chosen;
}

void ClientPool::LeaveOut(size_t index) {
  absl::MutexLock lock(&mu_);
  members_[index]->out_until = absl::Now() + kLeftOut;
}

Client& ClientPool::Next() { return members_[NextIndex()]->client; }

absl::StatusOr<v1::ExecuteResponse> ClientPool::Execute(
    const GraphSource& graph, v1::ExecuteRequest request,
    const CallOptions& call) {
  const absl::Duration timeout =
      call.timeout == absl::ZeroDuration() ? options_.timeout : call.timeout;
  const absl::Time deadline = absl::Now() + timeout;
  RetryOptions rounds = options_.retry;
  if (call.max_attempts > 0) rounds.max_attempts = call.max_attempts;
  const Repeat repeat =
      IsSafeToRepeat(request) ? Repeat::kAlways : Repeat::kIfRefused;

  RetrySchedule schedule(rounds, deadline);
  while (true) {
    absl::Status status;
    for (size_t i = 0; i < size(); ++i) {
      const size_t index = NextIndex();
      const absl::Duration rest = deadline - absl::Now();
      auto response = members_[index]->client.Execute(
          graph, request,
          {.timeout = std::max(rest, absl::Nanoseconds(1)), .max_attempts = 1});
      if (response.ok()) return response;
      status = response.status();
      if (!MayBeRepeated(status, repeat)) return status;
      LeaveOut(index);
    }
    const auto pause = schedule.PauseAfter(status, repeat);
    if (!pause) return status;
    absl::SleepFor(*pause);
  }
}

}  // namespace tensord
