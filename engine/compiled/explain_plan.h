#ifndef TENSORD_ENGINE_COMPILED_EXPLAIN_PLAN_H_
#define TENSORD_ENGINE_COMPILED_EXPLAIN_PLAN_H_

#include <vector>

#include "absl/types/span.h"
#include "backends/api/backend.h"
#include "engine/compiled/explain.h"
#include "engine/compiled/place_values.h"
#include "engine/compiled/schedule.h"
#include "engine/graph/graph.h"
#include "engine/infer/infer.h"

namespace tensord {

// A finished plan, as the rows of an Explanation show it. Borrows everything.
struct PlanToExplain {
  const Graph& graph;
  const Inference& inference;
  const Schedule& schedule;
  const SidePlan& sides;
  const Placement& placement;
  absl::Span<const Launch> launches;
  const DeviceInfo& device;
  const DeviceInfo* host = nullptr;  // of launches that run there
};

// Pure.
std::vector<ExplainedNode> ExplainNodes(const PlanToExplain& plan);
std::vector<ExplainedTransfer> ExplainTransfers(const PlanToExplain& plan);

// The nodes of a graph that is planned while it runs: kernels are chosen then.
Explanation ExplainFlow(const Graph& graph, const DeviceInfo& device);

}  // namespace tensord

#endif  // TENSORD_ENGINE_COMPILED_EXPLAIN_PLAN_H_
