#ifndef TENSORD_SERVER_RPC_GRAPH_MESSAGES_H_
#define TENSORD_SERVER_RPC_GRAPH_MESSAGES_H_

#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>

#include "absl/time/time.h"
#include "engine/cache/loaded_graph.h"
#include "engine/compiled/explain.h"
#include "server/rpc/graph_facts.h"
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

void FillTime(absl::Time time, google::protobuf::Timestamp& message);
void FillDuration(absl::Duration duration, google::protobuf::Duration& message);

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_GRAPH_MESSAGES_H_
