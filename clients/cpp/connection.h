#ifndef TENSORD_CLIENTS_CPP_CONNECTION_H_
#define TENSORD_CLIENTS_CPP_CONNECTION_H_

#include <grpcpp/client_context.h>

#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "clients/cpp/client.h"
#include "clients/cpp/error_details.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "tensord/v1/device_service.grpc.pb.h"
#include "tensord/v1/execution_service.grpc.pb.h"
#include "tensord/v1/graph_service.grpc.pb.h"
#include "tensord/v1/profile_service.grpc.pb.h"

namespace tensord {

// What a Client keeps behind its pointer, so that its users compile without
// gRPC's headers.
struct Client::Connection {
  ClientOptions options;
  std::unique_ptr<v1::GraphService::Stub> graphs;
  std::unique_ptr<v1::ExecutionService::Stub> executions;
  std::unique_ptr<v1::DeviceService::Stub> devices;
  std::unique_ptr<v1::ProfileService::Stub> profile;
  std::unique_ptr<grpc::health::v1::Health::Stub> health;

  absl::Time DeadlineOf(const CallOptions& call) const {
    const bool is_default = call.timeout == absl::ZeroDuration();
    return absl::Now() + (is_default ? options.timeout : call.timeout);
  }
};

inline void SetDeadline(grpc::ClientContext& context, absl::Time deadline) {
  if (deadline == absl::InfiniteFuture()) return;
  context.set_deadline(absl::ToChronoTime(deadline));
}

// One unary call: Unary(stub, &Stub::GetGraph, request, deadline).
template <typename Stub, typename Request, typename Response>
absl::StatusOr<Response> Unary(
    Stub& stub,
    grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                 Response*),
    const Request& request, absl::Time deadline) {
  grpc::ClientContext context;
  SetDeadline(context, deadline);
  Response response;
  const grpc::Status status = (stub.*method)(&context, request, &response);
  if (!status.ok()) return StatusFromGrpc(status);
  return response;
}

}  // namespace tensord

#endif  // TENSORD_CLIENTS_CPP_CONNECTION_H_
