#ifndef TENSORD_TOOLS_TENSORDCTL_GRAPH_TEXT_H_
#define TENSORD_TOOLS_TENSORDCTL_GRAPH_TEXT_H_

#include "tensord/v1/graph_service.pb.h"
#include "tools/tensordctl/console.h"

namespace tensord::ctl {

// What is known of one graph, a line for each fact.
void PrintGraph(const Console& console, const v1::GraphInfo& graph);

}  // namespace tensord::ctl

#endif  // TENSORD_TOOLS_TENSORDCTL_GRAPH_TEXT_H_
