#include "server/rpc/execution_service.h"

#include "server/rpc/execute_call.h"
#include "tensord/v1/execution_service.pb.h"

namespace tensord {

std::unique_ptr<RawService> MakeExecutionService(
    const ServiceEnvironment& environment, GraphFactsTable& facts) {
  auto service = std::make_unique<RawService>(
      environment, *v1::ExecuteRequest::descriptor()->file()->service(0));
  service->SetUnary("Execute",
                    MakeExecuteHandler(service->record("Execute"), facts));
  return service;
}

}  // namespace tensord
