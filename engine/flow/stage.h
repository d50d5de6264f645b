#ifndef TENSORD_ENGINE_FLOW_STAGE_H_
#define TENSORD_ENGINE_FLOW_STAGE_H_

#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/flow/flow_value.h"
#include "engine/graph/graph.h"
#include "engine/graph/limits.h"
#include "engine/infer/host_evaluator.h"

namespace tensord {

// A stretch of a graph with control flow that can be planned as a graph of its
// own: every shape in it follows from what is there when it starts.
//
// Threading and ownership: a plain value; shares the graph.
struct Stage {
  // Under the flow graph's value ids. Null when no plain node is ready.
  std::shared_ptr<const Graph> graph;
  std::vector<NodeId> nodes;  // of the flow graph, done by this stage

  // Values whose contents, and not only their shapes, decided the stage. They
  // are constants of its graph.
  std::vector<ValueId> consulted;
};

// The nodes that `nodes` of a graph still have to be done for its outputs: by
// node, false for what is done or dead.
std::vector<bool> PendingNodes(const Graph& graph,
                               const std::vector<bool>& is_done);

// Where a run of a flow graph stands. Borrows everything.
struct StageQuery {
  const Graph& graph;
  const std::vector<bool>& is_pending;  // by node
  absl::Span<const FlowValue> values;   // by ValueId; absent ones are not there
  const GraphLimits& limits;
  HostEvaluator* evaluator = nullptr;
  bool inlines_branches = true;
};

// The largest stage that can start now: pending plain nodes whose shapes follow
// from the values that are there, and Ifs whose conditions are there or follow
// from the shapes, when all of the chosen branch fits into the stage too.
// Values are read one after the other, each after another inference, so `go_on`
// is asked in between whether there is time.
// Errors: inference's, and those of `go_on`.
absl::StatusOr<Stage> FindStage(const StageQuery& query,
                                absl::FunctionRef<absl::Status()> go_on);

}  // namespace tensord

#endif  // TENSORD_ENGINE_FLOW_STAGE_H_
