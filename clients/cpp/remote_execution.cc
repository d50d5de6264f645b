#include "clients/cpp/remote_execution.h"

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "clients/cpp/error_details.h"

namespace tensord {
namespace {

// One call of WaitExecution. Proxies between here and the daemon end calls that
// are silent for minutes.
constexpr absl::Duration kOneWait = absl::Seconds(30);

// The run's own end, once it has one.
absl::StatusOr<v1::WaitExecutionResponse> EndOf(
    v1::WaitExecutionResponse response) {
  const v1::Execution& execution = response.execution();
  if (execution.state() == v1::EXECUTION_STATE_SUCCEEDED) return response;
  absl::Status status = StatusFromProto(execution.error());
  if (!status.ok()) return status;
  return absl::InternalError(
      absl::StrCat("execution ", execution.execution_id(), " ended as ",
                   v1::ExecutionState_Name(execution.state()),
                   ", and the daemon did not say why"));
}

// No answer yet: the run goes on, as far as this call could tell.
bool GoesOn(const absl::StatusOr<v1::WaitExecutionResponse>& response) {
  return response.ok() ? !IsFinal(response->execution().state())
                       : absl::IsDeadlineExceeded(response.status());
}

v1::WaitExecutionRequest WaitFor(const std::string& id) {
  v1::WaitExecutionRequest request;
  request.set_execution_id(id);
  return request;
}

// Waits again until the end. Owns its state through the callback it is in.
void WaitOn(Client& client, std::string id, Client::WaitCallback done) {
  const v1::WaitExecutionRequest request = WaitFor(id);
  client.WaitExecutionAsync(
      request,
      [&client, id = std::move(id), done = std::move(done)](
          absl::StatusOr<v1::WaitExecutionResponse> response) mutable {
        if (GoesOn(response)) {
          return WaitOn(client, std::move(id), std::move(done));
        }
        if (!response.ok()) return std::move(done)(std::move(response));
        std::move(done)(EndOf(*std::move(response)));
      },
      {.timeout = kOneWait});
}

}  // namespace

bool IsFinal(v1::ExecutionState state) {
  return state == v1::EXECUTION_STATE_SUCCEEDED ||
         state == v1::EXECUTION_STATE_FAILED ||
         state == v1::EXECUTION_STATE_CANCELLED ||
         state == v1::EXECUTION_STATE_EXPIRED;
}

absl::StatusOr<RemoteExecution> RemoteExecution::Start(
    Client& client, const v1::ExecuteRequest& request,
    const CallOptions& call) {
  const auto execution = client.StartExecution(request, call);
  if (!execution.ok()) return execution.status();
  return RemoteExecution(client, execution->execution_id());
}

absl::StatusOr<RemoteExecution> RemoteExecution::Start(
    Client& client, const GraphSource& graph, v1::ExecuteRequest request,
    const CallOptions& call) {
  const auto execution = client.StartExecution(graph, std::move(request), call);
  if (!execution.ok()) return execution.status();
  return RemoteExecution(client, execution->execution_id());
}

absl::StatusOr<v1::WaitExecutionResponse> RemoteExecution::Wait(
    absl::Duration timeout) const {
  const absl::Time deadline = absl::Now() + timeout;
  const v1::WaitExecutionRequest request = WaitFor(id_);
  do {
    const absl::Duration rest = std::min(kOneWait, deadline - absl::Now());
    auto response = client_->WaitExecution(
        request, {.timeout = std::max(rest, absl::Milliseconds(1))});
    if (GoesOn(response)) continue;
    if (!response.ok()) return response.status();
    return EndOf(*std::move(response));
  } while (absl::Now() < deadline);
  return absl::DeadlineExceededError(
      absl::StrCat("execution ", id_, " goes on after ",
                   absl::FormatDuration(timeout), " of waiting"));
}

void RemoteExecution::OnEnd(Client::WaitCallback done) const {
  WaitOn(*client_, id_, std::move(done));
}

absl::StatusOr<v1::Execution> RemoteExecution::Get() const {
  return client_->GetExecution(id_);
}

absl::StatusOr<v1::Execution> RemoteExecution::Cancel() const {
  return client_->CancelExecution(id_);
}

}  // namespace tensord
