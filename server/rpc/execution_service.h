#ifndef TENSORD_SERVER_RPC_EXECUTION_SERVICE_H_
#define TENSORD_SERVER_RPC_EXECUTION_SERVICE_H_

#include <memory>

#include "server/rpc/execute_stream.h"
#include "server/rpc/graph_facts.h"
#include "server/rpc/raw_service.h"
#include "server/rpc/recorded_runs.h"

namespace tensord {

// tensord.v1.ExecutionService. Ownership: borrows all, which outlives it.
std::unique_ptr<RawService> MakeExecutionService(
    const ServiceEnvironment& environment, GraphFactsTable& facts,
    RecordedRuns& runs, OpenStreams& streams);

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_EXECUTION_SERVICE_H_
