#include "engine/graph/graph_builder.h"

#include <memory>
#include <utility>

#include "engine/graph/constant_memo.h"
#include "engine/graph/graph_assembler.h"
#include "engine/graph/node_error.h"

namespace tensord {

absl::StatusOr<Graph> BuildGraph(GraphDef definition,
                                 const GraphLimits& limits) {
  absl::StatusOr<Graph> graph =
      GraphAssembler(std::move(definition), limits).Build();
  if (!graph.ok()) return AtGraph(graph.status());
  graph->memo = std::make_shared<ConstantMemo>();
  return graph;
}

}  // namespace tensord
