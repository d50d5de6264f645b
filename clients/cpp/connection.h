#ifndef TENSORD_CLIENTS_CPP_CONNECTION_H_
#define TENSORD_CLIENTS_CPP_CONNECTION_H_

#include <grpcpp/client_context.h>

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "clients/cpp/async_calls.h"
#include "clients/cpp/client.h"
#include "clients/cpp/error_details.h"
#include "clients/cpp/retry.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "tensord/v1/device_service.grpc.pb.h"
#include "tensord/v1/execution_service.grpc.pb.h"
#include "tensord/v1/graph_service.grpc.pb.h"
#include "tensord/v1/profile_service.grpc.pb.h"
#include "tensord/v1/session_service.grpc.pb.h"
#include "tensord/v1/tensor_service.grpc.pb.h"

namespace tensord {

inline void SetDeadline(grpc::ClientContext& context, absl::Time deadline) {
  if (deadline == absl::InfiniteFuture()) return;
  context.set_deadline(absl::ToChronoTime(deadline));
}

// One attempt of a unary call: Unary(stub, &Stub::GetGraph, request, deadline).
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

// What a Client keeps behind its pointer, so that its users compile without
// gRPC's headers.
struct Client::Connection {
  ClientOptions options;
  std::unique_ptr<v1::GraphService::Stub> graphs;
  std::unique_ptr<v1::ExecutionService::Stub> executions;
  std::unique_ptr<v1::SessionService::Stub> sessions;
  std::unique_ptr<v1::TensorService::Stub> tensors;
  std::unique_ptr<v1::DeviceService::Stub> devices;
  std::unique_ptr<v1::ProfileService::Stub> profile;
  std::unique_ptr<grpc::health::v1::Health::Stub> health;
  AsyncCalls async_calls;  // gone first: what is open needs the stubs

  absl::Time DeadlineOf(const CallOptions& call) const {
    const bool is_default = call.timeout == absl::ZeroDuration();
    return absl::Now() + (is_default ? options.timeout : call.timeout);
  }

  RetryOptions RetryOf(const CallOptions& call) const {
    RetryOptions retry = options.retry;
    if (call.max_attempts > 0) retry.max_attempts = call.max_attempts;
    return retry;
  }

  // A unary call with its retries.
  template <typename Stub, typename Request, typename Response>
  absl::StatusOr<Response> Call(
      Stub& stub,
      grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                   Response*),
      const Request& request, const CallOptions& call,
      Repeat repeat = Repeat::kAlways) const {
    const absl::Time deadline = DeadlineOf(call);
    return WithRetries(RetryOf(call), repeat, deadline,
                       [&] { return Unary(stub, method, request, deadline); });
  }

  // The rows of all pages: Pages(stub, &Stub::ListGraphs, request,
  // &ListGraphsResponse::mutable_graphs, call).
  template <typename Stub, typename Request, typename Response, typename Row>
  absl::StatusOr<std::vector<Row>> Pages(
      Stub& stub,
      grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                   Response*),
      Request request,
      google::protobuf::RepeatedPtrField<Row>* (Response::*rows_of)(),
      const CallOptions& call) const {
    const absl::Time deadline = DeadlineOf(call);
    std::vector<Row> rows;
    do {
      auto page = WithRetries(RetryOf(call), Repeat::kAlways, deadline, [&] {
        return Unary(stub, method, request, deadline);
      });
      if (!page.ok()) return page.status();
      for (Row& row : *((*page).*rows_of)()) rows.push_back(std::move(row));
      request.set_page_token(page->next_page_token());
    } while (!request.page_token().empty());
    return rows;
  }
};

}  // namespace tensord

#endif  // TENSORD_CLIENTS_CPP_CONNECTION_H_
