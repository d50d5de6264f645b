#ifndef TENSORD_SERVER_RPC_START_CALL_H_
#define TENSORD_SERVER_RPC_START_CALL_H_

#include "server/rpc/graph_facts.h"
#include "server/rpc/raw_service.h"
#include "server/rpc/recorded_runs.h"

namespace tensord {

// ExecutionService.StartExecution: Execute's request, answered with the run's
// record once it is admitted.
// Ownership: `method`, `facts` and `runs` outlive the handler.
RawService::UnaryHandler MakeStartHandler(const MethodRecord& method,
                                          GraphFactsTable& facts,
                                          RecordedRuns& runs);

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_START_CALL_H_
