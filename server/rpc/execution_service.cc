#include "server/rpc/execution_service.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "engine/graph/status_macros.h"
#include "server/errors/error_details.h"
#include "server/rpc/execute_call.h"
#include "server/rpc/execution_messages.h"
#include "server/rpc/make_holdings.h"
#include "server/rpc/page_token.h"
#include "server/rpc/start_call.h"
#include "server/rpc/unary_call.h"
#include "server/rpc/wait_call.h"
#include "server/sessions/resource_id.h"
#include "tensord/v1/execution_service.pb.h"

namespace tensord {
namespace {

// As execution_service.proto says.
constexpr int kPageSize = 50;
constexpr int kMaxPageSize = 1000;

using Get = UnaryCall<v1::GetExecutionRequest, v1::Execution>;
using Cancel = UnaryCall<v1::CancelExecutionRequest, v1::Execution>;
using List = UnaryCall<v1::ListExecutionsRequest, v1::ListExecutionsResponse>;

absl::StatusOr<ExecutionTable::Pointer> FindRun(
    const ServiceEnvironment& environment, const std::string& id,
    absl::string_view principal) {
  TENSORD_RETURN_IF_ERROR(
      CheckResourceId("execution", id, environment.config.advertised_name));
  TENSORD_ASSIGN_OR_RETURN(ExecutionTable::Pointer run,
                           environment.holdings.executions.Find(id, principal));
  run->session()->Touch(absl::Now());
  return run;
}

absl::Status GetExecution(const ServiceEnvironment& environment, Get& call) {
  TENSORD_ASSIGN_OR_RETURN(
      const ExecutionTable::Pointer run,
      FindRun(environment, call.request().execution_id(), call.principal()));
  FillExecution(*run, call.response());
  return absl::OkStatus();
}

absl::Status CancelExecution(const ServiceEnvironment& environment,
                             Cancel& call) {
  TENSORD_ASSIGN_OR_RETURN(
      const ExecutionTable::Pointer run,
      FindRun(environment, call.request().execution_id(), call.principal()));
  CancelRun(environment.engine, *run);
  FillExecution(*run, call.response());
  return absl::OkStatus();
}

// What two pages of one list have in common.
std::string ScopeOf(const v1::ListExecutionsRequest& request) {
  std::string scope = absl::StrCat("ListExecutions\n", request.session_id(),
                                   "\n", request.graph_id());
  for (const int state : request.states()) absl::StrAppend(&scope, "\n", state);
  return scope;
}

absl::Status ListExecutions(const ServiceEnvironment& environment, List& call) {
  const v1::ListExecutionsRequest& request = call.request();
  TENSORD_ASSIGN_OR_RETURN(
      const int page_size,
      PageSize(request.page_size(), kPageSize, kMaxPageSize));
  const std::string scope = ScopeOf(request);
  TENSORD_ASSIGN_OR_RETURN(const int64_t before,
                           ReadBackwardsToken(scope, request.page_token()));
  const auto wanted = [&](const ExecutionRecord& run) {
    if (!request.session_id().empty() &&
        run.session()->id() != request.session_id()) {
      return false;
    }
    if (!request.graph_id().empty() &&
        run.description().graph_id != request.graph_id()) {
      return false;
    }
    return request.states().empty() ||
           std::count(request.states().begin(), request.states().end(),
                      ToMessage(run.Look().state)) > 0;
  };
  const auto page = environment.holdings.executions.List(
      call.principal(), before, page_size + 1, wanted);
  for (size_t i = 0; i < page.size(); ++i) {
    if (static_cast<int>(i) == page_size) {
      call.response().set_next_page_token(
          MakePageToken(scope, absl::StrCat(page[i - 1].first)));
      break;
    }
    FillExecution(*page[i].second, *call.response().add_executions());
  }
  return absl::OkStatus();
}

}  // namespace

std::unique_ptr<RawService> MakeExecutionService(
    const ServiceEnvironment& environment, GraphFactsTable& facts,
    RecordedRuns& runs, OpenStreams& streams) {
  auto service = std::make_unique<RawService>(
      environment, *v1::ExecuteRequest::descriptor()->file()->service(0));
  service->SetUnary(
      "Execute", MakeExecuteHandler(service->record("Execute"), facts, runs));
  service->SetUnary(
      "StartExecution",
      MakeStartHandler(service->record("StartExecution"), facts, runs));
  service->SetUnary("WaitExecution",
                    MakeWaitHandler(service->record("WaitExecution")));
  service->SetBidiStream("ExecuteStream",
                         MakeStreamHandler(service->record("ExecuteStream"),
                                           facts, runs, streams));
  SetDirect<Get>(*service, environment, "GetExecution", GetExecution);
  SetDirect<Cancel>(*service, environment, "CancelExecution", CancelExecution);
  SetDirect<List>(*service, environment, "ListExecutions", ListExecutions);
  return service;
}

}  // namespace tensord
