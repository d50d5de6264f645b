#ifndef TENSORD_SERVER_RPC_SESSION_OF_H_
#define TENSORD_SERVER_RPC_SESSION_OF_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "server/rpc/principal.h"
#include "server/rpc/service_environment.h"
#include "server/sessions/resource_id.h"

namespace tensord {

// The session that a call names, or else that of its connection. Counts as use.
// A connection is known by the address of its other end, so that calls over one
// unix socket share a session.
//
// Threading: thread-safe.
// Errors: kInvalidArgument, kFailedPrecondition (WRONG_INSTANCE), kNotFound;
//   kResourceExhausted, max_sessions, for a connection that has none yet.
inline absl::StatusOr<std::shared_ptr<Session>> SessionOf(
    const ServiceEnvironment& environment, absl::string_view session_id,
    const grpc::CallbackServerContext& context) {
  SessionTable& sessions = environment.holdings.sessions;
  const absl::string_view principal = PrincipalOf(context);
  if (session_id.empty()) {
    return sessions.OfConnection(principal, context.peer(), absl::Now());
  }
  absl::Status status = CheckResourceId("session", session_id,
                                        environment.config.advertised_name);
  if (!status.ok()) return status;
  return sessions.Find(session_id, principal, absl::Now());
}

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_SESSION_OF_H_
