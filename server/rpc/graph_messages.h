#ifndef TENSORD_SERVER_RPC_GRAPH_MESSAGES_H_
#define TENSORD_SERVER_RPC_GRAPH_MESSAGES_H_

#include "engine/cache/loaded_graph.h"
#include "engine/compiled/explain.h"
#include "server/rpc/graph_facts.h"
#include "server/rpc/time_messages.h"
#include "tensord/v1/graph_service.pb.h"

namespace tensord {

// What the engine knows of graphs, as the API's messages.
// Threading and ownership: pure.

// `facts` may be null: what it tells is then left out.
void FillGraphInfo(const LoadedGraph& graph, const GraphFacts* facts,
                   v1::GraphInfo& info);

// Everything but the nodes.
void FillExplanation(const Explanation& explanation,
                     v1::ExplainGraphResponse& response);
void FillExplainedNode(const ExplainedNode& node, int64_t index,
                       v1::ExplainedNode& message);

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_GRAPH_MESSAGES_H_
