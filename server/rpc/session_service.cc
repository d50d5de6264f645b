#include "server/rpc/session_service.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/time/clock.h"
#include "engine/graph/status_macros.h"
#include "server/rpc/session_of.h"
#include "server/rpc/time_messages.h"
#include "server/rpc/unary_call.h"
#include "tensord/v1/session_service.pb.h"

namespace tensord {
namespace {

using Create = UnaryCall<v1::CreateSessionRequest, v1::Session>;
using KeepAlive = UnaryCall<v1::KeepAliveRequest, v1::Session>;
using Close = UnaryCall<v1::CloseSessionRequest, v1::CloseSessionResponse>;

void FillSession(const Session& session, const TensorTable& tensors,
                 v1::Session& message) {
  const Session::Description& description = session.description();
  message.set_session_id(description.id);
  message.set_display_name(description.display_name);
  FillTime(description.create_time, *message.mutable_create_time());
  // With a run open it would end never; that is told as if the run ended now.
  absl::Time expires = session.expire_time();
  if (expires == absl::InfiniteFuture()) {
    expires = absl::Now() + description.time_to_live;
  }
  FillTime(expires, *message.mutable_expire_time());
  FillDuration(description.time_to_live, *message.mutable_time_to_live());
  message.set_tensor_count(tensors.OwnedBy(session).count);
  message.set_resident_bytes(static_cast<int64_t>(session.resident_bytes()));
  message.set_open_execution_count(session.open_execution_count());
}

absl::Status CreateSession(Holdings& holdings, Create& call) {
  TENSORD_RETURN_IF_ERROR(holdings.CheckAdmitting());
  const v1::CreateSessionRequest& request = call.request();
  std::optional<absl::Duration> time_to_live;
  if (request.has_time_to_live()) {
    TENSORD_ASSIGN_OR_RETURN(
        time_to_live, ReadDuration("time_to_live", request.time_to_live()));
  }
  TENSORD_ASSIGN_OR_RETURN(
      const std::shared_ptr<Session> session,
      holdings.sessions.Create(call.principal(), request.display_name(),
                               time_to_live, absl::Now()));
  FillSession(*session, holdings.tensors, call.response());
  return absl::OkStatus();
}

// Answers when the last run of the session has left its lane.
void CloseSession(const ServiceEnvironment& environment, Close& call) {
  const v1::CloseSessionRequest& request = call.request();
  absl::Status status = CheckResourceId("session", request.session_id(),
                                        environment.config.advertised_name);
  if (!status.ok()) return call.End(std::move(status));
  absl::StatusOr<std::shared_ptr<Session>> session =
      environment.holdings.sessions.Take(request.session_id(), call.principal(),
                                         absl::Now());
  if (!session.ok()) {
    const bool is_fine =
        absl::IsNotFound(session.status()) && request.allow_missing();
    return call.End(is_fine ? absl::OkStatus() : session.status());
  }
  const Holdings::Ended ended = environment.holdings.End(**session);
  v1::CloseSessionResponse& response = call.response();
  response.set_freed_tensor_count(ended.tensors.count);
  response.set_freed_bytes(static_cast<int64_t>(ended.tensors.bytes));
  response.set_cancelled_execution_count(ended.cancelled_executions);
  (*session)->WhenIdle([&call] { call.End(absl::OkStatus()); });
}

}  // namespace

std::unique_ptr<RawService> MakeSessionService(
    const ServiceEnvironment& environment) {
  auto service = std::make_unique<RawService>(
      environment, *v1::Session::descriptor()->file()->service(0));
  service->SetUnary(
      "CreateSession",
      Create::Bind(service->record("CreateSession"),
                   [&environment](Create& call) {
                     call.End(CreateSession(environment.holdings, call));
                   }));
  service->SetUnary(
      "KeepAlive",
      KeepAlive::BindDirect(
          service->record("KeepAlive"),
          [&environment](KeepAlive& call, const v1::KeepAliveRequest& request,
                         v1::Session& message) -> absl::Status {
            TENSORD_RETURN_IF_ERROR(
                CheckResourceId("session", request.session_id(),
                                environment.config.advertised_name));
            TENSORD_ASSIGN_OR_RETURN(
                const std::shared_ptr<Session> session,
                environment.holdings.sessions.Find(
                    request.session_id(), call.principal(), absl::Now()));
            FillSession(*session, environment.holdings.tensors, message);
            return absl::OkStatus();
          }));
  service->SetUnary(
      "CloseSession",
      Close::Bind(service->record("CloseSession"), [&environment](Close& call) {
        CloseSession(environment, call);
      }));
  return service;
}

}  // namespace tensord
