#ifndef TENSORD_SERVER_RPC_GRAPH_SERVICE_H_
#define TENSORD_SERVER_RPC_GRAPH_SERVICE_H_

#include <memory>

#include "server/rpc/graph_submitter.h"
#include "server/rpc/raw_service.h"

namespace tensord {

// tensord.v1.GraphService. Graphs are decoded and compiled on the engine's own
// threads; what runs here is what a list or a hash takes.
// Ownership: borrows the submitter.
std::unique_ptr<RawService> MakeGraphService(
    const ServiceEnvironment& environment, GraphSubmitter& submitter);

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_GRAPH_SERVICE_H_
