#include <string>

#include "clients/cpp/client.h"
#include "clients/cpp/connection.h"

namespace tensord {

absl::StatusOr<v1::Session> Client::CreateSession(
    const v1::CreateSessionRequest& request, const CallOptions& call) {
  return connection_->Call(*connection_->sessions,
                           &v1::SessionService::Stub::CreateSession, request,
                           call);
}

absl::StatusOr<v1::Session> Client::KeepAlive(absl::string_view session_id,
                                              const CallOptions& call) {
  v1::KeepAliveRequest request;
  request.set_session_id(std::string(session_id));
  return connection_->Call(*connection_->sessions,
                           &v1::SessionService::Stub::KeepAlive, request, call);
}

absl::StatusOr<v1::CloseSessionResponse> Client::CloseSession(
    absl::string_view session_id, const CallOptions& call) {
  v1::CloseSessionRequest request;
  request.set_session_id(std::string(session_id));
  return connection_->Call(*connection_->sessions,
                           &v1::SessionService::Stub::CloseSession, request,
                           call);
}

}  // namespace tensord
