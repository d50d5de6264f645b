#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "clients/cpp/client.h"
#include "clients/cpp/connection.h"
#include "google/rpc/error_details.pb.h"

namespace tensord {
namespace {

// Not a session or a tensor that is gone: those nobody can send again.
bool IsGraphMissing(const absl::Status& status) {
  if (!absl::IsNotFound(status)) return false;
  const auto resource = ErrorDetail<google::rpc::ResourceInfo>(status);
  return resource && resource->resource_type() == "graph";
}

Repeat RepeatOf(const v1::ExecuteRequest& request) {
  return IsSafeToRepeat(request) ? Repeat::kAlways : Repeat::kIfRefused;
}

// What is left of a call's time for its next part.
CallOptions Until(absl::Time deadline, const CallOptions& call) {
  CallOptions rest = call;
  // Zero would be the client's own timeout.
  rest.timeout = std::max(deadline - absl::Now(), absl::Nanoseconds(1));
  return rest;
}

// `run(request, call)`, and once more when the daemon did not hold the graph
// and has it now.
template <typename Run>
auto RunWithGraph(Client& client, const GraphSource& graph,
                  v1::ExecuteRequest& request, absl::Time deadline,
                  const CallOptions& call, const Run& run)
    -> decltype(run(request, call)) {
  request.set_graph_id(graph.graph_id());
  auto result = run(request, Until(deadline, call));
  if (!IsGraphMissing(StatusOf(result))) return result;
  const auto submitted = client.SubmitGraph(
      graph.format(), graph.bytes(), graph.compile(), Until(deadline, call));
  if (!submitted.ok()) return submitted.status();
  request.set_graph_id(submitted->graph_id());
  return run(request, Until(deadline, call));
}

// One unary call that calls back. It owns itself until then.
template <typename Request, typename Response>
struct AsyncUnary {
  grpc::ClientContext context;
  std::shared_ptr<const Request> request;
  Response response;
  absl::AnyInvocable<void(absl::StatusOr<Response>) &&> done;

  // `start` is the method of the stub's asynchronous side.
  template <typename Start>
  static void Begin(AsyncCalls& calls, absl::Time deadline,
                    std::unique_ptr<AsyncUnary> call, const Start& start) {
    SetDeadline(call->context, deadline);
    calls.Add(call->context);
    AsyncUnary* const self = call.release();
    start(&self->context, self->request.get(), &self->response,
          [self, &calls](const grpc::Status& status) {
            const std::unique_ptr<AsyncUnary> owned(self);
            if (status.ok()) {
              std::move(self->done)(std::move(self->response));
            } else {
              std::move(self->done)(StatusFromGrpc(status));
            }
            self->done = nullptr;  // before the client may be gone
            calls.Remove(self->context);
          });
  }
};

}  // namespace

bool IsSafeToRepeat(const v1::ExecuteRequest& request) {
  if (!request.options().request_id().empty() &&
      !request.options().session_id().empty()) {
    return true;
  }
  for (const v1::ExecuteInput& input : request.inputs()) {
    if (input.donate()) return false;
  }
  for (const v1::RequestedOutput& output : request.outputs()) {
    if (output.keep_on_device()) return false;
  }
  return true;
}

absl::StatusOr<v1::ExecuteResponse> Client::Execute(
    const v1::ExecuteRequest& request, const CallOptions& call) {
  return connection_->Call(*connection_->executions,
                           &v1::ExecutionService::Stub::Execute, request, call,
                           RepeatOf(request));
}

absl::StatusOr<v1::ExecuteResponse> Client::Execute(const GraphSource& graph,
                                                    v1::ExecuteRequest request,
                                                    const CallOptions& call) {
  return RunWithGraph(
      *this, graph, request, connection_->DeadlineOf(call), call,
      [this](const v1::ExecuteRequest& attempt, const CallOptions& rest) {
        return Execute(attempt, rest);
      });
}

void Client::ExecuteAsync(std::shared_ptr<const v1::ExecuteRequest> request,
                          ExecuteCallback done, const CallOptions& call) {
  using Call = AsyncUnary<v1::ExecuteRequest, v1::ExecuteResponse>;
  auto state = std::make_unique<Call>();
  state->request = std::move(request);
  state->done = std::move(done);
  Call::Begin(
      connection_->async_calls, connection_->DeadlineOf(call), std::move(state),
      [this](auto... arguments) {
        connection_->executions->async()->Execute(std::move(arguments)...);
      });
}

// A run that is begun twice is one that nobody waits for, so that only the
// daemon's knowledge of its request_id makes a second attempt safe.
absl::StatusOr<v1::Execution> Client::StartExecution(
    const v1::ExecuteRequest& request, const CallOptions& call) {
  const bool is_known = !request.options().request_id().empty() &&
                        !request.options().session_id().empty();
  return connection_->Call(
      *connection_->executions, &v1::ExecutionService::Stub::StartExecution,
      request, call, is_known ? Repeat::kAlways : Repeat::kIfRefused);
}

absl::StatusOr<v1::Execution> Client::StartExecution(const GraphSource& graph,
                                                     v1::ExecuteRequest request,
                                                     const CallOptions& call) {
  return RunWithGraph(
      *this, graph, request, connection_->DeadlineOf(call), call,
      [this](const v1::ExecuteRequest& attempt, const CallOptions& rest) {
        return StartExecution(attempt, rest);
      });
}

absl::StatusOr<v1::WaitExecutionResponse> Client::WaitExecution(
    const v1::WaitExecutionRequest& request, const CallOptions& call) {
  return connection_->Call(*connection_->executions,
                           &v1::ExecutionService::Stub::WaitExecution, request,
                           call);
}

void Client::WaitExecutionAsync(const v1::WaitExecutionRequest& request,
                                WaitCallback done, const CallOptions& call) {
  using Call = AsyncUnary<v1::WaitExecutionRequest, v1::WaitExecutionResponse>;
  auto state = std::make_unique<Call>();
  state->request = std::make_shared<v1::WaitExecutionRequest>(request);
  state->done = std::move(done);
  Call::Begin(connection_->async_calls, connection_->DeadlineOf(call),
              std::move(state), [this](auto... arguments) {
                connection_->executions->async()->WaitExecution(
                    std::move(arguments)...);
              });
}

absl::StatusOr<v1::Execution> Client::GetExecution(
    absl::string_view execution_id, const CallOptions& call) {
  v1::GetExecutionRequest request;
  request.set_execution_id(std::string(execution_id));
  return connection_->Call(*connection_->executions,
                           &v1::ExecutionService::Stub::GetExecution, request,
                           call);
}

absl::StatusOr<v1::Execution> Client::CancelExecution(
    absl::string_view execution_id, const CallOptions& call) {
  v1::CancelExecutionRequest request;
  request.set_execution_id(std::string(execution_id));
  return connection_->Call(*connection_->executions,
                           &v1::ExecutionService::Stub::CancelExecution,
                           request, call);
}

absl::StatusOr<std::vector<v1::Execution>> Client::ListExecutions(
    v1::ListExecutionsRequest request, const CallOptions& call) {
  return connection_->Pages(
      *connection_->executions, &v1::ExecutionService::Stub::ListExecutions,
      std::move(request), &v1::ListExecutionsResponse::mutable_executions,
      call);
}

}  // namespace tensord
