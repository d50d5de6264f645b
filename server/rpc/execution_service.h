#ifndef TENSORD_SERVER_RPC_EXECUTION_SERVICE_H_
#define TENSORD_SERVER_RPC_EXECUTION_SERVICE_H_

#include <memory>

#include "server/rpc/graph_facts.h"
#include "server/rpc/raw_service.h"

namespace tensord {

// tensord.v1.ExecutionService: Execute; runs by handle and on streams are not
// in this version. Ownership: borrows `facts`.
std::unique_ptr<RawService> MakeExecutionService(
    const ServiceEnvironment& environment, GraphFactsTable& facts);

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_EXECUTION_SERVICE_H_
