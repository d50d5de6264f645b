#include "tests/support/fake_daemon/fake_executions.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace tensord::testing {

void FakeExecutions::Record(const v1::ExecuteRequest& request) {
  absl::MutexLock lock(&mu_);
  requests_.push_back(request);
}

grpc::Status FakeExecutions::Execute(grpc::ServerContext* context,
                                     const v1::ExecuteRequest* request,
                                     v1::ExecuteResponse* response) {
  const grpc::Status status = begin_(*context);
  if (!status.ok()) return status;
  Record(*request);
  return run_(*request, *response);
}

void FakeExecutions::End(Handle& handle) {
  const grpc::Status status = run_(handle.request, handle.response);
  handle.execution.set_state(status.ok() ? v1::EXECUTION_STATE_SUCCEEDED
                                         : v1::EXECUTION_STATE_FAILED);
  if (status.ok()) return;
  handle.execution.mutable_error()->set_code(status.error_code());
  handle.execution.mutable_error()->set_message(status.error_message());
}

grpc::Status FakeExecutions::StartExecution(grpc::ServerContext* context,
                                            const v1::ExecuteRequest* request,
                                            v1::Execution* response) {
  const grpc::Status status = begin_(*context);
  if (!status.ok()) return status;
  Record(*request);
  absl::MutexLock lock(&mu_);
  const std::string id = absl::StrCat("fake.run", handles_.size() + 1);
  Handle& handle = handles_[id];
  handle.request = *request;
  handle.execution.set_execution_id(id);
  handle.execution.set_graph_id(request->graph_id());
  handle.execution.set_session_id(request->options().session_id());
  handle.execution.set_device("cpu:0");
  handle.execution.set_state(v1::EXECUTION_STATE_RUNNING);
  if (!waits_for_finish) End(handle);
  if (handle.execution.error().code() == grpc::StatusCode::NOT_FOUND) {
    // The daemon looks for the graph before it queues the run.
    const std::string graph_id = request->graph_id();
    handles_.erase(id);
    return FakeNotFound("graph", graph_id);
  }
  *response = handle.execution;
  return grpc::Status::OK;
}

grpc::Status FakeExecutions::WaitExecution(
    grpc::ServerContext* context, const v1::WaitExecutionRequest* request,
    v1::WaitExecutionResponse* response) {
  const grpc::Status status = begin_(*context);
  if (!status.ok()) return status;
  absl::MutexLock lock(&mu_);
  const auto found = handles_.find(request->execution_id());
  if (found == handles_.end()) {
    return FakeNotFound("execution", request->execution_id());
  }
  Handle& handle = found->second;
  ++waiter_count_;
  const absl::Time end = request->has_timeout()
                             ? absl::Now() +
                                   absl::Seconds(request->timeout().seconds()) +
                                   absl::Nanoseconds(request->timeout().nanos())
                             : absl::InfiniteFuture();
  const auto has_ended = [&] {
    return handle.execution.state() != v1::EXECUTION_STATE_RUNNING;
  };
  // A synchronous handler learns only by asking that its call has ended.
  while (!has_ended() && absl::Now() < end && !context->IsCancelled()) {
    mu_.AwaitWithTimeout(absl::Condition(&has_ended), absl::Milliseconds(5));
  }
  --waiter_count_;
  *response->mutable_execution() = handle.execution;
  *response->mutable_trace() = handle.response.trace();
  if (!request->omit_outputs()) {
    *response->mutable_outputs() = handle.response.outputs();
  }
  return grpc::Status::OK;
}

grpc::Status FakeExecutions::GetExecution(
    grpc::ServerContext* context, const v1::GetExecutionRequest* request,
    v1::Execution* response) {
  const grpc::Status status = begin_(*context);
  if (!status.ok()) return status;
  absl::MutexLock lock(&mu_);
  const auto found = handles_.find(request->execution_id());
  if (found == handles_.end()) {
    return FakeNotFound("execution", request->execution_id());
  }
  *response = found->second.execution;
  return grpc::Status::OK;
}

grpc::Status FakeExecutions::CancelExecution(
    grpc::ServerContext* context, const v1::CancelExecutionRequest* request,
    v1::Execution* response) {
  const grpc::Status status = begin_(*context);
  if (!status.ok()) return status;
  absl::MutexLock lock(&mu_);
  const auto found = handles_.find(request->execution_id());
  if (found == handles_.end()) {
    return FakeNotFound("execution", request->execution_id());
  }
  v1::Execution& execution = found->second.execution;
  if (execution.state() == v1::EXECUTION_STATE_RUNNING) {
    execution.set_state(v1::EXECUTION_STATE_CANCELLED);
    execution.mutable_error()->set_code(grpc::StatusCode::CANCELLED);
    execution.mutable_error()->set_message("cancelled by the client");
  }
  *response = execution;
  return grpc::Status::OK;
}

grpc::Status FakeExecutions::ListExecutions(
    grpc::ServerContext* context, const v1::ListExecutionsRequest* request,
    v1::ListExecutionsResponse* response) {
  const grpc::Status status = begin_(*context);
  if (!status.ok()) return status;
  absl::MutexLock lock(&mu_);
  size_t skip = 0;
  if (!request->page_token().empty() &&
      !absl::SimpleAtoi(request->page_token(), &skip)) {
    return {grpc::StatusCode::INVALID_ARGUMENT, "no page token of this call"};
  }
  auto it = std::next(handles_.begin(),
                      static_cast<int64_t>(std::min(skip, handles_.size())));
  for (; it != handles_.end(); ++it, ++skip) {
    const v1::Execution& execution = it->second.execution;
    const bool is_wanted =
        request->states().empty() ||
        std::find(request->states().begin(), request->states().end(),
                  execution.state()) != request->states().end();
    if (!is_wanted) continue;
    if (response->executions_size() == page_size_) {
      response->set_next_page_token(absl::StrCat(skip));
      break;
    }
    *response->add_executions() = execution;
  }
  return grpc::Status::OK;
}

grpc::Status FakeExecutions::ExecuteStream(
    grpc::ServerContext* context,
    grpc::ServerReaderWriter<v1::ExecuteStreamResponse,
                             v1::ExecuteStreamRequest>* stream) {
  const grpc::Status status = begin_(*context);
  if (!status.ok()) return status;
  std::vector<v1::ExecuteStreamRequest> group;
  const auto answer_group = [&] {
    for (auto it = group.rbegin(); it != group.rend(); ++it) {
      v1::ExecuteStreamResponse response;
      response.set_correlation_id(it->correlation_id());
      const grpc::Status run =
          run_(it->request(), *response.mutable_response());
      if (!run.ok()) {
        response.mutable_error()->set_code(run.error_code());
        response.mutable_error()->set_message(run.error_message());
      }
      stream->Write(response);
    }
    group.clear();
  };
  v1::ExecuteStreamRequest request;
  int count = 0;
  while (stream->Read(&request)) {
    Record(request.request());
    if (++count == break_stream_after) {
      return {grpc::StatusCode::UNAVAILABLE, "the daemon shuts down"};
    }
    group.push_back(request);
    if (static_cast<int>(group.size()) == stream_group) answer_group();
  }
  answer_group();
  return grpc::Status::OK;
}

void FakeExecutions::Finish() {
  absl::MutexLock lock(&mu_);
  for (auto& [id, handle] : handles_) {
    if (handle.execution.state() == v1::EXECUTION_STATE_RUNNING) End(handle);
  }
}

std::vector<v1::ExecuteRequest> FakeExecutions::requests() const {
  absl::MutexLock lock(&mu_);
  return requests_;
}

void FakeExecutions::AwaitWaiters(int count) const {
  absl::MutexLock lock(&mu_);
  const auto have_come = [this, count] {
    mu_.AssertHeld();
    return waiter_count_ >= count;
  };
  mu_.Await(absl::Condition(&have_come));
}

}  // namespace tensord::testing
